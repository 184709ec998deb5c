// How the sound of one shot is made, and which elements record it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/geometry.hpp"
#include "base/units.hpp"

namespace echoform {

/// One element fires, all others are silent.
struct ElementEvent {
  std::uint32_t element = 0;

  constexpr auto operator<=>(const ElementEvent&) const = default;
};

/// A plane wave: element e fires at delay + slowness_x * x_e + slowness_y * y_e + slowness_z * z_e, its place in the probe's
/// frame (probe_frame.hpp). In a flat array all z_e are 0: one firing launches plane waves of every mode, each at the angle
/// whose sine is the slowness times the mode's velocity. Elements of a curved array launch a plane wave at the one velocity
/// 1 / |slowness|. Times of images count from where `delay` is 0.
struct PlaneWaveEvent {
  double slowness_x = 0.0;                ///< sin(a) cos(b) / c in s/m, a from +z towards +x, b towards +y
  double slowness_y = 0.0;                ///< sin(b) / c in s/m
  std::optional<Seconds> delay;           ///< at the probe's origin; none: the earliest element fires at 0
  std::vector<std::uint32_t> elements{};  ///< that fire, none twice; empty: all
  double slowness_z = 0.0;                ///< cos(a) cos(b) / c in s/m, above 0 of a curved array; a flat one needs none: 0

  auto operator<=>(const PlaneWaveEvent&) const = default;
};

/// A wave that diverges from a virtual source behind the elements (z <= 0) or converges at a focus in front of them (z > 0).
/// Element e fires at delay + (|e - v| - |v|) / c for a virtual source v and at delay + (|f| - |e - f|) / c for a focus f, all in
/// the probe's frame.
struct PointWaveEvent {
  Point point;                            ///< in the probe's frame
  MetresPerSecond velocity;               ///< that the delays are made with, > 0
  std::optional<Seconds> delay;           ///< at the probe's origin; none: the earliest element fires at 0
  std::vector<std::uint32_t> elements{};  ///< that fire, none twice; empty: all

  auto operator<=>(const PointWaveEvent&) const = default;
};

/// Elements fire at stated times with stated weights. Weights of both signs are a row of a code.
struct LawEvent {
  std::vector<std::uint32_t> elements;  ///< that fire, at least one, none twice
  std::vector<float> delays{};          ///< in seconds, as many; empty: all fire at 0
  std::vector<float> weights{};         ///< as many, none 0; empty: all 1

  auto operator<=>(const LawEvent&) const = default;
};

/// Elements fire at once, as they are or inverted: a row of a code such as a Hadamard or an S-matrix. The events of a frame are
/// all rows of one code, from which the firings of single elements are decoded.
struct CodeEvent {
  std::vector<std::int8_t> signs;  ///< by element of the probe: 1, -1 or 0 (silent)

  auto operator<=>(const CodeEvent&) const = default;
};

/// Nobody transmits: light makes the sound where it is absorbed, as in optoacoustics. Sample times count from the pulse of light.
struct PassiveEvent {
  Metres wavelength;          ///< of the light, in vacuum; 0 where unknown
  double pulse_energy = 0.0;  ///< of the light, in joules; 0 where unknown

  constexpr auto operator<=>(const PassiveEvent&) const = default;
};

/// How the elements of an event transmit: one alternative a form.
using TransmitForm = std::variant<ElementEvent, PlaneWaveEvent, PointWaveEvent, LawEvent, CodeEvent, PassiveEvent>;

struct TransmitEvent {
  TransmitForm form;
  std::vector<std::uint32_t> receivers;  ///< that record it, in the order of their rows, none twice; empty: all, in order
  std::uint32_t position = 0;            ///< at which the probe stands: place in Acquisition::positions; 0 where that is empty

  auto operator<=>(const TransmitEvent&) const = default;
};

/// Each of `elements` fires alone, in this order, and all elements record it.
[[nodiscard]] std::vector<TransmitEvent> element_events(std::span<const std::uint32_t> elements);

/// A plane wave at `angle` (radians from +z towards +x, between -pi / 2 and pi / 2) in a medium of `velocity`, of all
/// elements.
[[nodiscard]] PlaneWaveEvent plane_wave(double angle, MetresPerSecond velocity);

/// The rows of the Hadamard matrix in Sylvester's order, signs (-1)^popcount(i & j). Throws InputError unless `elements` is a
/// power of two.
[[nodiscard]] std::vector<TransmitEvent> hadamard_events(std::size_t elements);

/// What the events are, by form: "32 plane waves", "1 focused beam, 2 single elements"; "3 events" where they are single
/// elements.
[[nodiscard]] std::string forms_text(std::span<const TransmitEvent> events);

/// Whether the form is a row of a code, whatever the other events are: it is stated as one, or has weights of both signs.
[[nodiscard]] bool is_code(const TransmitForm& form);
/// Whether nobody transmits in any of the events, of which there is at least one.
[[nodiscard]] bool all_passive(std::span<const TransmitEvent> events);
/// Whether the form can be a row of a code together with such rows: its elements fire at once.
[[nodiscard]] bool can_be_code(const TransmitForm& form);

}  // namespace echoform
