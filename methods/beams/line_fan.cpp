#include "methods/beams/line_fan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "acquisition/probe_frame.hpp"
#include "acquisition/scan_lines.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double same_angle = 1e-4;    // radians
constexpr double beside_line = 10e-6;  // metres
constexpr double uneven = 0.25;        // of the pitch

/// Of an event, in global coordinates.
struct EventLine {
  std::uint32_t event = 0;
  Point origin;
  Direction direction;

  [[nodiscard]] double angle() const { return std::atan2(direction.x, direction.z); }
};

std::vector<EventLine> lines_of_events(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                       MetresPerSecond velocity, std::string_view where) {
  const ProbeFrame frame = frame_of(acquisition.probe);
  std::vector<EventLine> lines;
  for (const std::uint32_t event : events) {
    const auto line = line_of_event(acquisition, event, velocity);
    if (!line) {
      throw InputError(fmt::format("{}: transmit event {}", where, event), "one that no line follows from",
                       "a beam, a plane wave or a diverging wave that runs on in the medium");
    }
    const EventLine global{event, frame.to_global(line->origin), frame.to_global(line->direction)};
    if (std::abs(global.direction.y) > same_angle || std::abs(global.origin.y.value) > beside_line) {
      throw InputError(fmt::format("{}: transmit event {}", where, event),
                       fmt::format("a line at y = {:.3f} mm, {:.2f} degrees across", 1e3 * global.origin.y.value,
                                   std::asin(global.direction.y) * 57.29577951308232),
                       "lines in the plane y = 0");
    }
    lines.push_back(global);
  }
  return lines;
}

void require_even(const std::vector<double>& places, double pitch, std::string_view where, std::string_view what, double shown,
                  std::string_view unit) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double even = places.front() + static_cast<double>(k) * pitch;
    if (std::abs(places[k] - even) <= uneven * pitch) continue;
    throw InputError(fmt::format("{}: {} of the lines", where, what),
                     fmt::format("{:.4g} {} where even ones have {:.4g}", places[k] * shown, unit, even * shown),
                     "evenly spaced lines, each once");
  }
}

/// Lines that meet: the apex and the distance of the origins from it.
void find_apex(LineFan& fan, const std::vector<EventLine>& lines, std::string_view where) {
  const EventLine& a = lines.front();
  const EventLine& b = lines.back();
  const double nx = b.direction.x - a.direction.x;
  const double nz = b.direction.z - a.direction.z;
  const double ox = (b.origin.x - a.origin.x).value;
  const double oz = (b.origin.z - a.origin.z).value;
  fan.radius = Metres((ox * nx + oz * nz) / (nx * nx + nz * nz));
  if (std::abs(fan.radius.value) < beside_line) fan.radius = Metres(0.0);
  if (fan.radius.value < 0.0) {
    throw InputError(fmt::format("{}: lines", where),
                     fmt::format("ones that cross {:.3f} mm ahead of where they begin", -1e3 * fan.radius.value),
                     "lines that meet where they begin or behind, or parallel ones");
  }
  fan.apex = {a.origin.x - fan.radius * a.direction.x, Metres(0.0), a.origin.z - fan.radius * a.direction.z};
  for (const EventLine& line : lines) {
    const double x = (fan.apex.x + fan.radius * line.direction.x - line.origin.x).value;
    const double z = (fan.apex.z + fan.radius * line.direction.z - line.origin.z).value;
    // Along itself a line may begin anywhere; across it may not be off.
    const double across = std::abs(x * line.direction.z - z * line.direction.x);
    if (across <= beside_line && std::hypot(x, z) <= 10.0 * beside_line) continue;
    throw InputError(fmt::format("{}: transmit event {}", where, line.event),
                     fmt::format("a line that begins {:.3f} mm beside those of the others", 1e3 * std::hypot(x, z)),
                     "lines that meet in a point, or parallel ones");
  }
}

}  // namespace

