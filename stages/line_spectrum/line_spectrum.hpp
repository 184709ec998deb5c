// Spectrum of velocities in a gate on a line: short-time spectra of its ensemble.
//
// Input   complex64 or planar complex64 [lines * M, ranges], any row stride: of line l the M samples of its ensemble in the order
//         in which they were taken, rows l M ... l M + M - 1.
// Output  float32 [spectra, bins], rows without gaps: of the samples x of `line`, spectrum s at the samples s * hop on,
//
//     A[s][k] = sqrt(mean over the ranges of the gate of |sum over n of h[n] x[s hop + n] exp(-j theta_k n)|^2)
//
//         with theta_k = pi (2 k - bins) / bins, n = 0 ... samples - 1, and h the window at (n + 1/2) / samples over the sum of
//         its values, so that an echo of amplitude a that turns by theta_k from sample to sample has A = a. With v_N the Nyquist
//         velocity bin k is the velocity v_N (2 k - bins) / bins, towards the probe above 0. spectra = (M - samples) / hop + 1.
//
// Sums over n and over ranges go in their order, in single precision. Another line and gate counts from the frame on that it is
// set for. Samples of the gate that are not finite spoil their spectra.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/windows/window.hpp"

namespace echoform {

struct LineSpectrumOptions {
  static constexpr std::size_t least_samples = 2;
  static constexpr std::size_t most_samples = 128;
  static constexpr std::size_t most_bins = 512;

  std::size_t ensemble = 0;     ///< M
  std::size_t samples = 0;      ///< of a spectrum, least_samples ... most_samples, at most M
  std::size_t hop = 1;          ///< from a spectrum to the next, at least 1
  std::size_t bins = 128;       ///< samples ... most_bins
  Window window;                ///< over the samples of a spectrum
  std::size_t line = 0;         ///< of the input
  std::size_t first_range = 0;  ///< of the gate
  std::size_t ranges = 1;       ///< in the gate, at least 1

  [[nodiscard]] friend bool operator==(const LineSpectrumOptions&, const LineSpectrumOptions&) = default;
};

/// The kind of the stage "line-spectrum", whose options are LineSpectrumOptions.
extern const StageKind line_spectrum_stage;

[[nodiscard]] std::unique_ptr<Stage> make_line_spectrum_cpu(const LineSpectrumOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_line_spectrum_cuda(const LineSpectrumOptions& options, Backend& backend);

/// Number of spectra of a frame.
[[nodiscard]] std::size_t spectra_of(const LineSpectrumOptions& options);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec line_spectrum_output(const LineSpectrumOptions& options, const BlockSpec& input);
/// Whether `options`, which are for `input`, equal `before` except for line and gate. Throws InputError if these are out of
/// range.
[[nodiscard]] bool accepts_line_spectrum(const StageOptions& options, const LineSpectrumOptions& before, const BlockSpec& input);

/// Factors of the sums: the window, [samples], and real and imaginary parts of exp(-j theta_k n), [samples, bins] each.
struct SpectrumTables {
  std::vector<float> taper;
  std::vector<float> turn_re;
  std::vector<float> turn_im;
};
[[nodiscard]] SpectrumTables spectrum_tables(const LineSpectrumOptions& options);
[[nodiscard]] std::size_t spectrum_table_bytes(const LineSpectrumOptions& options);

/// Number of floats that describe the gate on CUDA, next to the tables: line, first range and ranges.
inline constexpr std::size_t spectrum_gate_numbers = 3;

}  // namespace echoform
