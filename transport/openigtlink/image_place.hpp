// Where images and probes are, in the terms of OpenIGTLink: in mm, in RAS coordinates (base/anatomical_axes.hpp).
#pragma once

#include <functional>
#include <optional>

#include "acquisition/frame_stamp.hpp"
#include "acquisition/pose.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/anatomical_axes.hpp"
#include "base/grid.hpp"
#include "pipeline/imaging_setup.hpp"
#include "transport/openigtlink/messages.hpp"

namespace echoform::openigtlink {

/// Size and matrix of an image [z, x], whose i runs along x, j along z and k along -y, and of a volume [z, y, x], whose i, j
/// and k run along x, y and z. Nothing where an axis has more than 65535 pixels, which messages cannot express. `real` keeps
/// its default.
[[nodiscard]] std::optional<ImageHead> head_of(const Grid& grid, const PixelPlaces& places);

/// Where the probe of a setup is.
class ProbePlace {
 public:
  ProbePlace() = default;
  explicit ProbePlace(const ImagingSetup& setup);

  /// The transformation from the probe's coordinates to RAS, for a frame with this encoder count. In the probe's coordinates
  /// x runs along the array and z away from it, and the origin is the mean of the elements' centres. Nothing where frames
  /// have several positions of the probe, where the probe faces no direction (as detectors all around do), and in scans
  /// without a count.
  [[nodiscard]] std::optional<Matrix> at(std::optional<EncoderCount> count) const;

 private:
  std::optional<ProbeFrame> probe_;
  std::function<Pose(EncoderCount)> pose_;  // of scans
};

}  // namespace echoform::openigtlink