ImageLine LineFan::line(std::size_t k) const {
  if (shape == FanShape::parallel) {
    const double from_first = static_cast<double>(k) * pitch;
    return {0, {apex.x + Metres(from_first), apex.y, apex.z}, {std::sin(angle), 0.0, std::cos(angle)}};
  }
  const Direction n{std::sin(at(k)), 0.0, std::cos(at(k))};
  return {0, {apex.x + radius * n.x, apex.y, apex.z + radius * n.z}, n};
}

FannedLines make_lines(const Acquisition& acquisition, const std::vector<std::uint32_t>& events, std::size_t of_event,
                       MetresPerSecond velocity, std::string_view where) {
  if (events.size() < 2) {
    throw InputError(fmt::format("{}: transmit events", where), fmt::format("{}", events.size()),
                     "at least 2, each with its line");
  }
  std::vector<EventLine> lines = lines_of_events(acquisition, events, velocity, where);
  const auto [least, greatest] =
      std::minmax_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.angle() < b.angle(); });
  LineFan fan;
  fan.shape = greatest->angle() - least->angle() < same_angle ? FanShape::parallel : FanShape::sector;
  const bool parallel = fan.shape == FanShape::parallel;
  const auto place = [&](const EventLine& line) { return parallel ? line.origin.x.value : line.angle(); };
  std::ranges::sort(lines, [&](const EventLine& a, const EventLine& b) { return place(a) < place(b); });
  std::vector<double> places;
  for (const EventLine& line : lines) places.push_back(place(line));
  const double pitch = (places.back() - places.front()) / static_cast<double>(places.size() - 1);
  const double shown = parallel ? 1e3 : 57.29577951308232;
  if (!(pitch > (parallel ? 1e-7 : 1e-6))) {
    throw InputError(fmt::format("{}: lines", where), "several at one place", "each once, beside each other");
  }
  require_even(places, pitch, where, parallel ? "places" : "angles", shown, parallel ? "mm" : "degrees");
  if (parallel) {
    fan.angle = lines.front().angle();
    fan.apex = lines.front().origin;
    for (const EventLine& line : lines) {
      if (std::abs((line.origin.z - fan.apex.z).value) <= beside_line) continue;
      throw InputError(fmt::format("{}: transmit event {}", where, line.event),
                       fmt::format("a line that begins at z = {:.3f} mm", 1e3 * line.origin.z.value),
                       fmt::format("{:.3f} mm as the others, which are parallel to it", 1e3 * fan.apex.z.value));
    }
  } else {
    find_apex(fan, lines, where);
  }

  fan.lines = lines.size() * of_event;
  fan.pitch = pitch / static_cast<double>(of_event);
  fan.first = places.front() - 0.5 * static_cast<double>(of_event - 1) * fan.pitch;
  if (parallel) fan.apex.x = Metres(fan.first);
  FannedLines all{fan, {}};
  for (std::size_t k = 0; k < fan.lines; ++k) {
    all.lines.push_back(fan.line(k));
    all.lines.back().event = lines[k / of_event].event;
  }
  return all;
}

std::vector<FannedLines> make_fans(const Acquisition& acquisition, const std::vector<std::uint32_t>& events, std::size_t of_event,
                                   MetresPerSecond velocity, std::string_view where) {
  std::vector<EventLine> lines = lines_of_events(acquisition, events, velocity, where);
  std::ranges::sort(lines, [](const EventLine& a, const EventLine& b) { return a.angle() < b.angle(); });
  std::vector<std::vector<std::uint32_t>> sets;
  double angle = 0.0;
  for (const EventLine& line : lines) {
    if (sets.empty() || line.angle() - angle > same_angle) {
      sets.emplace_back();
      angle = line.angle();
    }
    sets.back().push_back(line.event);
  }
  const bool several = sets.size() > 1 && std::ranges::all_of(sets, [](const auto& set) { return set.size() > 1; });
  if (!several) return {make_lines(acquisition, events, of_event, velocity, where)};
  std::vector<FannedLines> fans;
  for (std::vector<std::uint32_t>& set : sets) {
    std::ranges::sort(set);
    fans.push_back(make_lines(acquisition, set, of_event, velocity, where));
  }
  return fans;
}

}  // namespace echoform
