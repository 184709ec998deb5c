// Errors of one process as errors of all.
#pragma once

#include "base/function_ref.hpp"
#include "jobs/communicator.hpp"

namespace echoform {

/// Every process does its work, which calls nothing of the communicator. Where it fails on any process, every process
/// throws what the lowest rank of the failed ones has thrown: InputError as such, anything else as RuntimeFault.
void together(Communicator& communicator, FunctionRef<void()> work);

}  // namespace echoform
