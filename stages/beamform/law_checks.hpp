// What every backend asks of a delay law before it makes tables of it, and how it refuses one.
#pragma once

#include <cstddef>

#include "cpu/thread_team.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform::beamform {

/// Delays of one side beyond this many samples are refused: two of them and their reach still add up in 32 bits, and it is
/// far above any A-scan.
inline constexpr double delay_limit = 1 << 28;

/// Throws InputError where weights by directivity lack the velocity that they need.
void check_directivity(const BeamformOptions& options);

/// Whether some pixel of the grid is out of some source's reach. Legs of which every source has an analytic form are not
/// evaluated: they reach every pixel. Nor are those of which some source is known to reach none.
[[nodiscard]] bool has_invalid_times(const DelayLaw& law, const Grid& grid, ThreadTeam& team);

/// Throws InputError: the source's times are infinite, or 1 s and more.
[[noreturn]] void refuse_times(const DelayLaw& law, std::size_t source);
/// Throws InputError: the source's delays are beyond delay_limit.
[[noreturn]] void refuse_distance(const DelayLaw& law, std::size_t source);

}  // namespace echoform::beamform
