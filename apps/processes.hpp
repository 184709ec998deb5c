// Commands that several processes run together (mpirun -n K echoform ...).
#pragma once

#include "base/function_ref.hpp"
#include "jobs/communicator.hpp"

namespace echoform {

/// Runs `work` with the processes that mpirun has started, or with this one alone, and returns the exit code. With several
/// processes, rank 0 prints for all. An InputError or RuntimeFault must be thrown by all processes (jobs/together.hpp); any
/// other exception ends them all.
[[nodiscard]] int run_processes(FunctionRef<void(Communicator&)> work);

}  // namespace echoform
