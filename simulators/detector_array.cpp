#include "simulators/detector_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr Metres radius_otherwise{40e-3};
constexpr Metres pitch_otherwise{0.5e-3};
constexpr std::size_t count_otherwise = 256;
constexpr std::size_t rows_otherwise = 16;
constexpr std::size_t azimuths_otherwise = 90;

bool has_rings(DetectorKind kind) {
  return kind == DetectorKind::sphere || kind == DetectorKind::hemisphere;
}

bool is_flat(DetectorKind kind) {
  return kind == DetectorKind::plane || kind == DetectorKind::line;
}

bool has_rows(DetectorKind kind) {
  return has_rings(kind) || kind == DetectorKind::plane;
}

std::size_t rows_of(const DetectorArray& array) {
  return has_rows(array.kind) ? array.rows.value_or(array.counts.empty() ? rows_otherwise : array.counts.size()) : 1;
}

std::size_t count_of(const DetectorArray& array, std::size_t row) {
  if (!array.counts.empty()) return array.counts[row];
  return array.count.value_or(has_rows(array.kind) ? rows_otherwise : count_otherwise);
}

std::size_t azimuths_of(const DetectorArray& array) {
  return array.kind == DetectorKind::arc ? array.positions.value_or(azimuths_otherwise) : 1;
}

Point centre_of(const DetectorArray& array) {
  return {array.centre[0], array.centre[1], array.centre[2]};
}

Point moved_by(const Point& place, const Point& by) {
  return {place.x + by.x, place.y + by.y, place.z + by.z};
}

double radians(double degrees) {
  return degrees * std::numbers::pi / 180.0;
}

double spread_between(const std::array<double, 2>& ends, std::size_t k, std::size_t count) {
  if (count < 2) return ends[0];
  return ends[0] + (ends[1] - ends[0]) * static_cast<double>(k) / static_cast<double>(count - 1);
}

/// The angle of detector k of a ring or an arc, or of ring k of a sphere, in degrees.
double angle_of(const DetectorArray& array, std::size_t k, std::size_t count) {
  if (array.angles) return spread_between(*array.angles, k, count);
  const double parts = static_cast<double>(count);
  if (array.kind == DetectorKind::ring) return 360.0 * static_cast<double>(k) / parts;
  const double middle = (static_cast<double>(k) + 0.5) / parts;
  return array.kind == DetectorKind::hemisphere ? 90.0 + 90.0 * middle : 180.0 * middle;
}

/// A detector on a sphere about the array's centre, facing the centre.
Element facing_inwards(const DetectorArray& array, double angle, double azimuth) {
  const double theta = radians(angle);
  const double phi = radians(azimuth);
  const Direction out{std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
  const Metres radius = array.radius.value_or(radius_otherwise);
  Element element;
  element.centre = moved_by(centre_of(array), {radius * out.x, radius * out.y, radius * out.z});
  element.normal = scaled(out, -1.0);
  element.width = array.element_width;
  element.length = array.element_length;
  return element;
}

Probe flat_probe(const DetectorArray& array) {
  const Metres pitch = array.pitch.value_or(pitch_otherwise);
  Probe probe = make_matrix_probe({.columns = count_of(array, 0),
                                   .rows = rows_of(array),
                                   .pitch = pitch,
                                   .row_pitch = array.row_pitch.value_or(pitch),
                                   .width = array.element_width,
                                   .length = array.element_length},
                                  Hertz(0.0), Hertz(0.0));
  for (Element& element : probe.elements) element.centre = moved_by(element.centre, centre_of(array));
  return probe;
}

class DetectorCheck {
 public:
  explicit DetectorCheck(std::string_view where) : where_(where) {}

  [[noreturn]] void refuse(std::string_view key, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{} {}", where_, key), found, expected);
  }
  void useless(bool stated, bool used, std::string_view key, std::string_view of) const {
    if (stated && !used) refuse(key, "a value", fmt::format("no such key but of {}", of));
  }
  void count(std::string_view key, std::size_t value, std::size_t most) const {
    if (value == 0 || value > most) refuse(key, fmt::format("{}", value), fmt::format("1 to {}", most));
  }
  void length(std::string_view key, const std::optional<Metres>& value, double least, double most) const {
    if (!value || (value->value >= least && value->value <= most)) return;
    refuse(key, fmt::format("{}", value->value), fmt::format("{:g} to {:g} m", least, most));
  }
  /// Checks that the ends are in order; for a single place they must be equal.
  void ends(std::string_view key, const std::optional<std::array<double, 2>>& value, std::size_t places, double least,
            double most) const {
    if (!value) return;
    const auto [first, last] = *value;
    if (!(first >= least && last <= most && (places < 2 ? first == last : first < last))) {
      refuse(key, fmt::format("{:g} to {:g}", first, last),
             fmt::format("{} within {:g} to {:g} degrees", places < 2 ? "one angle twice, for one place," : "the lesser first,",
                         least, most));
    }
    if (last - first >= 360.0) {
      refuse(key, fmt::format("{:g} to {:g}, the first place again", first, last),
             "less than a full turn, or no such key for one");
    }
  }

 private:
  std::string_view where_;
};

}  // namespace

