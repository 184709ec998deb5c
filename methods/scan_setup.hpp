// The setup of a scan, for every method: the setups of its positions, and what becomes of their images.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "acquisition/frame_stamp.hpp"
#include "acquisition/pose.hpp"
#include "methods/method.hpp"

namespace echoform {

/// The setup of a scan, for configurations of which scans() is true. Outputs are on the whole of [grid]. The method
/// resolves the images of a position, with the probe where it is then and the part of the grid that is covered from there.
/// Throws InputError as check_scan() and the method do, for a display grid of its own, for complex images of a scan that is
/// not coherent, and where the scan's image needs more of the host's memory than there is.
[[nodiscard]] std::shared_ptr<ImagingSetup> resolve_scan(const Method& method, const ImagingRequest& request);

/// Method::retuned() for the setup of a scan: it changes how the scan's image is shown and what is made of it, but not the
/// image that has been collected.
[[nodiscard]] std::shared_ptr<const ImagingSetup> retuned_scan(const Method& method, const ImagingSetup& before,
                                                               const ImagingSettings& wanted, std::uint64_t settings_revision);

/// The poses at counts of the encoder of a probe whose own coordinates are those of the part at s = 0. Recordings of a scan
/// state these. Throws as check_scan_path(), scan_motion() and apply_overrides(). For configurations of which scans() is
/// true.
[[nodiscard]] std::function<Pose(EncoderCount)> scan_poses(const ImagingSettings& settings, const Acquisition& acquisition);

}  // namespace echoform
