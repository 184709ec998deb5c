// What half-matrix stages on every backend check and work out before the first frame.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/block.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/half_matrix/half_matrix_math.hpp"

namespace echoform {

/// Throws InputError if an option is out of its range.
void require_half_matrix_options(const HalfMatrixOptions& options);

/// The output for `input`, rows padded to 16 samples. Throws InputError if the input is not such a matrix.
[[nodiscard]] BlockSpec half_matrix_output(const HalfMatrixOptions& options, const BlockSpec& input);

/// One entry a row of the output, in its order; pairs with dead elements have weight 0.
[[nodiscard]] std::vector<PairSource> half_matrix_sources(const HalfMatrixOptions& options, const BlockSpec& input);

}  // namespace echoform