void validate(const DetectorArray& array, const AcquisitionLimits& limits, std::string_view where) {
  const DetectorCheck check(where);
  const DetectorKind kind = array.kind;
  if (!array.stated()) check.refuse("kind", "none", "\"ring\", \"arc\", \"sphere\", \"hemisphere\", \"plane\" or \"line\"");
  const bool flat = is_flat(kind);
  check.useless(array.rows.has_value(), has_rows(kind), "rows", "a sphere, a hemisphere and a plane");
  check.useless(!array.counts.empty(), has_rings(kind), "counts", "a sphere and a hemisphere");
  check.useless(array.radius.has_value(), !flat, "radius", "a ring, an arc, a sphere and a hemisphere");
  check.useless(array.angles.has_value(), !flat, "angles", "a ring, an arc, a sphere and a hemisphere");
  check.useless(array.positions.has_value(), kind == DetectorKind::arc, "positions", "an arc");
  check.useless(array.azimuths.has_value(), kind == DetectorKind::arc, "azimuths", "an arc");
  check.useless(array.pitch.has_value(), flat, "pitch", "a plane and a line");
  check.useless(array.row_pitch.has_value(), kind == DetectorKind::plane, "row_pitch", "a plane");
  if (!array.counts.empty() && array.count) check.refuse("counts", "a count beside it", "one of both");

  const std::size_t rows = rows_of(array);
  check.count("rows", rows, limits.elements);
  if (!array.counts.empty() && array.counts.size() != rows) {
    check.refuse("counts", fmt::format("{} for {} rings", array.counts.size(), rows), "one for each");
  }
  std::size_t elements = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    check.count(array.counts.empty() ? "count" : "counts", count_of(array, row), limits.elements);
    elements += count_of(array, row);
  }
  if (elements > limits.elements) {
    check.refuse(array.counts.empty() ? "count" : "counts", fmt::format("{} detectors in all", elements),
                 fmt::format("at most {}", limits.elements));
  }
  check.count("positions", azimuths_of(array), limits.positions);

  check.length("radius", array.radius, 1e-4, 10.0);
  check.length("pitch", array.pitch, 1e-6, 0.1);
  check.length("row_pitch", array.row_pitch, 1e-6, 0.1);
  check.length("element_width", array.element_width, 0.0, 0.2);
  check.length("element_length", array.element_length, 0.0, 0.2);
  for (const Metres part : array.centre) check.length("centre", part, -10.0, 10.0);
  const bool turns = kind == DetectorKind::ring;
  check.ends("angles", array.angles, has_rings(kind) ? rows : count_of(array, 0), turns ? -360.0 : 0.0, turns ? 360.0 : 180.0);
  check.ends("azimuths", array.azimuths, azimuths_of(array), -360.0, 360.0);
}

DetectorPlaces places_of(const DetectorArray& array) {
  DetectorPlaces places;
  if (is_flat(array.kind)) {
    places.probe = flat_probe(array);
    return places;
  }
  if (has_rings(array.kind)) {
    const std::size_t rows = rows_of(array);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t count = count_of(array, row);
      for (std::size_t k = 0; k < count; ++k) {
        const double azimuth = 360.0 * static_cast<double>(k) / static_cast<double>(count);
        places.probe.elements.push_back(facing_inwards(array, angle_of(array, row, rows), azimuth));
      }
    }
    return places;
  }
  // The arc rotates about the z axis through its centre, which is the origin of its own coordinates.
  DetectorArray still = array;
  const std::size_t azimuths = azimuths_of(array);
  if (azimuths > 1) still.centre = {};
  const std::size_t count = count_of(array, 0);
  const double alone = azimuths == 1 && array.azimuths ? array.azimuths->front() : 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    places.probe.elements.push_back(facing_inwards(still, angle_of(array, k, count), alone));
  }
  if (azimuths == 1) return places;
  for (std::size_t m = 0; m < azimuths; ++m) {
    const double azimuth = radians(array.azimuths ? spread_between(*array.azimuths, m, azimuths)
                                                  : 360.0 * static_cast<double>(m) / static_cast<double>(azimuths));
    places.positions.push_back(
        {centre_of(array), {std::cos(azimuth), std::sin(azimuth), 0.0}, {-std::sin(azimuth), std::cos(azimuth), 0.0}});
  }
  return places;
}

Acquisition acquisition_of_detectors(const DetectorArray& array, std::span<const PassiveEvent> pulses,
                                     std::span<const Pose> positions) {
  DetectorPlaces places = places_of(array);
  Acquisition acquisition;
  acquisition.probe = std::move(places.probe);
  acquisition.positions = std::move(places.positions);
  if (acquisition.positions.empty()) acquisition.positions.assign(positions.begin(), positions.end());
  const PassiveEvent unknown;
  if (pulses.empty()) pulses = {&unknown, 1};
  const std::size_t count = std::max<std::size_t>(1, acquisition.positions.size());
  for (std::uint32_t position = 0; position < count; ++position) {
    for (const PassiveEvent& pulse : pulses) acquisition.events.push_back({pulse, {}, position});
  }
  return acquisition;
}

}  // namespace echoform
