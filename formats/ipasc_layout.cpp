#include "formats/ipasc_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "acquisition/frame_layout.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform::formats {
namespace {

// Tolerance of a cosine or a sine, within which two directions count as parallel or perpendicular.
constexpr double same_direction = 1e-6;

/// A row of one wavelength; position and element together make the detector.
struct DetectorRow {
  std::uint32_t position = 0;
  std::uint32_t element = 0;
  std::size_t row = 0;

  [[nodiscard]] auto detector() const { return std::pair(position, element); }
};

struct Wavelength {
  PassiveEvent light;
  std::vector<DetectorRow> rows;
};

std::vector<Wavelength> wavelengths_of(const Acquisition& acquisition) {
  const FrameLayout layout(acquisition);
  const std::vector<EventReceiver> pairs = layout.pairs();
  std::vector<Wavelength> wavelengths;
  std::map<std::tuple<double, double, std::size_t>, std::size_t> places;         // index in `wavelengths` of a light's repetition
  std::map<std::tuple<double, double, std::uint32_t>, std::size_t> repetitions;  // number of pulses of a light at a position
  for (std::size_t event = 0; event < acquisition.events.size(); ++event) {
    const std::uint32_t position = acquisition.events[event].position;
    const auto& light = std::get<PassiveEvent>(acquisition.events[event].form);
    const std::size_t repetition = repetitions[{light.wavelength.value, light.pulse_energy, position}]++;
    const auto [place, fresh] = places.try_emplace({light.wavelength.value, light.pulse_energy, repetition}, wavelengths.size());
    if (fresh) wavelengths.push_back({light, {}});
    const RowRange shot = layout.shot(event);
    for (std::size_t row = shot.first; row < shot.first + shot.count; ++row)
      wavelengths[place->second].rows.push_back({position, pairs[row].receiver, row});
  }
  for (Wavelength& wavelength : wavelengths) std::ranges::sort(wavelength.rows, {}, &DetectorRow::detector);
  return wavelengths;
}

/// Readers take the width along x, as far as x is across the direction that a detector faces; detectors_of() does the same for a
/// probe whose axis is x.
Detector as_cuboid(Detector detector, std::size_t place, const std::string& where) {
  Direction usual = across({1.0, 0.0, 0.0}, detector.normal);
  if (length(usual) <= same_direction) usual = across({0.0, 0.0, 1.0}, detector.normal);
  const double cosine = std::abs(dot(unit(usual), detector.across));
  if (detector.width == detector.length || cosine >= 1.0 - same_direction) return detector;
  if (cosine > same_direction) {
    throw InputError(where, fmt::format("detector {}, a rectangle turned about what it faces", place),
                     "points, squares, or rectangles along the axes (.efcap holds others)");
  }
  std::swap(detector.width, detector.length);
  return detector;
}

}  // namespace

IpascLayout ipasc_layout(const Acquisition& acquisition, const std::string& where) {
  if (!all_passive(acquisition.events)) {
    throw InputError(where, "events that transmit", "passive events, all that IPASC files hold (.mfmc and .efcap hold others)");
  }
  const std::vector<Wavelength> wavelengths = wavelengths_of(acquisition);
  const std::vector<Detector> of_rows = detectors_of(acquisition);
  IpascLayout layout;
  for (const DetectorRow& row : wavelengths.front().rows)
    layout.detectors.push_back(as_cuboid(of_rows[row.row], layout.detectors.size(), where));
  for (const Wavelength& wavelength : wavelengths) {
    if (!std::ranges::equal(wavelength.rows, wavelengths.front().rows, {}, &DetectorRow::detector, &DetectorRow::detector)) {
      throw InputError(where, "wavelengths that other detectors record", "the same detectors for all (.efcap holds others)");
    }
    layout.light.push_back(wavelength.light);
    for (const DetectorRow& row : wavelength.rows) layout.rows.push_back(row.row);
  }
  return layout;
}

}  // namespace echoform::formats
