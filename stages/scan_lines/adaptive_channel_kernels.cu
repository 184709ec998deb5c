#include <cstddef>
#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/adaptive_line_launch.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_math.hpp"
#include "stages/scan_lines/line_sum_lookup.cuh"

// Samples are looked up with the ranges side by side, as samples lie, and written with the receivers side by side, as weights
// read them. Blocks of 32 x 32 are transposed in shared memory.
namespace echoform::gpu {
namespace {

using scan_lines::Lookup;
using scan_lines::PlacedReceiver;
using scan_lines::TapTable;

constexpr unsigned side = 32;
constexpr unsigned rows_at_once = 8;
constexpr unsigned align_threads = side * rows_at_once;

template <Lookup lookup, bool complex>
__global__ void __launch_bounds__(align_threads) align_channels(LineSums sums, LineChannels to, unsigned blocks_of_line) {
  __shared__ TapTable table;
  __shared__ float real[side][side + 1];
  __shared__ float imaginary[side][side + 1];
  __shared__ float weights[side][side + 1];
  if constexpr (lookup == Lookup::taps) share_taps(sums.set.taps, table);
  const LineSetOnDevice& set = sums.set;
  const unsigned line_of_chunk = blockIdx.x / blocks_of_line;
  const std::uint32_t line = to.first_line + line_of_chunk;
  const std::uint32_t first = (blockIdx.x % blocks_of_line) * side;
  const unsigned lane = threadIdx.x % side;
  const unsigned row_of_block = threadIdx.x / side;
  const std::uint32_t k = min(first + lane, set.ranges - 1);
  const std::size_t point = std::size_t{line} * set.pitch + k;
  const float range = set.range[k];
  const std::int32_t whole = set.whole[point];
  const float rest = set.rest[point];
  const float* const rows = sums.rows + (complex ? 2 : 1) * std::size_t{set.first_rows[line]} * sums.row_stride;
  const std::uint32_t begin = set.first_receivers[line];
  const std::uint32_t count = set.first_receivers[line + 1] - begin;
  for (std::uint32_t receivers = 0; receivers < to.pitch; receivers += side) {
    for (unsigned n = row_of_block; n < side; n += rows_at_once) {
      Number<complex> value;
      float weight = 0.0F;
      if (receivers + n < count) {
        const PlacedReceiver receiver = set.receivers[begin + receivers + n];
        weight = __ldg(set.weights + std::size_t{receiver.weights} * set.ranges + k);
        const float longer = scan_lines::longer_way_to(range, receiver.along, receiver.square, receiver.across_square);
        const float* const row = rows + (complex ? 2 : 1) * std::size_t{receiver.row} * sums.row_stride;
        value = value_at<lookup, complex>(row, sums.samples, whole, rest + longer, table);
      }
      real[n][lane] = value.re;
      if constexpr (complex) imaginary[n][lane] = value.im;
      weights[n][lane] = weight;
    }
    __syncthreads();
    for (unsigned n = row_of_block; n < side && first + n < set.ranges; n += rows_at_once) {
      const std::size_t at = (std::size_t{line_of_chunk} * set.ranges + first + n) * to.pitch + receivers + lane;
      if constexpr (complex) {
        reinterpret_cast<float2*>(to.values)[at] = {real[lane][n], imaginary[lane][n]};
      } else {
        to.values[at] = real[lane][n];
      }
      to.weights[at] = weights[lane][n];
    }
    __syncthreads();
  }
}

template <bool complex>
void align(const LineSums& sums, const LineChannels& to, cudaStream_t stream) {
  const unsigned blocks_of_line = (sums.set.ranges + side - 1) / side;
  const unsigned blocks = blocks_of_line * to.lines;
  switch (sums.lookup) {
    case Lookup::nearest:
      align_channels<Lookup::nearest, complex><<<blocks, align_threads, 0, stream>>>(sums, to, blocks_of_line);
      break;
    case Lookup::linear:
      align_channels<Lookup::linear, complex><<<blocks, align_threads, 0, stream>>>(sums, to, blocks_of_line);
      break;
    case Lookup::taps:
      align_channels<Lookup::taps, complex><<<blocks, align_threads, 0, stream>>>(sums, to, blocks_of_line);
      break;
    case Lookup::phases:  // for rows that were made dense, which only the CPU does
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("align_channels");
}

__global__ void __launch_bounds__(align_threads) close_lines(LineSums sums, unsigned blocks_of_line) {
  const std::uint32_t line = blockIdx.x / blocks_of_line;
  const std::uint32_t k = (blockIdx.x % blocks_of_line) * align_threads + threadIdx.x;
  std::uint32_t peak = 0;
  if (k < sums.out_stride) {
    float* const at = sums.out + line * sums.out_stride + k;
    if (k < sums.set.ranges) {
      peak = __float_as_uint(fabsf(*at));
    } else {
      *at = 0.0F;
    }
  }
  report_lines(sums.facts, peak, 0, gridDim.x);
}

}  // namespace

void launch_align_channels(const LineSums& sums, const LineChannels& to, cudaStream_t stream) noexcept {
  if (sums.complex) {
    align<true>(sums, to, stream);
  } else {
    align<false>(sums, to, stream);
  }
}

void launch_close_lines(const LineSums& sums, cudaStream_t stream) noexcept {
  const auto blocks_of_line = static_cast<unsigned>((sums.out_stride + align_threads - 1) / align_threads);
  close_lines<<<blocks_of_line * sums.set.lines, align_threads, 0, stream>>>(sums, blocks_of_line);
  ECHOFORM_CUDA_LAUNCHED("close_lines");
}

}  // namespace echoform::gpu
