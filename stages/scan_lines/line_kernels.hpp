// The sum along one line. Lengths are in samples, and receivers are added one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"
#include "stages/adaptive_weights/channel_sums.hpp"

namespace echoform::scan_lines {

/// Samples that are readable before and behind a row, all 0.
inline constexpr std::size_t row_lead = 64;
/// Ranges are padded to a multiple of this many.
inline constexpr std::size_t range_step = 64;
/// Places of receivers are padded to a multiple of this many.
inline constexpr std::size_t receiver_step = 16;
/// Pieces of a tap's coefficient over the fraction of a place, each a cubic.
inline constexpr std::size_t coefficient_pieces = 16;
inline constexpr std::size_t most_taps = 17;
inline constexpr std::size_t most_low_frequencies = 8;

/// A receiver on a line, where e is its place from the line's origin and a = e . direction.
struct LineReceiver {
  const float* row;      ///< its A-scan, row_lead zeros before and behind
  const float* weights;  ///< by range
  std::size_t first;     ///< range before which all weights are 0, a multiple of range_step
  float along;           ///< a
  float square;          ///< |e|^2
  float across_square;   ///< |e|^2 - a^2, >= 0
};

/// A delay filter (delay_filter.hpp): with n + f = u + offset, 0 <= f < 1, taps at n - left ... n - left + taps - 1 of the place
/// u. With g = f * coefficient_pieces - piece, a coefficient is ((k3 g + k2) g + k1) g + k0.
struct TapTable {
  std::uint32_t taps = 0;
  std::int32_t left = 0;
  float offset = 0.0F;
  alignas(64) float cubic[most_taps][4][coefficient_pieces];  ///< k0 ... k3
};

/// A block of range_step ranges is steady if for every receiver
/// - all places lie steady_margin samples and more within the A-scan,
/// - each place is at or after the previous one, by less than 1.9 samples,
/// - |p - e| - r is within steady_error samples of a polynomial of the fourth degree.
/// Loops may process such a block faster. A block may be steady as a whole, or in halves, each with a polynomial of its own.
inline constexpr unsigned char steady_as_a_whole = 1;
inline constexpr unsigned char steady_by_halves = 2;
inline constexpr double steady_margin = 2.0;
inline constexpr double steady_error = 1e-5;

struct LineTask {
  const LineReceiver* receivers;
  const float* along;  ///< LineReceiver::along of each receiver again, padded to a multiple of receiver_step; likewise the
                       ///< next two
  const float* square;
  const float* across_square;
  std::uint32_t receiver_count;
  std::int32_t samples;         ///< of a row
  std::size_t ranges;           ///< a multiple of range_step
  const float* range;           ///< r, by range
  const std::int32_t* whole;    ///< tau_tx + r / c - start: whole samples
  const float* rest;            ///< the fraction that belongs to `whole`, 0 .. 1
  const unsigned char* steady;  ///< by block of range_step ranges; 0: not steady
  const TapTable* table;
  float* out;                      ///< by range
  std::ptrdiff_t phase_pitch = 0;  ///< for LineKernels::phases: distance from a row to its values a quarter of a sample
                                   ///< later, and so on

  // Further results and arguments for ChannelSums, each by range.
  float* second = nullptr;
  float* low = nullptr;               ///< for low_frequencies: the sum of |S(m)|^2
  std::uint32_t low_frequencies = 0;  ///< M0
  const float* heard = nullptr;       ///< N, the number of receivers that contribute at the range
  const float* cosine = nullptr;      ///< cos(2 pi / N)
  float* channels = nullptr;          ///< for channels, which do not write `out`: [receiver, range]
};

/// How samples are looked up.
enum class Lookup : unsigned char { nearest, linear, taps, phases };

using LineKernel = void (*)(const LineTask& task);

/// The kernels for each Lookup.
struct LineKernels {
  LineKernel nearest;
  LineKernel linear;
  LineKernel taps;    ///< by LineTask::table
  LineKernel phases;  ///< straight lines between the samples of rows that are four times as dense
};

/// Computes the values 1/4, 1/2 and 3/4 of a sample after each sample of a row, which has row_lead zeros before and after
/// it. Each phase is stored phase_pitch after the one before. Coefficients are [phase, tap], for samples from n - left on.
/// Up to 63 numbers are written after the samples.
struct PhasesTask {
  float* row;
  std::ptrdiff_t phase_pitch;
  std::size_t samples;
  const float* coefficients;
  std::uint32_t taps;
  std::int32_t left;
};
using PhasesKernel = void (*)(const PhasesTask& task);

/// Levels differ by rounding.
[[nodiscard]] LineKernels line_kernels(SimdLevel level, ChannelSums sums = ChannelSums::none);

[[nodiscard]] PhasesKernel phases_kernel(SimdLevel level);

[[nodiscard]] PhasesKernel phases_kernel_portable();
[[nodiscard]] PhasesKernel phases_kernel_avx2();
[[nodiscard]] PhasesKernel phases_kernel_avx512();
[[nodiscard]] LineKernels line_kernels_portable(ChannelSums sums);
[[nodiscard]] LineKernels line_kernels_avx2(ChannelSums sums);
[[nodiscard]] LineKernels line_kernels_avx512(ChannelSums sums);

}  // namespace echoform::scan_lines
