#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/decoding/decoding_launch.hpp"

// Decoding a Hadamard code only moves memory: N log N additions for N numbers read and N written. A thread has one sample of a
// receiver, with all events of it: up to 128 in registers, so that as many loads are under way at once and nothing is exchanged.
// Neighbouring threads have neighbouring samples: each load and store of a warp is 128 contiguous bytes.
namespace echoform::gpu {
namespace {

constexpr int register_threads = 128;
constexpr int sum_threads = 256;

/// Butterflies over `Count` numbers in registers, in the same order as on the CPU.
template <int Count>
__device__ __forceinline__ void transform(float (&values)[Count]) {
#pragma unroll
  for (int apart = 1; apart < Count; apart *= 2) {
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if ((k & apart) != 0) continue;
      const float sum = values[k] + values[k + apart];
      values[k + apart] = values[k] - values[k + apart];
      values[k] = sum;
    }
  }
}

/// The bits of floats without their signs order as the floats do.
__device__ __forceinline__ std::uint32_t size_bits(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

/// Uses one atomic operation per block at most. All threads of the block take part.
template <int Threads>
__device__ void raise_peak(std::uint32_t bits, std::uint32_t* peak_bits) {
  if (peak_bits == nullptr) return;
  __shared__ std::uint32_t peaks[Threads / 32];
  const std::uint32_t of_warp = __reduce_max_sync(0xffffffffu, bits);
  if (threadIdx.x % 32 == 0) peaks[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t most = 0;
  for (int warp = 0; warp < Threads / 32; ++warp) most = max(most, peaks[warp]);
  // A stale value read here can only be smaller; the atomic operation decides then.
  if (most > *const_cast<volatile std::uint32_t*>(peak_bits)) atomicMax(peak_bits, most);
}

template <int Rows>
__global__ void __launch_bounds__(register_threads, Rows > 64 ? 3 : 4)
    walsh_hadamard_in_registers(const __grid_constant__ WalshHadamardRows work) {
  const std::size_t n = std::size_t{blockIdx.x} * register_threads + threadIdx.x;
  constexpr float scale = 1.0F / Rows;
  std::uint32_t peak = 0;
  if (n < work.samples) {
    const float* const in = work.input + blockIdx.y * work.input_stride + n;
    float* const out = work.output + blockIdx.y * work.output_stride + n;
    float values[Rows];
#pragma unroll
    for (int row = 0; row < Rows; ++row) values[row] = __ldcs(in + std::uint64_t{work.event_of_row[row]} * work.event_stride);
    transform(values);
#pragma unroll
    for (int column = 0; column < Rows; ++column) {
      const unsigned element = work.element_of_column[column];
      if (element == no_element) continue;
      const float value = values[column] * scale;
      out[std::uint64_t{element} * work.element_stride] = value;
      peak = max(peak, size_bits(value));
    }
  }
  raise_peak<register_threads>(peak, work.peak_bits);
}

/// 256 events are too many for the registers of a thread. So a warp first has 32 samples of 32 events, and then 32 samples of 8
/// events for each of four places among those 32.
constexpr int shared_rows = 256;
constexpr int shared_threads = shared_rows;

__global__ void __launch_bounds__(shared_threads)
    walsh_hadamard_in_shared_memory(const __grid_constant__ WalshHadamardRows work) {
  __shared__ float exchanged[shared_rows][32];
  constexpr int warps = shared_threads / 32;
  constexpr int groups = 32 / warps;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const std::size_t n = std::size_t{blockIdx.x} * 32 + lane;
  constexpr float scale = 1.0F / shared_rows;
  std::uint32_t peak = 0;
  float values[32] = {};
  if (n < work.samples) {
    const float* const in = work.input + blockIdx.y * work.input_stride + n;
#pragma unroll
    for (int k = 0; k < 32; ++k) values[k] = __ldcs(in + std::uint64_t{work.event_of_row[warp * 32 + k]} * work.event_stride);
  }
  transform(values);
#pragma unroll
  for (int k = 0; k < 32; ++k) exchanged[warp * 32 + k][lane] = values[k];
  __syncthreads();
  float* const out = work.output + blockIdx.y * work.output_stride + n;
#pragma unroll
  for (int group = 0; group < groups; ++group) {
    const int place = warp * groups + group;
    float across[warps];
#pragma unroll
    for (int k = 0; k < warps; ++k) across[k] = exchanged[k * 32 + place][lane];
    transform(across);
#pragma unroll
    for (int k = 0; k < warps; ++k) {
      const unsigned element = work.element_of_column[k * 32 + place];
      if (element == no_element || n >= work.samples) continue;
      const float value = across[k] * scale;
      out[std::uint64_t{element} * work.element_stride] = value;
      peak = max(peak, size_bits(value));
    }
  }
  raise_peak<shared_threads>(peak, work.peak_bits);
}

/// The input was written just before; it stays in the second-level cache where the scratch memory fits into that.
__global__ void __launch_bounds__(sum_threads) sum_directions(DirectionSums sums) {
  const std::size_t row = blockIdx.x;
  const BothDirections pair = sums.pairs[row];
  const float* const first = sums.decoded + pair.first * sums.decoded_stride;
  const float* const second = sums.decoded + pair.second * sums.decoded_stride;
  float* const out = sums.output + row * sums.output_stride;
  const bool both = pair.first != pair.second;
  std::uint32_t peak = 0;
  const std::size_t step = std::size_t{gridDim.y} * sum_threads;
  for (std::size_t n = std::size_t{blockIdx.y} * sum_threads + threadIdx.x; n < sums.samples; n += step) {
    float value = first[n];
    if (both) value += second[n];
    out[n] = value;
    peak = max(peak, size_bits(value));
  }
  raise_peak<sum_threads>(peak, sums.peak_bits);
}

constexpr std::size_t most_in_y = 65535;

unsigned limited(std::size_t blocks) {
  return static_cast<unsigned>(blocks < most_in_y ? blocks : most_in_y);
}

template <int Rows>
void launch_in_registers(const WalshHadamardRows& work, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((work.samples + register_threads - 1) / register_threads),
                  static_cast<unsigned>(work.receivers));
  walsh_hadamard_in_registers<Rows><<<grid, register_threads, 0, stream>>>(work);
}

void launch(const WalshHadamardRows& work, std::size_t rows, cudaStream_t stream) {
  switch (rows) {
    case 2:
      return launch_in_registers<2>(work, stream);
    case 4:
      return launch_in_registers<4>(work, stream);
    case 8:
      return launch_in_registers<8>(work, stream);
    case 16:
      return launch_in_registers<16>(work, stream);
    case 32:
      return launch_in_registers<32>(work, stream);
    case 64:
      return launch_in_registers<64>(work, stream);
    case 128:
      return launch_in_registers<128>(work, stream);
    default: {
      const dim3 grid(static_cast<unsigned>((work.samples + 31) / 32), static_cast<unsigned>(work.receivers));
      walsh_hadamard_in_shared_memory<<<grid, shared_threads, 0, stream>>>(work);
    }
  }
}

}  // namespace

void launch_walsh_hadamard(const WalshHadamardRows& work, std::size_t rows, cudaStream_t stream) noexcept {
  WalshHadamardRows part = work;
  for (std::size_t first = 0; first < work.receivers; first += most_in_y) {
    part.input = work.input + first * work.input_stride;
    part.output = work.output + first * work.output_stride;
    part.receivers = limited(work.receivers - first);
    launch(part, rows, stream);
    ECHOFORM_CUDA_LAUNCHED("walsh_hadamard");
  }
}

void launch_direction_sums(const DirectionSums& sums, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>(sums.rows), limited((sums.samples + sum_threads - 1) / sum_threads));
  sum_directions<<<grid, sum_threads, 0, stream>>>(sums);
  ECHOFORM_CUDA_LAUNCHED("sum_directions");
}

}  // namespace echoform::gpu
