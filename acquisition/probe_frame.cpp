#include "acquisition/probe_frame.hpp"

#include <algorithm>
#include <cmath>

#include "base/directions.hpp"

namespace echoform {

Point ProbeFrame::to_probe(const Point& global) const {
  const Direction from = between(origin, global);
  return {Metres(dot(from, x)), Metres(dot(from, y)), Metres(dot(from, z))};
}

Point ProbeFrame::to_global(const Point& in_probe) const {
  const Direction moved = to_global(Direction{in_probe.x.value, in_probe.y.value, in_probe.z.value});
  return {origin.x + Metres(moved.x), origin.y + Metres(moved.y), origin.z + Metres(moved.z)};
}

Direction ProbeFrame::to_global(const Direction& in_probe) const {
  return {in_probe.x * x.x + in_probe.y * y.x + in_probe.z * z.x, in_probe.x * x.y + in_probe.y * y.y + in_probe.z * z.y,
          in_probe.x * x.z + in_probe.y * y.z + in_probe.z * z.z};
}

ProbeFrame frame_of(const Probe& probe) {
  ProbeFrame frame;
  Direction normal{0.0, 0.0, 0.0};
  const auto count = static_cast<double>(probe.elements.size());
  for (const Element& element : probe.elements) {
    frame.origin.x += element.centre.x;
    frame.origin.y += element.centre.y;
    frame.origin.z += element.centre.z;
    normal = {normal.x + element.normal.x, normal.y + element.normal.y, normal.z + element.normal.z};
  }
  frame.origin = {frame.origin.x / count, frame.origin.y / count, frame.origin.z / count};
  // Elements emit towards +z, so the mean is neither 0 nor along the x axis.
  frame.z = unit(normal);
  frame.x = unit(across(probe.x_axis, frame.z));
  frame.y = cross(frame.z, frame.x);
  return frame;
}

Metres flatness(const Probe& probe, const ProbeFrame& frame) {
  Metres most;
  for (const Element& element : probe.elements) most = std::max(most, Metres(std::abs(frame.to_probe(element.centre).z.value)));
  return most;
}

bool is_flat(const Probe& probe, const ProbeFrame& frame) {
  return flatness(probe, frame) <= flat_array_tolerance;
}

}  // namespace echoform
