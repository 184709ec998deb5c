// Numbers of back-projection terms that every implementation works with, in single precision, worked out in double.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/back_projection_term/back_projection_term_math.hpp"

namespace echoform {

/// TermFactors, by sample.
struct TermTables {
  std::vector<float> value;
  std::vector<float> slope;
};

/// Of valid options.
[[nodiscard]] TermTables term_tables(const BackProjectionTermOptions& options, std::size_t columns);
[[nodiscard]] DerivativeWeights derivative_weights();

}  // namespace echoform
