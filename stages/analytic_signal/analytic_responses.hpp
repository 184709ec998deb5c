// What a filter makes of rows on their way to analytic signals.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/analytic_signal/row_response.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// For I and for Q; none where there is no filter. The options are valid.
[[nodiscard]] std::vector<RowResponse> analytic_responses(const FilterOptions& filter, std::size_t samples);

/// The exponent of the power of two by which filtered rows may be larger than what the half path has room for: 4 times as large
/// as the rows that came.
[[nodiscard]] unsigned half_path_headroom(const FilterOptions& filter);

}  // namespace echoform
