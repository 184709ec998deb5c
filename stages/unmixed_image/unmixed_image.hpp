// One image from the results of spectral unmixing: a component's concentration, or its share in the sum of two.
//
// Input   float32 [components * rows, columns], as stages/unmixing/ makes it.
// Output  float32 [rows, columns], rows without gaps:
//
//   concentration   of `component`
//   share           c_component / (c_component + c_other): for oxygenated and deoxygenated haemoglobin the oxygen saturation.
//                   Not clipped: unconstrained least squares may give values beyond 0 .. 1. NaN where the sum is not above 0, or
//                   not above `threshold` times the frame's greatest, since a quotient of noise has no meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class UnmixedKind : std::uint8_t { concentration, share };

struct UnmixedImageOptions {
  UnmixedKind kind = UnmixedKind::concentration;
  std::size_t components = 2;  ///< components of the input, at least 1
  std::size_t component = 0;
  std::size_t other = 1;   ///< for a share; not `component`
  double threshold = 0.1;  ///< for a share, 0 .. 1

  [[nodiscard]] friend bool operator==(const UnmixedImageOptions&, const UnmixedImageOptions&) = default;
};

/// The kind of the stage "unmixed-image", whose options are UnmixedImageOptions. The threshold may change while the stage runs.
extern const StageKind unmixed_image_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_unmixed_image_cpu(const UnmixedImageOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_unmixed_image_cuda(const UnmixedImageOptions& options, Backend& backend);
/// Bytes of device memory for the kind `share`.
inline constexpr std::size_t unmixed_image_device_bytes = 16;

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void check_unmixed_image(const UnmixedImageOptions& options);
[[nodiscard]] BlockSpec unmixed_image_output(const UnmixedImageOptions& options, const BlockSpec& input);
/// Whether `options` equal `before` except for the threshold.
[[nodiscard]] bool accepts_unmixed_image(const StageOptions& options, const UnmixedImageOptions& before);

}  // namespace echoform
