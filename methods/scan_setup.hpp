// The setup of a scan, whatever the method: that of its positions, and what becomes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "acquisition/frame_stamp.hpp"
#include "acquisition/pose.hpp"
#include "methods/method.hpp"

namespace echoform {

/// For configurations of which scans() is true. Outputs are on the whole of [grid]; images of a position are resolved by the
/// method, with the probe where it is then and the part of the grid that is covered from there. Throws InputError as check_scan()
/// and the method, for a display grid of its own, for complex images of a scan that is not coherent, and where the scan's image
/// needs more of the host's memory than there is.
[[nodiscard]] std::shared_ptr<ImagingSetup> resolve_scan(const Method& method, const ImagingRequest& request);

/// Method::retuned() of the setup of a scan: how its image is shown changes, and what is made of it, not what it has grown to.
[[nodiscard]] std::shared_ptr<const ImagingSetup> retuned_scan(const Method& method, const ImagingSetup& before,
                                                               const ImagingSettings& wanted, std::uint64_t settings_revision);

/// Where counts of the encoder put a probe whose own coordinates are the part's at s = 0: what recordings of a scan state. Throws
/// as check_scan_path(), scan_motion() and apply_overrides(). Of configurations of which scans() is true.
[[nodiscard]] std::function<Pose(EncoderCount)> scan_poses(const ImagingSettings& settings, const Acquisition& acquisition);

}  // namespace echoform
