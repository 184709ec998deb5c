#include "methods/beams/line_fan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "acquisition/probe_frame.hpp"
#include "acquisition/scan_lines.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/beams/event_line.hpp"

namespace echoform {
namespace event_lines {

double EventLine::azimuth() const {
  return std::atan2(direction.x, direction.z);
}

double EventLine::elevation() const {
  return std::atan2(direction.y, std::hypot(direction.x, direction.z));
}

void require_even(const std::vector<double>& places, double first, double pitch, std::string_view where, std::string_view what,
                  double shown, std::string_view unit) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double even = first + static_cast<double>(k) * pitch;
    if (std::abs(places[k] - even) <= uneven * pitch) continue;
    throw InputError(fmt::format("{}: {} of the lines", where, what),
                     fmt::format("{:.4g} {} where even ones have {:.4g}", tidy(places[k] * shown), unit, tidy(even * shown)),
                     "evenly spaced lines, each once");
  }
}

void find_apex(LineFan& fan, const std::vector<EventLine>& lines, std::string_view where) {
  const EventLine& a = lines.front();
  const EventLine& b = lines.back();
  const Direction turned{b.direction.x - a.direction.x, b.direction.y - a.direction.y, b.direction.z - a.direction.z};
  const Direction moved = between(a.origin, b.origin);
  fan.radius = Metres(dot(moved, turned) / dot(turned, turned));
  if (std::abs(fan.radius.value) < beside_line) fan.radius = Metres(0.0);
  if (fan.radius.value < 0.0) {
    throw InputError(fmt::format("{}: lines", where),
                     fmt::format("ones that cross {:.3f} mm ahead of where they begin", -1e3 * fan.radius.value),
                     "lines that meet where they begin or behind, or parallel ones");
  }
  fan.apex = {a.origin.x - fan.radius * a.direction.x, a.origin.y - fan.radius * a.direction.y,
              a.origin.z - fan.radius * a.direction.z};
  for (const EventLine& line : lines) {
    const Direction& n = line.direction;
    const Direction off =
        between(line.origin, {fan.apex.x + fan.radius * n.x, fan.apex.y + fan.radius * n.y, fan.apex.z + fan.radius * n.z});
    // A line may begin anywhere along its own direction, but not beside it.
    if (length(across(off, n)) <= beside_line && length(off) <= 10.0 * beside_line) continue;
    throw InputError(fmt::format("{}: transmit event {}", where, line.event),
                     fmt::format("a line that begins {:.3f} mm beside those of the others", 1e3 * length(off)),
                     "lines that meet in a point, or parallel ones");
  }
}

}  // namespace event_lines

namespace {

using event_lines::beside_line;
using event_lines::EventLine;
using event_lines::same_angle;

bool in_plane(const EventLine& line) {
  return std::abs(line.direction.y) <= same_angle && std::abs(line.origin.y.value) <= beside_line;
}

/// Whether the elements stand in one row along the probe's x.
bool in_one_row(const Probe& probe, const ProbeFrame& frame) {
  const auto [least, most] =
      std::ranges::minmax(probe.elements, {}, [&](const Element& element) { return frame.to_probe(element.centre).y.value; });
  return (frame.to_probe(most.centre).y - frame.to_probe(least.centre).y).value <= beside_line;
}

[[noreturn]] void refuse_across(const EventLine& line, std::string_view where, std::string_view expected) {
  throw InputError(fmt::format("{}: transmit event {}", where, line.event),
                   fmt::format("a line at y = {:.3f} mm, {:.2f} degrees across", event_lines::tidy(1e3 * line.origin.y.value),
                               event_lines::tidy(line.elevation() * event_lines::shown_degrees)),
                   expected);
}

std::vector<EventLine> lines_of_events(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                       MetresPerSecond velocity, std::string_view where) {
  const ProbeFrame frame = frame_of(acquisition.probe);
  const bool one_row = in_one_row(acquisition.probe, frame);
  std::vector<EventLine> lines;
  for (const std::uint32_t event : events) {
    const auto line = line_of_event(acquisition, event, velocity);
    if (!line) {
      throw InputError(fmt::format("{}: transmit event {}", where, event), "one that no line follows from",
                       "a beam, a plane wave or a diverging wave that runs on in the medium");
    }
    const EventLine global{event, frame.to_global(line->origin), frame.to_global(line->direction)};
    if (one_row && !in_plane(global)) refuse_across(global, where, "lines in the plane y = 0 of a single row of elements");
    lines.push_back(global);
  }
  return lines;
}

}  // namespace

