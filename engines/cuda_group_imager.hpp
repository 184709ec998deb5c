// Frames by groups on CUDA: a thread reads into pinned memory, and groups go up, are imaged and are added on the device one after
// the other, while the next are read. Images are the float path's whatever [imaging] accuracy is.
#pragma once

#include "engines/group_imager.hpp"

namespace echoform {

/// On choice.device. RuntimeFault if the device is not to be had or its memory does not hold two groups, tables and sums: then
/// the line says how much is needed, and what is free.
[[nodiscard]] std::unique_ptr<GroupImager> make_cuda_group_imager(std::shared_ptr<const ImagingSetup> setup,
                                                                  const BackendChoice& choice, std::size_t read_ahead);

}  // namespace echoform
