// Processes of one host share out its GPUs.
#pragma once

#include "config/configuration.hpp"
#include "jobs/communicator.hpp"

namespace echoform {

/// Each process gets a GPU of its host, from the stated one on; with more processes than GPUs some share one. Changes
/// nothing for a single process.
void take_device_of_host(ImagingSection& imaging, const Communicator& communicator);

}  // namespace echoform
