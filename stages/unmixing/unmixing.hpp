// Spectral unmixing: images at several wavelengths become concentrations of absorbers, pixel by pixel.
//
// Input   N float32 blocks of one shape, any row stride: signed images, one a wavelength, each divided by its amount of light.
// Output  float32 [components * rows, columns], rows without gaps: all rows of the first component, then of the next. At each
//         pixel the concentrations c that minimise
//
//             sum over wavelengths n of (image_n - sum over components m of absorption[n, m] c_m)^2
//
//         They have either sign and follow from the pseudo-inverse of the absorption, or are at least 0 where `non_negative`,
//         which is exact (C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, chapter 23). Units are those
//         of image over absorption. A pixel with a NaN is NaN in all components.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/unmixing/unmixing_math.hpp"

namespace echoform {

struct UnmixingOptions {
  std::size_t components = 2;  ///< 1 .. most_unmixed_components, and at most one a wavelength
  std::vector<double>
      absorption;             ///< [wavelength, component], C order, finite and 0 at least; no component like a mixture of others
  bool non_negative = false;  ///< may change while frames run

  [[nodiscard]] friend bool operator==(const UnmixingOptions&, const UnmixingOptions&) = default;
};

/// The kind of the stage "unmixing", whose options are UnmixingOptions.
extern const StageKind unmixing_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_unmixing_cpu(UnmixingOptions options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_unmixing_cuda(UnmixingOptions options, Backend& backend);

/// The checks of options and inputs that every implementation makes, and the resulting output. Both functions throw InputError.
void check_unmixing(const UnmixingOptions& options);
[[nodiscard]] BlockSpec unmixing_output(const UnmixingOptions& options, const InputSpecs& inputs);
/// Whether `options` equal `before` except for non_negative.
[[nodiscard]] bool accepts_unmixing(const StageOptions& options, const UnmixingOptions& before);

/// UnmixingTables::weights in single precision, computed in double precision. The options must be valid.
[[nodiscard]] std::vector<float> unmixing_weights(const UnmixingOptions& options);

}  // namespace echoform
