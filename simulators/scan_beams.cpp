#include "simulators/scan_beams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "simulators/spread.hpp"

namespace echoform {
namespace {

constexpr double steepest = 89.0;  // degrees
constexpr double degree = std::numbers::pi / 180.0;

double length_of(const BeamArray& array) {
  return static_cast<double>(array.columns) * array.pitch.value;
}

/// The maximum distance of an origin from the middle at which whole apertures fit.
double farthest_origin(const BeamArray& array) {
  return array.aperture ? 0.5 * array.pitch.value * static_cast<double>(array.columns - *array.aperture) : 0.0;
}

/// The first element of the aperture nearest to `origin`, which is within farthest_origin() up to rounding.
std::size_t first_element(const BeamArray& array, Metres origin) {
  const auto last = static_cast<double>(array.columns - *array.aperture);
  return static_cast<std::size_t>(std::clamp(std::round(origin / array.pitch + 0.5 * last), 0.0, last));
}

/// A beam as the probe sends it.
struct PlacedBeam {
  Point origin;
  Direction direction;
  std::vector<std::uint32_t> elements;  // empty: all
};

/// Places a beam in coordinates whose origin is the array's middle, with z along the normal there.
PlacedBeam placed(const ScanBeam& beam, const BeamArray& array) {
  PlacedBeam placed_beam;
  double along = beam.origin.value;
  if (array.aperture) {
    const std::size_t first = first_element(array, beam.origin);
    placed_beam.elements.resize(*array.aperture);
    std::iota(placed_beam.elements.begin(), placed_beam.elements.end(), static_cast<std::uint32_t>(first));
    along = array.pitch.value * (static_cast<double>(first) - 0.5 * static_cast<double>(array.columns - *array.aperture));
  }
  double turn = 0.0;
  placed_beam.origin.x = Metres(along);
  if (array.radius.value > 0.0) {
    turn = along / array.radius.value;
    placed_beam.origin = {array.radius * std::sin(turn), Metres(0.0), array.radius * (std::cos(turn) - 1.0)};
  }
  const double a = beam.angle * degree + turn;
  const double b = beam.angle_across * degree;
  placed_beam.direction = {std::sin(a) * std::cos(b), std::sin(b), std::cos(a) * std::cos(b)};
  return placed_beam;
}

Point along(const Point& from, const Direction& direction, Metres by) {
  return {from.x + by * direction.x, from.y + by * direction.y, from.z + by * direction.z};
}

void check_beam(const ScanBeam& beam, const BeamArray& array, const ProbeFrame& frame, const std::string& place) {
  const auto refuse = [&](const std::string& found, const std::string& expected) { throw InputError(place, found, expected); };
  // Up to half a pitch beyond, an origin still uses the last whole aperture.
  const double farthest = farthest_origin(array);
  if (!(std::abs(beam.origin.value) <= farthest * (1.0 + 1e-9) + (array.aperture ? 0.5 * array.pitch.value : 0.0))) {
    refuse(fmt::format("an origin at {:g} mm", 1e3 * beam.origin.value),
           array.aperture ? fmt::format("-{0:g} to {0:g} mm, where {1} neighbours fit", 1e3 * farthest, *array.aperture)
                          : std::string("0, or an aperture of some of the elements"));
  }
  if (!(std::abs(beam.angle) <= steepest && std::abs(beam.angle_across) <= steepest)) {
    refuse(fmt::format("angles of {:g} and {:g} degrees", beam.angle, beam.angle_across),
           fmt::format("-{0:g} to {0:g} degrees", steepest));
  }
  const PlacedBeam sent = placed(beam, array);
  if (!(sent.direction.z > std::cos(steepest * degree) * (1.0 - 1e-9))) {
    refuse(fmt::format("a direction {:.3g} degrees from the array's normal", std::acos(sent.direction.z) / degree),
           fmt::format("up to {:g} degrees", steepest));
  }
  if (beam.focus.value == 0.0 || std::isnan(beam.focus.value) || beam.focus.value < -10.0 ||
      (std::isfinite(beam.focus.value) && beam.focus.value > 10.0)) {
    refuse(fmt::format("a focus at {:g} m", beam.focus.value), "up to 10 m, or inf for a plane wave; below 0 a virtual source");
  }
  if (std::isinf(beam.focus.value)) return;
  const bool ahead = frame.to_probe(along(sent.origin, sent.direction, beam.focus)).z.value > 0.0;
  if (ahead != (beam.focus.value > 0.0)) {
    refuse(fmt::format("a point {} the elements at a focus of {:g} mm", ahead ? "before" : "behind", 1e3 * beam.focus.value),
           ahead ? "a virtual source behind all of them" : "a focus before all of them");
  }
}

}  // namespace

std::vector<ScanBeam> listed(const ScanBeams& beams, const BeamArray& array, std::size_t count) {
  if (!beams.list.empty()) return beams.list;
  const double farthest = farthest_origin(array);
  const std::array<Metres, 2> everywhere{Metres(-farthest), Metres(farthest)};
  const std::array<Metres, 2> nowhere{};
  const std::array<Metres, 2> origins = beams.origins.value_or(beams.angles ? nowhere : everywhere);
  const std::array<double, 2> straight{};
  std::vector<ScanBeam> all;
  const std::size_t across = beams.across.value_or(1);
  for (std::size_t j = 0; j < across; ++j) {
    for (std::size_t i = 0; i < count; ++i) {
      ScanBeam beam;
      beam.origin = Metres(spread({origins[0].value, origins[1].value}, i, count));
      beam.angle = spread(beams.angles.value_or(straight), i, count);
      beam.angle_across = spread(beams.angles_across.value_or(straight), j, across);
      beam.focus = beams.focus.value_or(Metres(length_of(array)));
      all.push_back(beam);
    }
  }
  return all;
}

void validate(const ScanBeams& beams, const BeamArray& array, const Probe& probe, std::size_t count, std::string_view where) {
  const auto refuse = [&](std::string_view key, const std::string& found, const std::string& expected) {
    throw InputError(fmt::format("{} {}", where, key), found, expected);
  };
  if (!beams.list.empty() && (beams.origins || beams.angles || beams.angles_across || beams.across || beams.focus)) {
    refuse("beams", "a list and a range", "one of both");
  }
  if (beams.across == 0) refuse("events_across", "0", "at least 1");
  const bool across = beams.angles_across || beams.across.value_or(1) > 1 ||
                      std::ranges::any_of(beams.list, [](const ScanBeam& beam) { return beam.angle_across != 0.0; });
  if (across && array.rows == 1) {
    refuse(beams.list.empty() ? "angles_across" : "beams", "angles across a single row", "a matrix array ([simulator] rows)");
  }
  const ProbeFrame frame = frame_of(probe);
  const std::vector<ScanBeam> all = listed(beams, array, count);
  for (std::size_t i = 0; i < all.size(); ++i) check_beam(all[i], array, frame, fmt::format("{} beam {}", where, i));
}

std::vector<TransmitEvent> beam_events(const ScanBeams& beams, const BeamArray& array, const Probe& probe, std::size_t count,
                                       MetresPerSecond velocity) {
  const ProbeFrame frame = frame_of(probe);
  std::vector<TransmitEvent> events;
  for (const ScanBeam& beam : listed(beams, array, count)) {
    PlacedBeam sent = placed(beam, array);
    TransmitEvent& event = events.emplace_back();
    if (std::isinf(beam.focus.value)) {
      event.form = PlaneWaveEvent{sent.direction.x / velocity.value, sent.direction.y / velocity.value, std::nullopt,
                                  std::move(sent.elements), array.radius.value > 0.0 ? sent.direction.z / velocity.value : 0.0};
    } else {
      event.form = PointWaveEvent{frame.to_probe(along(sent.origin, sent.direction, beam.focus)), velocity, std::nullopt,
                                  std::move(sent.elements)};
    }
  }
  return events;
}

}  // namespace echoform
