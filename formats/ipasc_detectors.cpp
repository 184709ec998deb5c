#include "formats/ipasc_detectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "formats/hdf5_names.hpp"

namespace echoform::formats {
namespace {

// Shorter vectors count as 0.
constexpr double least_normal = 1e-9;
constexpr double farthest_detector = 1e3;  // metres

Direction vector_in(const IpascGroup& detector, const char* name, const std::vector<double>& values) {
  if (values.size() != 3) throw InputError(detector.where(name), fmt::format("{} values", values.size()), "3");
  return {values[0], values[1], values[2]};
}

/// Numbers of detectors that are not stated as rectangles. Circles become squares of the same area, all others become points.
struct SizeCounts {
  std::size_t circles = 0;
  std::size_t points = 0;
};

void read_size(const IpascGroup& detector, Element& element, SizeCounts& counts) {
  constexpr const char* name = "detector_geometry";
  const std::string kind = detector.text("detector_geometry_type").value_or("CUBOID");
  if ((kind != "CUBOID" && kind != "CIRCULAR") || !detector.states(name)) {
    ++counts.points;
    return;
  }
  const bool circle = kind == "CIRCULAR";
  const auto sizes = detector.numbers(name, circle ? 1 : 3);
  if (!sizes) return;
  if (!circle) static_cast<void>(vector_in(detector, name, *sizes));
  for (const double size : *sizes) {
    if (size < 0.0) throw InputError(detector.where(name), fmt::format("{} m", size), "sizes of at least 0");
  }
  counts.circles += circle ? 1 : 0;
  element.width = Metres(circle ? std::sqrt(std::numbers::pi) * (*sizes)[0] : (*sizes)[0]);
  element.length = circle ? element.width : Metres((*sizes)[1]);
}

Point mean_of(const std::vector<Element>& elements) {
  Point mean;
  for (const Element& element : elements) {
    mean.x += element.centre.x;
    mean.y += element.centre.y;
    mean.z += element.centre.z;
  }
  const auto count = static_cast<double>(elements.size());
  return {mean.x / count, mean.y / count, mean.z / count};
}

/// The direction across the line on which all elements stand, towards +z. Nothing if they stand on no line, at one place, or
/// along z.
std::optional<Direction> ahead_of_line(const std::vector<Element>& elements) {
  constexpr double off_line = 10e-6;  // metres: single precision
  const auto far_from = [&](const Point& from) {
    return *std::ranges::max_element(elements, {}, [&](const Element& e) { return length(between(from, e.centre)); });
  };
  const Point first = far_from(elements.front().centre).centre;
  const Direction line = between(first, far_from(first).centre);
  if (!(length(line) > off_line)) return std::nullopt;
  const Direction along = unit(line);
  for (const Element& element : elements) {
    if (length(across(between(first, element.centre), along)) > off_line) return std::nullopt;
  }
  const Direction ahead = across(Direction{0.0, 0.0, 1.0}, along);
  return length(ahead) > 0.1 ? std::optional(unit(ahead)) : std::nullopt;
}

}  // namespace

IpascDetectors read_ipasc_detectors(const Hdf5Handle& file, const std::string& file_name, std::size_t most) {
  const IpascGroup device = IpascGroup::require(file, ipasc_device, file_name + ": ");
  const IpascGroup all = IpascGroup::require(device.handle(), "detectors", device.where());
  const std::vector<std::string> names = names_by_number(all.handle(), most, "detectors", all.where());
  if (Hdf5Handle general = open_own_group(device.handle(), "general")) {
    const IpascGroup stated(std::move(general), device.where() + "/general");
    const auto count = stated.number("num_detectors");
    if (count && *count != static_cast<double>(names.size())) {
      throw InputError(stated.where("num_detectors"), fmt::format("{}", *count),
                       fmt::format("{}, the detectors in {}", names.size(), all.where()));
    }
  }
  IpascDetectors found;
  std::vector<std::size_t> unstated;
  SizeCounts counts;
  for (const std::string& name : names) {
    const IpascGroup detector = IpascGroup::require(all.handle(), name, all.where());
    Element element;
    const auto position = detector.numbers("detector_position", 3);
    if (!position) throw InputError(detector.where(), "no detector_position", "where the detector is, in metres");
    const Direction centre = vector_in(detector, "detector_position", *position);
    if (!(length(centre) <= farthest_detector)) {
      throw InputError(detector.where("detector_position"), fmt::format("a place {:.3g} m away", length(centre)),
                       fmt::format("metres, up to {:g}", farthest_detector));
    }
    element.centre = {Metres(centre.x), Metres(centre.y), Metres(centre.z)};
    const auto orientation = detector.numbers("detector_orientation", 3);
    const Direction normal = orientation ? vector_in(detector, "detector_orientation", *orientation) : Direction{0.0, 0.0, 0.0};
    if (const double size = length(normal); size > least_normal && std::isfinite(size)) {
      element.normal = unit(normal);
    } else {
      unstated.push_back(found.elements.size());
    }
    read_size(detector, element, counts);
    found.elements.push_back(element);
  }
  const Point mean = mean_of(found.elements);
  std::size_t away = 0;
  for (const Element& element : found.elements) away += dot(element.normal, between(element.centre, mean)) < 0.0 ? 1 : 0;
  const std::optional<Direction> ahead = ahead_of_line(found.elements);
  for (const std::size_t place : unstated) {
    Element& element = found.elements[place];
    const Direction inward = between(element.centre, mean);
    element.normal = ahead ? *ahead : length(inward) > least_normal ? unit(inward) : Direction{};
  }
  if (unstated.empty() && away == names.size()) {
    found.warnings.push_back(fmt::format(
        "{}: all detectors look away from their middle (detector_orientation points at what a detector hears)", all.where()));
  }
  if (!unstated.empty()) {
    found.notes.push_back(fmt::format("{} detector{} without orientation {} {}", unstated.size(), unstated.size() == 1 ? "" : "s",
                                      unstated.size() == 1 ? "faces" : "face",
                                      ahead ? "+z, across their line" : "the middle of all"));
  }
  if (counts.circles > 0) found.notes.push_back(fmt::format("{} round detectors count as squares of their area", counts.circles));
  if (counts.points > 0) found.notes.push_back(fmt::format("{} detectors count as points", counts.points));
  return found;
}

}  // namespace echoform::formats
