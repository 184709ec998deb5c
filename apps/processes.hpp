// Commands that several processes run together (mpirun -n K echoform ...).
#pragma once

#include "base/function_ref.hpp"
#include "jobs/communicator.hpp"

namespace echoform {

/// Runs `work` with the processes that mpirun has started, or this one alone; its exit code. Where there are several, rank 0
/// speaks for all. An InputError or RuntimeFault must be one of all processes (jobs/together.hpp), anything else that is thrown
/// ends them.
[[nodiscard]] int run_processes(FunctionRef<void(Communicator&)> work);

}  // namespace echoform
