// Frames by groups on CUDA. A thread reads groups into pinned memory. Meanwhile the groups before are uploaded, imaged and
// added on the device, one after the other. Images are those of the float path, whatever [imaging] accuracy is.
#pragma once

#include "engines/group_imager.hpp"

namespace echoform {

/// Makes the imager on choice.device. Throws RuntimeFault if the device is not available, or if its memory does not hold
/// two groups, tables and sums: then the line states how much is needed and how much is free.
[[nodiscard]] std::unique_ptr<GroupImager> make_cuda_group_imager(std::shared_ptr<const ImagingSetup> setup,
                                                                  const BackendChoice& choice, std::size_t read_ahead);

}  // namespace echoform