ImageLine LineFan::line(std::size_t k) const {
  if (shape == FanShape::parallel) {
    const double from_first = static_cast<double>(k) * pitch;
    return {0, {apex.x + Metres(from_first), apex.y, apex.z}, {std::sin(angle), 0.0, std::cos(angle)}};
  }
  const double level = std::cos(elevation_at(k));
  const Direction n{std::sin(at(k)) * level, std::sin(elevation_at(k)), std::cos(at(k)) * level};
  return {0, {apex.x + radius * n.x, apex.y + radius * n.y, apex.z + radius * n.z}, n};
}

Point LineFan::shown(const Point& place) const {
  if (volume()) return place;
  if (!across()) return {place.x, Metres(0.0), place.z};
  return {place.y, Metres(0.0), place.x * std::sin(first) + place.z * std::cos(first)};
}

FannedLines make_lines(const Acquisition& acquisition, const std::vector<std::uint32_t>& events, const LinesOfEvent& of_event,
                       MetresPerSecond velocity, std::string_view where) {
  if (events.size() < 2) {
    throw InputError(fmt::format("{}: transmit events", where), fmt::format("{}", events.size()),
                     "at least 2, each with its line");
  }
  std::vector<EventLine> lines = lines_of_events(acquisition, events, velocity, where);
  const auto off = std::ranges::find_if_not(lines, in_plane);
  if (off != lines.end()) {
    const auto apart = [&](const EventLine& one) { return length(across(lines.front().direction, one.direction)) > same_angle; };
    if (std::ranges::none_of(lines, apart)) {
      refuse_across(*off, where, "parallel lines in the plane y = 0, or lines that meet in a point");
    }
    return event_lines::make_grid(std::move(lines), of_event, where);
  }
  if (of_event.elevations > 1) {
    throw InputError(fmt::format("{}: [beams] lines_across", where), fmt::format("{}", of_event.elevations),
                     "1 of transmit events at one elevation");
  }
  const auto [least, greatest] =
      std::minmax_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.azimuth() < b.azimuth(); });
  LineFan fan;
  fan.shape = greatest->azimuth() - least->azimuth() < same_angle ? FanShape::parallel : FanShape::sector;
  const bool parallel = fan.shape == FanShape::parallel;
  const auto place = [&](const EventLine& line) { return parallel ? line.origin.x.value : line.azimuth(); };
  std::ranges::sort(lines, [&](const EventLine& a, const EventLine& b) { return place(a) < place(b); });
  std::vector<double> places;
  for (const EventLine& line : lines) places.push_back(place(line));
  const double pitch = (places.back() - places.front()) / static_cast<double>(places.size() - 1);
  const double shown = parallel ? 1e3 : event_lines::shown_degrees;
  if (!(pitch > (parallel ? 1e-7 : 1e-6))) {
    throw InputError(fmt::format("{}: lines", where), "several at one place", "each once, beside each other");
  }
  event_lines::require_even(places, places.front(), pitch, where, parallel ? "places" : "angles", shown,
                            parallel ? "mm" : "degrees");
  if (parallel) {
    fan.angle = lines.front().azimuth();
    fan.apex = lines.front().origin;
    for (const EventLine& line : lines) {
      if (std::abs((line.origin.z - fan.apex.z).value) <= beside_line) continue;
      throw InputError(fmt::format("{}: transmit event {}", where, line.event),
                       fmt::format("a line that begins at z = {:.3f} mm", 1e3 * line.origin.z.value),
                       fmt::format("{:.3f} mm as the others, which are parallel to it", 1e3 * fan.apex.z.value));
    }
  } else {
    event_lines::find_apex(fan, lines, where);
    fan.apex.y = Metres(0.0);
  }

  fan.lines = lines.size() * of_event.azimuths;
  fan.pitch = pitch / static_cast<double>(of_event.azimuths);
  fan.first = places.front() - 0.5 * static_cast<double>(of_event.azimuths - 1) * fan.pitch;
  if (parallel) fan.apex.x = Metres(fan.first);
  FannedLines all{fan, {}};
  for (std::size_t k = 0; k < fan.lines; ++k) {
    all.lines.push_back(fan.line(k));
    all.lines.back().event = lines[k / of_event.azimuths].event;
  }
  return all;
}

std::vector<FannedLines> make_fans(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                   const LinesOfEvent& of_event, MetresPerSecond velocity, std::string_view where) {
  std::vector<EventLine> lines = lines_of_events(acquisition, events, velocity, where);
  std::ranges::sort(lines, [](const EventLine& a, const EventLine& b) { return a.azimuth() < b.azimuth(); });
  if (!std::ranges::all_of(lines, in_plane)) return {make_lines(acquisition, events, of_event, velocity, where)};
  std::vector<std::vector<std::uint32_t>> sets;
  double angle = 0.0;
  for (const EventLine& line : lines) {
    if (sets.empty() || line.azimuth() - angle > same_angle) {
      sets.emplace_back();
      angle = line.azimuth();
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
