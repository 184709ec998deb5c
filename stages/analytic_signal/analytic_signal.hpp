// A-scans to analytic signals, s + i H{s}, by the periodic DFT of exactly the M samples of a row: no padding that would
// change the values, DC weighted 1, Nyquist once. With a filter g, g * s + i H{g * s}: on its way through the spectrum a row
// takes the filter's factors along (stages/filter/filter_response.hpp), the response wrapping round the row's ends.
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28.
// Output  planar complex64 [rows, samples]: of row r, I at 2 r * row_stride and Q at (2 r + 1) * row_stride. row_stride is
//         samples + 64 rounded up to a multiple of 16, and everything between samples and row_stride is zero in every frame,
//         so window loads may run over the end of a row. I is s itself, bit for bit; Q is exact to single rounding (about
//         2e-7 of the row's norm), whether the length is smooth or goes through a longer transform (analytic_signal_math.hpp).
//         With a filter I and Q are both that exact, of the norm of the row as it came, times the filter's greatest factor.
//
// CUDA: the output is made for beamformers that look up 8 bytes at a time. BlockSpec.lead = 256 elements of zeros stand before
// row 0; row_stride is samples + 256 rounded up to a multiple of 16, and everything between samples and row_stride is zero after
// every frame, the lead too. So lookups may run over either end of a row by 256 elements.
//   float path  complex64: I and Q of a sample, interleaved.
//   half path   complex_half_slope: I and Q of sample n in half precision, times a power of two k; then, in half precision, those
//               of the difference s[n + 1] - s[n] times k * 2^14. k brings the greatest |I| of the frame into (0.125, 0.25]
//               (1 where the frame is zero), so that Q, which peaks higher, and sums of lookups have room. What is too
//               large for half precision becomes +-65504. With linear interpolation element samples - 1 is zero, since no
//               lookup there counts; with nearest interpolation the differences are 0. The trailer is 64 bytes, its first
//               float 1 / k. The greatest |I| is read from the input's trailer where it has one (the pairing stage's), and
//               measured by one more kernel where it has not.
//               With a filter k still comes from the rows as they came, since what is left of them is not known before it is
//               written; k is lower by the power of two by which filtered rows could be more than 4 times as large. What a
//               filter leaves is held in steps of 2^-24 at the coarsest, right to 6e-4 down to an rms of 2^-12 of the peak that
//               came: so under a constant of full scale there may be echoes of a five-hundredth of it.
// Without a filter I is exact on the float path. Q is as exact as on the CPU, by either route:
//   fused   one kernel reads the rows and writes the output (fused_hilbert.hpp); for the lengths of can_fuse()
//   cufft   any length: cuFFT, and kernels before, between and after (cufft_route.hpp)
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "gpu/device_probe.hpp"
#include "pipeline/stage.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// The stage runs on queues of at most `members` threads. Throws InputError if an option of the filter is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_analytic_signal_cpu(std::size_t members, SimdLevel level = simd_level(),
                                                              FilterOptions filter = {}, std::size_t rows = 0);

/// Distance of the I and Q rows, in floats, for A-scans of `samples`.
[[nodiscard]] constexpr std::size_t analytic_row_stride(std::size_t samples) {
  return (samples + 64 + 15) / 16 * 16;
}

/// The route of the Hilbert transform on CUDA. `automatic`: fused where the length and the device allow it.
enum class HilbertRoute : unsigned char { automatic, cufft, fused };

/// Options of the stage. All except `filter` and `rows` concern CUDA: the CPU has no other choices.
struct AnalyticSignalOptions {
  bool half = false;     ///< the half path
  bool nearest = false;  ///< whether the half path's output is made for nearest interpolation
  HilbertRoute route = HilbertRoute::automatic;
  std::size_t spectra_bytes = std::size_t{256} << 20;  ///< maximum of spectra on the cuFFT route; larger frames go in pieces
  FilterOptions filter = {};
  /// How many rows the CPU transforms, from the first on, at most the rows of the input; 0: all. The output of the others is
  /// not written. CUDA transforms all rows.
  std::size_t rows = 0;

  [[nodiscard]] friend bool operator==(const AnalyticSignalOptions&, const AnalyticSignalOptions&) = default;
};

/// The half path is accurate enough where a relative L2 error of this size is acceptable in complex images.
inline constexpr double half_path_accuracy = 1e-3;

/// The kind of the stage "analytic-signal", whose options are AnalyticSignalOptions. For the CPU it states the memory that
/// is taken at set-up, which is the maximum, with FFTW's tables at their maximum size. For the cuFFT route it leaves out
/// cuFFT's workspace, whose size only plans report.
extern const StageKind analytic_signal_stage;

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec analytic_signal_output(const AnalyticSignalOptions& options, const BlockSpec& input, BackendKind backend);
/// Whether the fused route supports rows of `samples`: the length must be one of its own, and with a filter `block_bytes` of
/// shared memory must suffice for a block.
[[nodiscard]] bool can_fuse(const FilterOptions& filter, std::size_t samples, std::size_t block_bytes = block_memory());
/// Whether the stage on CUDA takes the fused route. Throws InputError where the options demand `fused` and that route does
/// not support them.
[[nodiscard]] bool takes_fused_route(const AnalyticSignalOptions& options, std::size_t samples,
                                     std::size_t block_bytes = block_memory());

/// Only builds with CUDA have this function. The backend must outlive the stage. Throws InputError if an option of the
/// filter is out of its range; prepare() throws it where the options demand the route `fused` and that does not support the
/// input.
[[nodiscard]] std::unique_ptr<Stage> make_analytic_signal_cuda(const AnalyticSignalOptions& options, Backend& backend);

/// The lead and the row stride of the output on CUDA, in elements.
inline constexpr std::size_t cuda_lead = 256;
[[nodiscard]] constexpr std::size_t cuda_analytic_row_stride(std::size_t samples) {
  return (samples + cuda_lead + 15) / 16 * 16;
}

}  // namespace echoform
