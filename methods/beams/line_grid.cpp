#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/beams/event_line.hpp"

namespace echoform::event_lines {
namespace {

using LineRow = std::vector<EventLine>;

/// Lines in rows by elevation; each row is sorted by azimuth.
std::vector<LineRow> rows_of(std::vector<EventLine> lines) {
  std::ranges::sort(lines, {}, &EventLine::elevation);
  std::vector<LineRow> rows;
  double elevation = 0.0;
  for (const EventLine& line : lines) {
    if (rows.empty() || line.elevation() - elevation > same_angle) rows.emplace_back();
    elevation = line.elevation();
    rows.back().push_back(line);
  }
  for (LineRow& row : rows) std::ranges::sort(row, {}, &EventLine::azimuth);
  return rows;
}

std::vector<double> azimuths_of(const LineRow& row) {
  std::vector<double> azimuths;
  for (const EventLine& line : row) azimuths.push_back(line.azimuth());
  return azimuths;
}

/// Distance between neighbours; 0 for a single place.
double pitch_of(const std::vector<double>& places, std::string_view where) {
  if (places.size() < 2) return 0.0;
  const double pitch = (places.back() - places.front()) / static_cast<double>(places.size() - 1);
  if (!(pitch > 1e-6)) throw InputError(fmt::format("{}: lines", where), "several at one place", "each once, beside each other");
  return pitch;
}

void require_lone(std::size_t of_event, double pitch, std::string_view where, std::string_view key, std::string_view what) {
  if (of_event == 1 || pitch > 0.0) return;
  throw InputError(fmt::format("{}: [beams] {}", where, key), fmt::format("{}", of_event),
                   fmt::format("1 of transmit events at one {}", what));
}

}  // namespace

FannedLines make_grid(std::vector<EventLine> lines, const LinesOfEvent& of_event, std::string_view where) {
  const std::vector<LineRow> rows = rows_of(std::move(lines));
  std::vector<double> elevations;
  std::vector<EventLine> ordered;
  const std::vector<double> azimuths = azimuths_of(rows.front());
  const double pitch = pitch_of(azimuths, where);
  for (const LineRow& row : rows) {
    elevations.push_back(row[row.size() / 2].elevation());
    if (row.size() != azimuths.size()) {
      throw InputError(
          fmt::format("{}: lines", where),
          fmt::format("{} at an elevation of {:.4g} degrees where that of {:.4g} degrees has {}", row.size(),
                      tidy(elevations.back() * shown_degrees), tidy(elevations.front() * shown_degrees), azimuths.size()),
          "a grid: the same azimuths at every elevation");
    }
    if (pitch > 0.0) {
      require_even(azimuths_of(row), azimuths.front(), pitch, where, "azimuths", shown_degrees, "degrees");
    } else if (std::abs(row.front().azimuth() - azimuths.front()) > same_angle) {
      throw InputError(fmt::format("{}: transmit event {}", where, row.front().event),
                       fmt::format("an azimuth of {:.4g} degrees", tidy(row.front().azimuth() * shown_degrees)),
                       fmt::format("{:.4g} degrees, that of the other elevations", tidy(azimuths.front() * shown_degrees)));
    }
    ordered.insert(ordered.end(), row.begin(), row.end());
  }
  const double elevation_pitch = pitch_of(elevations, where);
  if (elevation_pitch > 0.0) {
    require_even(elevations, elevations.front(), elevation_pitch, where, "elevations", shown_degrees, "degrees");
  }
  require_lone(of_event.azimuths, pitch, where, "lines", "azimuth");
  require_lone(of_event.elevations, elevation_pitch, where, "lines_across", "elevation");

  LineFan fan;
  find_apex(fan, ordered, where);
  const auto spread = [](std::size_t each) { return static_cast<double>(each); };
  fan.elevations = rows.size() * of_event.elevations;
  fan.elevation_pitch = elevation_pitch / spread(of_event.elevations);
  fan.first_elevation = elevations.front() - 0.5 * spread(of_event.elevations - 1) * fan.elevation_pitch;
  fan.lines = fan.elevations * azimuths.size() * of_event.azimuths;
  fan.pitch = pitch / spread(of_event.azimuths);
  fan.first = azimuths.front() - 0.5 * spread(of_event.azimuths - 1) * fan.pitch;
  FannedLines all{fan, {}};
  for (std::size_t k = 0; k < fan.lines; ++k) {
    all.lines.push_back(fan.line(k));
    const std::size_t row = k / fan.azimuths() / of_event.elevations;
    all.lines.back().event = rows[row][k % fan.azimuths() / of_event.azimuths].event;
  }
  return all;
}

}  // namespace echoform::event_lines
