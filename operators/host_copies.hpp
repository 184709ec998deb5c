// Long vectors between the host's memory and a device's. For *_cuda.cpp files.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/thread_team.hpp"
#include "gpu/stream.hpp"
#include "operators/model_on_device.hpp"

namespace echoform::gpu {

/// Memory of solvers is pageable, from which the driver copies at a fifth of what the bus gives. Here a team copies into pinned
/// memory and out of it, piece by piece, while the piece before is under way.
class HostCopies {
 public:
  /// Both outlive this. Throws RuntimeFault if there is no pinned memory.
  HostCopies(const ModelDevice& device, ThreadTeam& team);

  // Copies follow what is queued on the device's stream; the device is the current one.
  /// `from` has been read when the function returns. The values are at `to` once the stream has carried out the copy.
  void to_device(float* to, std::span<const float> from);
  /// The copy has been made when the function returns, and all that was queued is done.
  void to_host(std::span<float> to, const float* from);

 private:
  static constexpr std::size_t pieces = 2;
  static constexpr std::size_t piece_values = std::size_t{1} << 21;

  void copy(float* to, const float* from, std::size_t count) const noexcept;

  const ModelDevice& device_;
  ThreadTeam& team_;
  Buffer memory_[pieces];
  Event done_[pieces];
};

}  // namespace echoform::gpu
