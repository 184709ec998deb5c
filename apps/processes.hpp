// Commands that several processes run together (mpirun -n K echoform ...).
#pragma once

#include "base/function_ref.hpp"
#include "config/configuration.hpp"
#include "jobs/communicator.hpp"

namespace echoform {

/// Runs `work` with the processes that mpirun has started, or this one alone; its exit code. Where there are several, rank 0
/// speaks for all. An InputError or RuntimeFault must be one of all processes (jobs/together.hpp), anything else that is thrown
/// ends them.
[[nodiscard]] int run_processes(FunctionRef<void(Communicator&)> work);

/// The processes of a host share out its GPUs, from the stated one on; with more processes than GPUs some have one together.
void take_device_of_host(ImagingSection& imaging, const Communicator& communicator);

}  // namespace echoform
