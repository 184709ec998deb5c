#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_math.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"

// The plain way, for every delay filter and for complex samples. Threads of a warp have ranges that follow each other, whose
// samples do too, so that a warp's loads meet in a few lines of the first-level cache; what a receiver is on a line is the same
// for all of them.
namespace echoform::gpu {
namespace {

using scan_lines::coefficient_pieces;
using scan_lines::Lookup;
using scan_lines::PlacedReceiver;
using scan_lines::TapTable;

constexpr unsigned threads = 128;

/// A number of a row, real or complex, and what may be done with it.
template <bool complex>
struct Number;

template <>
struct Number<false> {
  float re = 0.0F;
  __device__ void add(float c, const float* row, std::int32_t n) { re = fmaf(c, __ldg(row + n), re); }
};

template <>
struct Number<true> {
  float re = 0.0F;
  float im = 0.0F;
  __device__ void add(float c, const float* row, std::int32_t n) {
    const float2 z = __ldg(reinterpret_cast<const float2*>(row) + n);
    re = fmaf(c, z.x, re);
    im = fmaf(c, z.y, im);
  }
};

template <Lookup lookup, bool complex>
__device__ __forceinline__ Number<complex> value_at(const float* row, std::int32_t samples, std::int32_t whole, float t,
                                                    const TapTable& table) {
  Number<complex> value;
  if constexpr (lookup == Lookup::nearest) {
    const scan_lines::SamplePlace at = scan_lines::place_of(whole, t + 0.5F);
    if (static_cast<std::uint32_t>(at.whole) < static_cast<std::uint32_t>(samples)) value.add(1.0F, row, at.whole);
    return value;
  }
  scan_lines::SamplePlace at = scan_lines::place_of(whole, t);
  if (static_cast<std::uint32_t>(at.whole) >= static_cast<std::uint32_t>(samples - 1)) return value;
  if constexpr (lookup == Lookup::linear) {
    value.add(1.0F - at.fraction, row, at.whole);
    value.add(at.fraction, row, at.whole + 1);
    return value;
  }
  at = scan_lines::place_of(whole, t + table.offset);
  const scan_lines::TapPiece piece = scan_lines::tap_piece(at.fraction, static_cast<std::int32_t>(coefficient_pieces));
  for (std::uint32_t tap = 0; tap < table.taps; ++tap) {
    const std::int32_t n = at.whole - table.left + static_cast<std::int32_t>(tap);
    if (static_cast<std::uint32_t>(n) >= static_cast<std::uint32_t>(samples)) continue;
    const auto& k = table.cubic[tap];
    float c = fmaf(k[3][piece.index], piece.within, k[2][piece.index]);
    c = fmaf(c, piece.within, k[1][piece.index]);
    value.add(fmaf(c, piece.within, k[0][piece.index]), row, n);
  }
  return value;
}

template <Lookup lookup, bool complex>
__global__ void __launch_bounds__(threads) sum_lines(LineSums sums, unsigned blocks_of_line) {
  __shared__ TapTable table;
  if constexpr (lookup == Lookup::taps) {
    const auto* const from = reinterpret_cast<const std::uint32_t*>(sums.set.taps);
    auto* const to = reinterpret_cast<std::uint32_t*>(&table);
    for (unsigned n = threadIdx.x; n < sizeof(TapTable) / sizeof(std::uint32_t); n += threads) to[n] = from[n];
    __syncthreads();
  }
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
    case Lookup::phases:  // of rows that were made dense: the CPU's
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("sum_lines");
}

/// Blocks stride over the rows: there may be more of them than a grid has.
__global__ void __launch_bounds__(threads) gain_rows(RowGain gain) {
  const std::uint32_t n = blockIdx.x * threads + threadIdx.x;
  if (n >= gain.samples) return;
  const float factor = gain.gain[n];
  for (std::size_t row = blockIdx.y; row < gain.count; row += gridDim.y) gain.rows[row * gain.row_stride + n] *= factor;
}

}  // namespace

void launch_line_sums(const LineSums& sums, cudaStream_t stream) noexcept {
  if (sums.complex) {
    launch<true>(sums, stream);
  } else {
    launch<false>(sums, stream);
  }
}

void launch_row_gain(const RowGain& gain, cudaStream_t stream) noexcept {
  const dim3 grid((gain.samples + threads - 1) / threads, gain.count < 65535 ? gain.count : 65535);
  gain_rows<<<grid, threads, 0, stream>>>(gain);
  ECHOFORM_CUDA_LAUNCHED("gain_rows");
}

}  // namespace echoform::gpu
