// How the simulated source transmits: a few numbers, from which the events of its frames follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/scan_beams.hpp"

namespace echoform {

enum class TransmitKind : std::uint8_t {
  elements,   ///< one after the other
  plane,      ///< plane waves at equally spaced angles
  diverging,  ///< waves from virtual sources behind the elements
  focused,    ///< beams towards foci in front of them
  beams,      ///< of scan lines: each with its origin, its angles and its focus
  hadamard,   ///< rows of a Hadamard matrix over the elements
  laws,       ///< as `delays` and `weights` say
};

/// What waves are made for: the medium in which angles, foci and virtual sources are where they are said to be.
enum class WaveMedium : std::uint8_t {
  couplant,      ///< that the elements stand in
  longitudinal,  ///< the part, for the mode L; below a couplant by Snell's law at a flat surface parallel to the array
  shear,         ///< likewise for T
};

struct TransmitSequence {
  TransmitKind kind = TransmitKind::elements;
  /// Elements that transmit: one after the other, in this order, or all at once; empty: all.
  std::vector<std::size_t> fire;
  std::optional<std::size_t> events;            ///< waves a frame; absent: 16
  std::optional<std::array<double, 2>> angles;  ///< first and last, degrees; absent: -20, 20, in a couplant -10, 10; of beams 0
  /// Distance of foci, or of virtual sources, from the probe's origin along each angle, or, without angles, from places that are
  /// spread over the array. Absent: as long as the array (foci), or half of that (virtual sources). Of beams as ScanBeam::focus.
  std::optional<Metres> focus;
  ScanBeams beams;                      ///< without `angles` and `focus`, which are those above
  std::optional<WaveMedium> medium;     ///< absent: the couplant where there is one, else longitudinal
  std::optional<std::size_t> aperture;  ///< neighbours that fire for each focus or virtual source; absent: all
  /// Of laws, [event][element]: seconds, and weights, where 0 is silent. One of them may be empty: no delays, weights of 1.
  std::vector<std::vector<double>> delays;
  std::vector<std::vector<double>> weights;
  std::size_t repeats = 1;                      ///< of each event, for what moves between them
  bool repeats_in_turn = false;                 ///< whether all events fire before the first fires again, or each in a row
  std::vector<std::size_t> receive;             ///< elements that record every event; empty: all
  std::optional<std::size_t> receive_aperture;  ///< neighbours that record, about the middle of those that fire; absent: all

  /// Whether several elements fire at once.
  [[nodiscard]] bool together() const { return kind != TransmitKind::elements; }
};

/// Throws InputError, naming `where` and the key, unless `sequence` can be made by a probe of `elements` elements (at least one)
/// on `couplant` (0: none), and says nothing that its kind has no use for.
void validate(const TransmitSequence& sequence, std::size_t elements, MetresPerSecond couplant, std::string_view where);

/// Elements beside each other along x, or along an arc; a matrix array has several rows of them.
struct ElementRow {
  std::size_t elements = 1;
  Metres pitch;
  Metres radius;  ///< of the arc; 0: flat
  std::size_t rows = 1;
};

/// Throws InputError unless the beams of a valid sequence are what scan_beams.hpp allows; of other kinds nothing is looked at.
void validate_beams(const TransmitSequence& sequence, const Probe& probe, const ElementRow& row, std::string_view where);

/// The events of a valid sequence; none where every element fires alone, in order, and all record. Angles and places are in the
/// probe's frame, in its plane y = 0.
[[nodiscard]] std::vector<TransmitEvent> events_of(const TransmitSequence& sequence, const Probe& probe, const ElementRow& row,
                                                   MetresPerSecond couplant, const Material& material);

}  // namespace echoform
