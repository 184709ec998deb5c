#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "gpu/queued_values.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned piece = 960;  // parameters of a kernel may have at most 4096 bytes

struct Piece {
  float values[piece];
};

__global__ void put_values(const __grid_constant__ Piece from, float* to, unsigned count) {
  for (unsigned n = threadIdx.x; n < count; n += threads) to[n] = from.values[n];
}

}  // namespace

void queue_values(std::span<const float> values, float* to, cudaStream_t stream) noexcept {
  Piece from;
  for (std::size_t first = 0; first < values.size(); first += piece) {
    const std::span<const float> some = values.subspan(first, std::min<std::size_t>(piece, values.size() - first));
    std::copy(some.begin(), some.end(), from.values);
    put_values<<<1, threads, 0, stream>>>(from, to + first, static_cast<unsigned>(some.size()));
    ECHOFORM_CUDA_LAUNCHED("values that change");
  }
}

}  // namespace echoform::gpu
