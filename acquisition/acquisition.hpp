// What one sequence of acquisition frames is: the probe, its transmit events, the A-scans of a frame and their sampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/pose.hpp"
#include "acquisition/sample_encodings.hpp"
#include "acquisition/transmit_event.hpp"
#include "base/geometry.hpp"

namespace echoform {

/// How the (transmit, receive) pairs of a frame relate: all of them are there, or each once for both directions, or each once
/// as the sum of both directions.
enum class MatrixKind : std::uint8_t {
  full,         ///< all: [event, receiver, sample]
  half,         ///< each i <= j once: [pair, sample]; an off-diagonal pair stands for two
  half_summed,  ///< as half, and the instrument already added s_ij + s_ji off the diagonal
};

struct Element {
  Point centre;
  Direction normal{0.0, 0.0, 1.0};  ///< unit vector of emission
  Metres width;                     ///< size along x; 0 where unknown (a point)
  Metres length;                    ///< size along y; 0 where unknown
  bool dead = false;

  constexpr auto operator<=>(const Element&) const = default;
};

struct Probe {
  std::vector<Element> elements;
  Hertz centre_frequency;  ///< 0 where unknown
  Hertz bandwidth;         ///< -6 dB width; 0 where unknown
  /// What the probe's frame (probe_frame.hpp) takes for x, so far as that is across its z: not z's own direction.
  Direction x_axis{1.0, 0.0, 0.0};

  auto operator<=>(const Probe&) const = default;
};

/// Rows of elements along x, one behind the other along y.
struct MatrixArray {
  std::size_t columns = 1;  ///< elements of a row
  std::size_t rows = 1;
  Metres pitch;      ///< of neighbours in a row
  Metres row_pitch;  ///< of neighbouring rows
  Metres width;      ///< of an element along x; 0 where unknown
  Metres length;     ///< along y; 0 where unknown
};

/// A matrix array centred on x = y = 0 at z = 0; element row * columns + column.
[[nodiscard]] Probe make_matrix_probe(const MatrixArray& array, Hertz centre_frequency, Hertz bandwidth);
/// A linear array of `count` elements centred on x = 0 at z = 0.
[[nodiscard]] Probe make_linear_probe(std::size_t count, Metres pitch, Metres element_width, Hertz centre_frequency,
                                      Hertz bandwidth);

/// A curvilinear array: `count` elements `pitch` apart along an arc of `radius` about (0, 0, -radius), their normals away from
/// there; its middle is at x = z = 0, all else behind. Half of the arc is less than a quarter of a circle.
[[nodiscard]] Probe make_curvilinear_probe(std::size_t count, Metres pitch, Metres radius, Metres element_width,
                                           Hertz centre_frequency, Hertz bandwidth);
/// The most that half of an arc may turn from its middle, in degrees.
inline constexpr double widest_half_arc = 80.0;
/// What half of such an arc turns, from its middle to the last element's centre, in degrees.
[[nodiscard]] double half_arc(std::size_t count, Metres pitch, Metres radius);

struct Acquisition {
  Probe probe;
  /// Positions of the probe within one frame, each of which some event names: then `probe` is in coordinates of its own, which
  /// these put into the part. Empty: there is one, and `probe` stands where it is.
  std::vector<Pose> positions;
  MatrixKind matrix = MatrixKind::full;
  /// The shots of a frame, in the order of their rows. Empty: full matrix capture, or half of one; event i is element i.
  /// Otherwise `matrix` is full: every receiver of every event has its row.
  std::vector<TransmitEvent> events;
  SampleEncoding encoding = SampleEncoding::int16;
  std::size_t samples = 0;  ///< per A-scan
  Hertz sample_rate;
  Seconds start_time;         ///< of sample 0 after the pulse's emission; may be negative
  Seconds time_offset;        ///< sample n is at start_time + n / sample_rate - time_offset
  double sample_scale = 1.0;  ///< amplitude of one unit of an integer sample
  Hertz pulse_repetition;     ///< transmit events a second within a frame, evenly; 0 where unknown

  [[nodiscard]] std::size_t elements() const { return probe.elements.size(); }
  /// Shots in a frame: those listed, or one an element.
  [[nodiscard]] std::size_t event_count() const { return events.empty() ? elements() : events.size(); }
  /// Whether a pair stands for both of its directions, so that event i is recorded by the elements from i on.
  [[nodiscard]] bool pairs_once() const { return matrix != MatrixKind::full; }
  /// Whether a pair is the sum of both of its directions.
  [[nodiscard]] bool pairs_summed() const { return matrix == MatrixKind::half_summed; }
  /// A-scans in a frame: the receivers of all events, which are N^2 or N (N + 1) / 2 where no events are listed.
  [[nodiscard]] std::size_t a_scans() const;
  [[nodiscard]] std::size_t bytes_per_a_scan() const;
  [[nodiscard]] std::size_t frame_bytes() const { return a_scans() * bytes_per_a_scan(); }

  auto operator<=>(const Acquisition&) const = default;
};

/// The element that fires alone in `event`, which is below event_count(); none where several transmit.
[[nodiscard]] std::optional<std::size_t> firing_element(const Acquisition& acquisition, std::size_t event);

/// Whether all elements record every event.
[[nodiscard]] bool all_elements_record(const Acquisition& acquisition);

/// Whether both directions of a pair have A-scans of their own, or one that stands for either; not where only their sum is there.
[[nodiscard]] bool tells_directions(const Acquisition& acquisition);

/// "full", "half", "half_summed" or, where events are listed, "pulse-echo" (is_pulse_echo()) or "events".
[[nodiscard]] std::string_view pairs_word(const Acquisition& acquisition);
/// "full matrix", "half matrix", "half_summed matrix", or the events: "pulse-echo" or forms_text(), behind "25 positions, "
/// where they are stated.
[[nodiscard]] std::string pairs_text(const Acquisition& acquisition);
/// "16 elements, full matrix, 1024 samples at 50 MHz, int16".
[[nodiscard]] std::string acquisition_text(const Acquisition& acquisition);

/// Limits that every door applies before it allocates anything.
struct AcquisitionLimits {
  std::size_t elements = 1024;
  std::size_t samples = 1u << 20;
  std::size_t frame_bytes = std::size_t{1} << 30;
  std::size_t events = 4096;
  std::size_t positions = 256;  ///< of the probe within a frame
};

/// Throws InputError (naming `where`) unless counts are positive and within `limits` (no product overflows), numbers are finite,
/// sample_rate > 0, sample_scale is finite and not 0, pulse_repetition is 0 or 1e-3 to 1e6 Hz, every element emits towards +z
/// (normal.z > 0; of passive events it faces anywhere), and events and positions are what they may be (validate_events.hpp,
/// positions.hpp).
void validate(const Acquisition& acquisition, const AcquisitionLimits& limits, std::string_view where);

/// Place of pair (i, j), i <= j, in the half-matrix order (0,0), (0,1) ... (0,N-1), (1,1) ...
[[nodiscard]] constexpr std::size_t half_matrix_index(std::size_t i, std::size_t j, std::size_t elements) {
  return i * elements - i * (i + 1) / 2 + j;
}

/// Wave speeds in the inspected part.
struct Material {
  MetresPerSecond longitudinal_velocity;
  MetresPerSecond shear_velocity;  ///< 0 where unknown

  constexpr auto operator<=>(const Material&) const = default;
};

}  // namespace echoform
