// Tables of back-projection terms for every implementation, in single precision, computed in double precision.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/back_projection_term/back_projection_term_math.hpp"

namespace echoform {

/// The TermFactors of each sample.
struct TermTables {
  std::vector<float> value;
  std::vector<float> slope;
};

/// The tables for `columns` samples. The options must be valid.
[[nodiscard]] TermTables term_tables(const BackProjectionTermOptions& options, std::size_t columns);
[[nodiscard]] DerivativeWeights derivative_weights();

}  // namespace echoform
