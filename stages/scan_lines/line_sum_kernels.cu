#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_math.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"
#include "stages/scan_lines/line_sum_lookup.cuh"

// The general kernel, for every delay filter and for complex samples. Threads of a warp have consecutive ranges and therefore
// consecutive samples, so that a warp's loads fall into a few lines of the first-level cache. The data of a receiver on a line is
// the same for all of them.
namespace echoform::gpu {
namespace {

using scan_lines::Lookup;
using scan_lines::PlacedReceiver;
using scan_lines::TapTable;

constexpr unsigned threads = 128;

template <Lookup lookup, bool complex>
__global__ void __launch_bounds__(threads) sum_lines(LineSums sums, unsigned blocks_of_line) {
  __shared__ TapTable table;
  if constexpr (lookup == Lookup::taps) share_taps(sums.set.taps, table);
  const LineSetOnDevice& set = sums.set;
  const std::uint32_t line = blockIdx.x / blocks_of_line;
  const std::uint32_t k = (blockIdx.x % blocks_of_line) * threads + threadIdx.x;
  float out_re = 0.0F;
  float out_im = 0.0F;
  if (k < set.ranges) {
    const std::size_t point = std::size_t{line} * set.pitch + k;
    const float range = set.range[k];
    const std::int32_t whole = set.whole[point];
    const float rest = set.rest[point];
    const float* const rows = sums.rows + (complex ? 2 : 1) * std::size_t{set.first_rows[line]} * sums.row_stride;
    Number<complex> sum;
    const std::uint32_t end = set.first_receivers[line + 1];
    for (std::uint32_t j = set.first_receivers[line]; j < end; ++j) {
      const PlacedReceiver receiver = set.receivers[j];
      const float weight = __ldg(set.weights + std::size_t{receiver.weights} * set.ranges + k);
      if (weight == 0.0F) continue;
      const float longer = scan_lines::longer_way_to(range, receiver.along, receiver.square, receiver.across_square);
      const float* const row = rows + (complex ? 2 : 1) * std::size_t{receiver.row} * sums.row_stride;
      const Number<complex> value = value_at<lookup, complex>(row, sums.samples, whole, rest + longer, table);
      if constexpr (complex) {
        const float cycles = sums.cycles * longer;
        float sine;
        float cosine;
        sincospif(2.0F * (cycles - rintf(cycles)), &sine, &cosine);
        sum.re = fmaf(fmaf(value.re, cosine, -value.im * sine), weight, sum.re);
        sum.im = fmaf(fmaf(value.re, sine, value.im * cosine), weight, sum.im);
      } else {
        sum.re = fmaf(value.re, weight, sum.re);
      }
    }
    const float turn_re = set.turn_re[point];
    if constexpr (complex) {
      const float turn_im = set.turn_im[point];
      out_re = fmaf(sum.re, turn_re, -sum.im * turn_im);
      out_im = fmaf(sum.re, turn_im, sum.im * turn_re);
    } else {
      out_re = sum.re * turn_re;
    }
  }
  if (k < sums.out_stride) {
    const std::size_t place = line * sums.out_stride + k;
    if constexpr (complex) {
      reinterpret_cast<float2*>(sums.out)[place] = {out_re, out_im};
    } else {
      sums.out[place] = out_re;
    }
  }
  if constexpr (!complex) report_lines(sums.facts, __float_as_uint(fabsf(out_re)), 0, gridDim.x);
}

template <bool complex>
void launch(const LineSums& sums, cudaStream_t stream) {
  const auto blocks_of_line = static_cast<unsigned>((sums.out_stride + threads - 1) / threads);
  const unsigned blocks = blocks_of_line * sums.set.lines;
  switch (sums.lookup) {
    case Lookup::nearest:
      sum_lines<Lookup::nearest, complex><<<blocks, threads, 0, stream>>>(sums, blocks_of_line);
      break;
    case Lookup::linear:
      sum_lines<Lookup::linear, complex><<<blocks, threads, 0, stream>>>(sums, blocks_of_line);
      break;
    case Lookup::taps:
      sum_lines<Lookup::taps, complex><<<blocks, threads, 0, stream>>>(sums, blocks_of_line);
      break;
    case Lookup::phases:  // for rows that were made dense, which only the CPU does
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("sum_lines");
}

}  // namespace

void launch_line_sums(const LineSums& sums, cudaStream_t stream) noexcept {
  if (sums.complex) {
    launch<true>(sums, stream);
  } else {
    launch<false>(sums, stream);
  }
}

}  // namespace echoform::gpu
