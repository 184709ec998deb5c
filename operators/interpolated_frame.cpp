#include "operators/interpolated_frame.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "operators/model_geometry.hpp"

namespace echoform::interpolated {

DetectorFrame frame_of(const Detector& detector, const Grid& grid) {
  const double spacing = voxel_spacing(grid).value;
  const std::array<Axis, 3> axes{grid.x, grid.y, grid.z};
  const std::array<Metres, 3> place{detector.centre.x, detector.centre.y, detector.centre.z};
  DetectorFrame frame{};
  std::array<double, 3> outward{};  // from the grid's middle
  for (std::size_t a = 0; a < 3; ++a) {
    const double middle = 0.5 * (static_cast<double>(axes[a].count) + 1.0);
    frame.place[a] = (place[a] - axes[a].first).value / spacing + 1.0;
    outward[a] = frame.place[a] - middle;
    frame.reach += middle * middle;
  }
  frame.reach = std::sqrt(frame.reach);
  frame.distance = std::hypot(outward[0], outward[1], outward[2]);
  for (std::size_t a = 0; a < 3; ++a) {
    outward[a] /= frame.distance;
    frame.inward[a] = -outward[a];
  }
  // Directions of increasing polar angle and of increasing azimuth at the detector, as seen from the grid's middle.
  const double level = std::hypot(outward[0], outward[1]);
  frame.e2[0] = level > 0.0 ? -outward[1] / level : 0.0;
  frame.e2[1] = level > 0.0 ? outward[0] / level : 1.0;
  frame.e1[0] = frame.e2[1] * outward[2];
  frame.e1[1] = -frame.e2[0] * outward[2];
  frame.e1[2] = frame.e2[0] * outward[1] - frame.e2[1] * outward[0];
  for (std::size_t a = 0; a < 3; ++a) {
    frame.phase[a] = std::atan2(frame.e2[a], frame.e1[a]);
    frame.span[a] = std::hypot(frame.e1[a], frame.e2[a]);
  }
  return frame;
}

}  // namespace echoform::interpolated
