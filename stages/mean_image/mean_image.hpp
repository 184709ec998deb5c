// The form in which images with signed pixels are shown: the mean of one or more images, unchanged, as its magnitude, or
// with negative pixels set to 0.
//
// Input   one or more blocks float32 [z, x] of one shape, rows without gaps or with any stride.
// Output  float32 [z, x], rows without gaps: the mean in the order of the inputs, then |mean| or max(mean, 0). NaN stays.
//
// The stage can be retuned by other MeanImageOptions.
#pragma once

#include <cstdint>
#include <memory>

#include "base/text.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class ShownPart : std::uint8_t {
  signed_values,
  magnitude,
  non_negative,
};

struct MeanImageOptions {
  ShownPart shown = ShownPart::signed_values;

  [[nodiscard]] friend bool operator==(const MeanImageOptions&, const MeanImageOptions&) = default;
};

/// The kind of the stage "mean-image", whose options are MeanImageOptions.
extern const StageKind mean_image_stage;

[[nodiscard]] std::unique_ptr<Stage> make_mean_image_cpu(const MeanImageOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_mean_image_cuda(const MeanImageOptions& options, Backend& backend);

/// The checks of its inputs that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec mean_image_output(const InputSpecs& inputs);

}  // namespace echoform

namespace echoform::words {

inline constexpr auto shown_part =
    make_words(Word<ShownPart>{ShownPart::signed_values, "signed"}, Word<ShownPart>{ShownPart::magnitude, "envelope"},
               Word<ShownPart>{ShownPart::non_negative, "non_negative"});

}  // namespace echoform::words
