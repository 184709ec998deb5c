// The checks of a delay law that every backend makes before it builds tables, and the errors that refuse a law.
#pragma once

#include <cstddef>

#include "cpu/thread_team.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform::beamform {

/// Delays of one side beyond this many samples are refused: two delays and their reach still add up in 32 bits. The limit is
/// far above the length of any A-scan.
inline constexpr double delay_limit = 1 << 28;

/// Throws InputError where weights by directivity lack the velocity that they need.
void check_directivity(const BeamformOptions& options);

/// Whether some pixel of the grid is out of some source's reach. Legs whose sources all have an analytic form are not
/// evaluated, since they reach every pixel. Legs with a source that is known to reach no pixel are not evaluated either.
[[nodiscard]] bool has_invalid_times(const DelayLaw& law, const Grid& grid, ThreadTeam& team);

/// Throws InputError: the source's times are infinite, or 1 s and more.
[[noreturn]] void refuse_times(const DelayLaw& law, std::size_t source);
/// Throws InputError: the source's delays are beyond delay_limit.
[[noreturn]] void refuse_distance(const DelayLaw& law, std::size_t source);

}  // namespace echoform::beamform
