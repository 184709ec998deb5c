// The CPU backend: ordinary memory, and a thread team as the queue.
#pragma once

#include <memory>
#include <string_view>

#include "cpu/thread_team.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// Makes a CPU backend. Its queues are ThreadTeams of `threads` members; `threads` and `pin` have the meanings of
/// ThreadTeam's constructor.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(std::size_t threads = 0, bool pin = false);

/// The team behind a queue of the CPU backend.
[[nodiscard]] inline ThreadTeam& team_of(ExecutionQueue& queue) {
  return static_cast<ThreadTeam&>(queue);
}

/// Number of members of the teams that `backend`, a CPU backend, makes. Stages allocate scratch memory for as many.
[[nodiscard]] std::size_t team_size(const Backend& backend);
[[nodiscard]] inline std::size_t team_size(const StageSite& site) {
  return site.threads != 0 ? site.threads : usable_processors();
}

/// Instruction sets that the processor and the operating system offer. ECHOFORM_SIMD (portable, avx2, avx512) in the
/// environment lowers the level for tests and comparisons.
enum class SimdLevel : unsigned char { portable, avx2, avx512 };
[[nodiscard]] SimdLevel simd_level();
[[nodiscard]] std::string_view to_string(SimdLevel level);

}  // namespace echoform
