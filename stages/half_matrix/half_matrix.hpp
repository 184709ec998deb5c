// The first stage of a chain that ends in a beamformer: raw A-scans to float32 in the form of the matrix that costs the
// beamformer least.
//
// Input   int16, packed12 or float32 [a_scans, samples], any row stride, any MatrixKind (input.matrix).
// Output  float32, rows padded to a multiple of 16 samples (the padding is not written); output.matrix says the form:
//           reciprocal             half_summed: s_ij + s_ji for i < j, s_ii once, in the half-matrix order
//           not reciprocal, full   full, in the order of the input
//           not reciprocal, half or half_summed   half: half_summed rows are halved off the diagonal, as if s_ij == s_ji
//         Samples of every encoding are multiplied by the scale, sums of integers formed in 32-bit integers first; float32 ones
//         that is_invalid_sample() tells become 0. Pairs with a dead element are zero, and their samples neither read nor
//         counted.
// Its facts are the quality of the samples.
// On CUDA the output has a trailer (stages/unpack/frame_facts.hpp) whose first float is the greatest |value| of the frame.
#pragma once

#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct HalfMatrixOptions {
  std::size_t elements = 0;
  bool reciprocal = true;         ///< whether no law and no weight tells (i, j) from (j, i)
  double sample_scale = 1.0;      ///< amplitude of one unit of a sample: finite, not 0
  std::vector<std::size_t> dead;  ///< elements whose pairs count as zero; each below `elements`

  [[nodiscard]] friend bool operator==(const HalfMatrixOptions&, const HalfMatrixOptions&) = default;
};

/// "half-matrix", by HalfMatrixOptions.
extern const StageKind half_matrix_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_half_matrix_cpu(HalfMatrixOptions options, SimdLevel level = simd_level());

/// In builds with CUDA only. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_half_matrix_cuda(HalfMatrixOptions options, Backend& backend);

/// Form of the output for an input of kind `input`.
[[nodiscard]] MatrixKind reduced_matrix(MatrixKind input, bool reciprocal);

}  // namespace echoform
