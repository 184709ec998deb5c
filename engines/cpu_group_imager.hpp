// Frames by groups on the CPU: the threads that image read between two pieces of imaging, so that as many threads as there
// are processors do both.
#pragma once

#include "engines/group_imager.hpp"

namespace echoform {

[[nodiscard]] std::unique_ptr<GroupImager> make_cpu_group_imager(std::shared_ptr<const ImagingSetup> setup,
                                                                 const BackendChoice& choice, std::size_t read_ahead);

}  // namespace echoform
