// The responses of a filter that is applied to rows while they become analytic signals.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/analytic_signal/row_response.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// The responses for I and for Q, in this order; empty where there is no filter. The options must be valid.
[[nodiscard]] std::vector<RowResponse> analytic_responses(const FilterOptions& filter, std::size_t samples);

/// The exponent of the power of two by which filtered rows may exceed the range of the half path, which allows 4 times the
/// size of the input rows.
[[nodiscard]] unsigned half_path_headroom(const FilterOptions& filter);

}  // namespace echoform
