#include "acquisition/detectors.hpp"

#include <cmath>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "acquisition/positions.hpp"
#include "base/directions.hpp"

namespace echoform {
namespace {

// An axis whose component across a normal has a sine below this one is parallel to the normal up to rounding.
constexpr double least_across = 1e-6;

Detector detector_of(const Element& element, const Direction& x_axis) {
  Detector detector;
  detector.centre = element.centre;
  detector.normal = unit(element.normal);
  // An element that faces along the x axis stands in a ring about y, or in an arc about z. Its width is a part of that ring or
  // arc, along z.
  for (const Direction& axis : {x_axis, Direction{0.0, 0.0, 1.0}, Direction{1.0, 0.0, 0.0}}) {
    const Direction part = across(axis, detector.normal);
    if (std::hypot(part.x, part.y, part.z) <= least_across) continue;
    detector.across = unit(part);
    break;
  }
  detector.width = element.width;
  detector.length = element.length;
  detector.dead = element.dead;
  return detector;
}

}  // namespace

std::vector<Detector> detectors_of(const Acquisition& acquisition) {
  std::vector<std::vector<Detector>> at;  // [position][element]
  const auto add = [&](const Probe& probe) {
    std::vector<Detector>& detectors = at.emplace_back();
    for (const Element& element : probe.elements) detectors.push_back(detector_of(element, probe.x_axis));
  };
  if (acquisition.positions.empty()) add(acquisition.probe);
  for (const Pose& pose : acquisition.positions) {
    // Here the sizes stay with the element's own axes, which rotate with the element.
    Probe probe = placed(acquisition.probe, pose);
    for (std::size_t k = 0; k < probe.elements.size(); ++k) {
      probe.elements[k].width = acquisition.probe.elements[k].width;
      probe.elements[k].length = acquisition.probe.elements[k].length;
    }
    add(probe);
  }
  std::vector<Detector> rows;
  for (const auto& [event, receiver] : FrameLayout(acquisition).pairs()) {
    const std::uint32_t position = acquisition.events.empty() ? 0 : acquisition.events[event].position;
    rows.push_back(at[position][receiver]);
  }
  return rows;
}

}  // namespace echoform
