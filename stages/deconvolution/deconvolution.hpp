// Deconvolution of pressures by the electrical impulse response of their detectors.
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28: s = h * p, h the impulse response.
// Output  float32 [rows, samples], rows padded with zeros to a multiple of 16 samples, no trailer: what of p noise and the window
//         leave. The spectrum of a row is multiplied by
//   W(f) conj(H) / (|H|^2 + noise max |H|^2),  W(f) = (1 + cos(pi f / cutoff)) / 2 below the cutoff, 0 above
//         (Wiener's filter for a spectrum of noise and pulse that are alike, and a Hann window). A row counts as one period: the
//         response wraps round its ends as far as deconvolution_length() says. Exact to single rounding, on the CPU by FFTW, on
//         CUDA by cuFFT.
//
// H is the sum over k of h[k] exp(-2 pi i f (k - zero) / sample_rate), so that amplitudes come out as pressures where h is stated
// in samples of the row's rate; or exp(-(f - centre)^2 / (2 sigma^2)) with half its amplitude at centre +- bandwidth / 2, which
// moves nothing in time.
#pragma once

#include <memory>
#include <vector>

#include "base/interval.hpp"
#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/analytic_signal/row_response.hpp"

namespace echoform {

struct DeconvolutionOptions {
  static constexpr Interval noises{1e-6, 1.0};
  static constexpr std::size_t most_samples = 65536;

  std::shared_ptr<const std::vector<double>> response;  ///< h at the rows' sample rate: finite, not all 0; null: Gaussian
  std::size_t zero = 0;                                 ///< index of the response's sample at time 0
  Hertz centre;                                         ///< of a Gaussian: >= 0
  Hertz bandwidth;                                      ///< likewise, between half amplitudes: > 0
  double noise = 0.01;
  Hertz cutoff;       ///< of the window: > 0; above half the sample rate it ends there
  Hertz sample_rate;  ///< of the rows, > 0

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const DeconvolutionOptions& a, const DeconvolutionOptions& b) {
    return a.zero == b.zero && a.centre == b.centre && a.bandwidth == b.bandwidth && a.noise == b.noise && a.cutoff == b.cutoff &&
           a.sample_rate == b.sample_rate &&
           (a.response == b.response || (a.response && b.response && *a.response == *b.response));
  }
};

/// Maximum of spectra on CUDA, in bytes. Larger frames are processed in chunks of rows.
inline constexpr std::size_t deconvolution_spectra_bytes = std::size_t{256} << 20;

/// The kind of the stage "deconvolution", whose options are DeconvolutionOptions. For the CPU it states the memory that is
/// taken at set-up, which is the maximum.
extern const StageKind deconvolution_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_deconvolution_cpu(DeconvolutionOptions options, std::size_t members,
                                                            SimdLevel level = simd_level());

/// The stage runs on the GPU, by cuFFT. `backend` is a CUDA backend and must outlive the stage. prepare() throws
/// RuntimeFault if cuFFT is not available. Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_deconvolution_cuda(DeconvolutionOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const DeconvolutionOptions& options);
[[nodiscard]] BlockSpec deconvolution_output(const BlockSpec& input);

/// The spectrum H, for rows of `samples`. The options are valid.
[[nodiscard]] RowResponse detector_spectrum(const DeconvolutionOptions& options, std::size_t samples);
/// The factors of the spectrum of a row of `samples`. The options are valid.
[[nodiscard]] RowResponse deconvolution_response(const DeconvolutionOptions& options, std::size_t samples);
/// Number of samples from an impulse to the last sample, on either side, at which the result for the impulse exceeds a
/// thousandth of its greatest value. The options are valid.
[[nodiscard]] std::size_t deconvolution_length(const DeconvolutionOptions& options);
/// |H| at half the sample rate over its greatest value below that frequency, which measures aliasing. The options are valid.
[[nodiscard]] double response_at_half_rate(const DeconvolutionOptions& options);

}  // namespace echoform
