// Raw A-scans to float32, as they are: no reduction, no order changed.
//
// Input   int16, packed12 or float32 [a_scans, samples], any row stride.
// Output  float32 [a_scans, samples], rows padded to a multiple of 16 samples (the padding is not written): samples of
//         every encoding times the scale; float32 ones that is_invalid_sample() tells become 0.
// On CUDA the output has a trailer (frame_facts.hpp) whose first float is the greatest |value| of the frame.
// Its facts are the quality of the samples. A chain that ends in a beamformer starts with pairing instead, which unpacks too.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// The output, without trailer, for an input; throws InputError if it is not one.
[[nodiscard]] BlockSpec unpack_output(const BlockSpec& input);

struct UnpackOptions {
  double sample_scale = 1.0;  ///< amplitude of one unit of a sample: finite, not 0 (else InputError)

  [[nodiscard]] friend constexpr bool operator==(const UnpackOptions&, const UnpackOptions&) = default;
};

/// "unpack", by UnpackOptions.
extern const StageKind unpack_stage;

/// `sample_scale` as in the options.
[[nodiscard]] std::unique_ptr<Stage> make_unpack_cpu(double sample_scale, SimdLevel level = simd_level());

/// In builds with CUDA only. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_unpack_cuda(double sample_scale, Backend& backend);

}  // namespace echoform
