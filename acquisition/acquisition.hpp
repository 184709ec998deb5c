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

/// Which (transmit, receive) pairs a frame holds: all of them, or each pair once for both directions, or each once as the
/// sum of both directions.
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
  /// The component of x_axis perpendicular to z becomes the x axis of the probe's frame (probe_frame.hpp). It must not lie
  /// along that frame's z.
  Direction x_axis{1.0, 0.0, 0.0};

  auto operator<=>(const Probe&) const = default;
};

/// Rows of elements along x, one behind the other along y.
struct MatrixArray {
  std::size_t columns = 1;  ///< elements of a row
  std::size_t rows = 1;
  Metres pitch;      ///< distance of neighbours in a row
  Metres row_pitch;  ///< distance of neighbouring rows
  Metres width;      ///< size of an element along x; 0 where unknown
  Metres length;     ///< along y; 0 where unknown
};

/// A matrix array centred on x = y = 0 at z = 0. The element at (row, column) has the index row * columns + column.
[[nodiscard]] Probe make_matrix_probe(const MatrixArray& array, Hertz centre_frequency, Hertz bandwidth);
/// A linear array of `count` elements centred on x = 0 at z = 0.
[[nodiscard]] Probe make_linear_probe(std::size_t count, Metres pitch, Metres element_width, Hertz centre_frequency,
                                      Hertz bandwidth);

/// A curvilinear array: `count` elements `pitch` apart along an arc of `radius` about (0, 0, -radius), with normals that
/// point away from that centre. The middle of the arc is at x = z = 0, and the rest lies behind it (z < 0). Half of the arc
/// must be less than a quarter of a circle.
[[nodiscard]] Probe make_curvilinear_probe(std::size_t count, Metres pitch, Metres radius, Metres element_width,
                                           Hertz centre_frequency, Hertz bandwidth);
/// Maximum angle from the middle of an arc to its end, in degrees.
inline constexpr double widest_half_arc = 80.0;
/// Angle of half of such an arc, from its middle to the last element's centre, in degrees.
[[nodiscard]] double half_arc(std::size_t count, Metres pitch, Metres radius);

struct Acquisition {
  Probe probe;
  /// Positions of the probe within one frame; each is named by at least one event. `probe` is then in its own coordinates,
  /// which the positions map into the part. Empty: there is one position, and `probe` is in the part's coordinates.
  std::vector<Pose> positions;
  MatrixKind matrix = MatrixKind::full;
  /// The shots of a frame, in the order of their rows. Empty: full or half matrix capture, in which event i is element i. If
  /// events are listed, `matrix` is full: every receiver of every event has its row.
  std::vector<TransmitEvent> events;
  SampleEncoding encoding = SampleEncoding::int16;
  std::size_t samples = 0;  ///< per A-scan
  Hertz sample_rate;
  Seconds start_time;         ///< time of sample 0 after the pulse's emission; may be negative
  Seconds time_offset;        ///< sample n is at start_time + n / sample_rate - time_offset
  double sample_scale = 1.0;  ///< amplitude of one unit of an integer sample
  Hertz pulse_repetition;     ///< transmit events per second within a frame, evenly spaced; 0 where unknown

  [[nodiscard]] std::size_t elements() const { return probe.elements.size(); }
  /// Shots in a frame: those listed, or one per element.
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

/// Whether each direction of a pair is known: both have their own A-scans, or one A-scan stands for either. False if only
/// their sum is available.
[[nodiscard]] bool tells_directions(const Acquisition& acquisition);

/// "full", "half", "half_summed" or, where events are listed, "pulse-echo" (is_pulse_echo()) or "events".
[[nodiscard]] std::string_view pairs_word(const Acquisition& acquisition);
/// "full matrix", "half matrix", "half_summed matrix", or a description of the events: "pulse-echo" or forms_text(). If
/// positions are stated, "25 positions, " precedes it.
[[nodiscard]] std::string pairs_text(const Acquisition& acquisition);
/// "16 elements, full matrix, 1024 samples at 50 MHz, int16".
[[nodiscard]] std::string acquisition_text(const Acquisition& acquisition);

/// Limits that every interface applies to an acquisition before it allocates anything.
struct AcquisitionLimits {
  std::size_t elements = 1024;
  std::size_t samples = 1u << 20;
  std::size_t frame_bytes = std::size_t{1} << 30;
  std::size_t events = 4096;
  std::size_t positions = 256;  ///< of the probe within a frame
};

/// Throws InputError (naming `where`) unless counts are positive and within `limits` (no product overflows), numbers are
/// finite, sample_rate > 0, sample_scale is finite and not 0, and pulse_repetition is 0 or 1e-3 to 1e6 Hz. Every element
/// must emit towards +z (normal.z > 0), except that elements may face anywhere if all events are passive. Events and
/// positions must be valid (validate_events.hpp, positions.hpp).
void validate(const Acquisition& acquisition, const AcquisitionLimits& limits, std::string_view where);

/// Index of pair (i, j), i <= j, in the half-matrix order (0,0), (0,1) ... (0,N-1), (1,1) ...
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
