#include "stages/element_map.cuh"
#include "stages/scroll/scroll_launch.hpp"
#include "stages/scroll/scroll_math.hpp"

namespace echoform {
namespace {

/// The places that are read and those that are written are distinct: a thread reads back only what it wrote.
struct ScrollOn {
  ScrollWork at;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    const std::size_t stays = at.kept - at.count;
    float* const place = at.ring + ring_place(*at.head, at.count, row, at.kept) * at.columns + n;
    float value = 0.0F;
    if (row < stays) {
      value = *place;
    } else {
      const auto first = static_cast<std::size_t>(*at.first);
      value = __ldg(at.in + (first + row - stays) * at.in_stride + n);
      *place = value;
    }
    at.out[row * at.columns + n] = value;
  }
};

__global__ void move_head(std::uint32_t* head, std::size_t count, std::size_t kept) {
  *head = static_cast<std::uint32_t>(ring_place(*head, count, 0, kept));
}

}  // namespace

void launch_scroll(const ScrollWork& work, cudaStream_t stream) noexcept {
  gpu::launch_map(work.kept, work.columns, ScrollOn{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("scroll");
  move_head<<<1, 1, 0, stream>>>(work.head, work.count, work.kept);
  ECHOFORM_CUDA_LAUNCHED("head of scroll");
}

}  // namespace echoform
