// What of the host's memory a setup takes, reckoned before anything of it is taken.
#pragma once

#include <cstddef>

#include "pipeline/imaging_setup.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// Bytes: what the recipe's stages state, blocks between them on the CPU, received samples and results of `slots` frames, and the
/// tables that the setup shares among its stages. Of tables that are not made yet their size is stated too. Throws InputError if
/// a stage refuses its inputs.
[[nodiscard]] std::size_t host_memory(const ImagingSetup& setup, std::size_t slots, const StageSite& site);

/// Groups whose A-scans are there at a time at least: one is imaged while the next is read.
inline constexpr std::size_t least_read_ahead = 2;
/// Bytes of a pixel of a view of what is made of the groups' sum, in single precision.
inline constexpr std::size_t bytes_of_summed_image = 8 + 4;
/// Likewise of the sum itself, in double precision, which is on the device on CUDA.
inline constexpr std::size_t bytes_of_summed_pixel = 16;

/// The same of imaging by setup.groups, which are there, while the A-scans of `read_ahead` groups are kept, those of the group
/// that is imaged among them.
[[nodiscard]] std::size_t grouped_memory(const ImagingSetup& setup, std::size_t read_ahead, const StageSite& site);

}  // namespace echoform
