// Where an operator works.
#pragma once

#include "cpu/cpu_backend.hpp"
#include "cpu/thread_team.hpp"
#include "pipeline/backend.hpp"

namespace echoform {

/// Where an operator works: on the CPU by a team of threads, or on a GPU. The team outlives the operator in both cases.
struct OperatorSite {
  OperatorSite(ThreadTeam& of_threads) : team(&of_threads) {}  // NOLINT(google-explicit-constructor): the CPU is what is usual
  OperatorSite(ThreadTeam& of_threads, BackendKind kind, int on_device) : team(&of_threads), backend(kind), device(on_device) {}

  ThreadTeam* team;
  BackendKind backend = BackendKind::cpu;
  int device = 0;                  ///< of CUDA
  SimdLevel level = simd_level();  ///< of the CPU; at most that
};

}  // namespace echoform
