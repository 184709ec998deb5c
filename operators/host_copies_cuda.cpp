#include "operators/host_copies.hpp"

#include <algorithm>
#include <cstring>

namespace echoform::gpu {
namespace {

/// Number of values that a thread copies at a time.
constexpr std::size_t grain = std::size_t{1} << 16;

}  // namespace

HostCopies::HostCopies(const ModelDevice& device, ThreadTeam& team) : device_(device), team_(team) {
  for (std::size_t k = 0; k < pieces; ++k) {
    memory_[k] = device.backend().allocate(piece_values * sizeof(float), MemoryUse::readback);
    done_[k] = make_event();
  }
}

void HostCopies::copy(float* to, const float* from, std::size_t count) const noexcept {
  team_.for_each(count, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    std::memcpy(to + first, from + first, (last - first) * sizeof(float));
  });
}

void HostCopies::to_device(float* to, std::span<const float> from) {
  for (std::size_t begin = 0, k = 0; begin < from.size(); begin += piece_values, k = (k + 1) % pieces) {
    const std::size_t count = std::min(piece_values, from.size() - begin);
    auto* const pinned = static_cast<float*>(memory_[k].data());
    // The event belongs to the piece two before this one, or to an earlier copy.
    ECHOFORM_CUDA(cudaEventSynchronize(done_[k].get()));
    copy(pinned, from.data() + begin, count);
    device_.copy(to + begin, pinned, count * sizeof(float));
    ECHOFORM_CUDA(cudaEventRecord(done_[k].get(), device_.stream()));
  }
}

void HostCopies::to_host(std::span<float> to, const float* from) {
  const std::size_t all = (to.size() + piece_values - 1) / piece_values;
  const auto count_of = [&](std::size_t piece) { return std::min(piece_values, to.size() - piece * piece_values); };
  const auto queue = [&](std::size_t piece) {
    device_.copy(memory_[piece % pieces].data(), from + piece * piece_values, count_of(piece) * sizeof(float));
    ECHOFORM_CUDA(cudaEventRecord(done_[piece % pieces].get(), device_.stream()));
  };
  for (std::size_t piece = 0; piece < std::min(pieces, all); ++piece) queue(piece);
  for (std::size_t piece = 0; piece < all; ++piece) {
    ECHOFORM_CUDA(cudaEventSynchronize(done_[piece % pieces].get()));
    copy(to.data() + piece * piece_values, static_cast<const float*>(memory_[piece % pieces].data()), count_of(piece));
    if (piece + pieces < all) queue(piece + pieces);
  }
  device_.finish();
}

}  // namespace echoform::gpu
