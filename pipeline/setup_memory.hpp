// The host's memory that a setup takes, computed before any of it is allocated.
#pragma once

#include <cstddef>

#include "pipeline/imaging_setup.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// The bytes of what the recipe's stages state, of the blocks between them on the CPU, of received samples and results of
/// `slots` frames, and of the tables that the setup shares among its stages. Tables that are not made yet count with their
/// stated size. Throws InputError if a stage refuses its inputs.
[[nodiscard]] std::size_t host_memory(const ImagingSetup& setup, std::size_t slots, const StageSite& site);

/// The minimum number of groups whose A-scans are held at a time: one is imaged while the next is read.
inline constexpr std::size_t least_read_ahead = 2;
/// Bytes of a pixel of one view that is made of the groups' sum, in single precision.
inline constexpr std::size_t bytes_of_summed_image = 8 + 4;
/// Bytes of a pixel of the sum itself, in double precision; on CUDA the sum is on the device.
inline constexpr std::size_t bytes_of_summed_pixel = 16;

/// The same for imaging by setup.groups, which must not be null. The A-scans of `read_ahead` groups are kept, including
/// those of the group that is imaged.
[[nodiscard]] std::size_t grouped_memory(const ImagingSetup& setup, std::size_t read_ahead, const StageSite& site);

}  // namespace echoform
