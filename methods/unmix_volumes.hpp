// Spectral unmixing of volumes, by one run of the stages of live images.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "cpu/thread_team.hpp"
#include "methods/unmixing_settings.hpp"

namespace echoform {

struct UnmixedVolumes {
  std::vector<float> concentrations;  ///< [component, z, y, x], as stages/unmixing/ has them
  std::vector<float> saturation;      ///< [z, y, x], as stages/unmixed_image/ has it; empty where there is none
};

/// Unmixes volumes [z, y, x] of `grid`, one for each of the plan's wavelengths, in their order.
[[nodiscard]] UnmixedVolumes unmix_volumes(const UnmixingPlan& plan, std::span<const std::vector<float>> volumes,
                                           const Grid& grid, ThreadTeam& team);

}  // namespace echoform
