// What of the host's memory a plan comes to.
#pragma once

#include <memory>

#include "methods/tfm/setup.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform::test {

/// Bytes of host memory on the CPU with one thread. With more threads each has a workspace of its own.
inline double host_bytes(std::shared_ptr<const ImagingPlan> plan, std::size_t slots = 1) {
  return static_cast<double>(host_memory(*make_imaging_setup(std::move(plan)), slots, {BackendKind::cpu, 1}));
}

}  // namespace echoform::test
