// What a temporal filter multiplies the spectrum of a row by. The maths of all filters stands here once, in double precision;
// what runs, on every backend, is a product with these numbers.
//
// A row of M samples counts as one period, so its bin k, 0 <= k <= M / 2, has the frequency k / M of the sample rate.
//   mean    1, and 0 for bin 0
//   band    (erf((f - low) / s) - erf((f - high) / t)) / 2, s and t the skirts / 3.29: a box with Gaussian edges, whose
//           response in time is short and does not ring on. 0 for bin 0 where there is a lower edge
//   wiener  conj(P) P_max / (|P|^2 + noise P_max^2), P the pulse's spectrum with the greatest value of its envelope at time 0, so
//           that echoes stay where they are, and P_max its greatest absolute value, so that the pulse's unit does not matter.
//           Frequencies that the pulse's own sample rate does not hold count as 0, and so does bin 0
//   notch   any of these times 1 - exp(-ln 2 ((f - centre) / (width / 2))^2)
// All but the Wiener filter are real, and so their response is symmetric in time: nothing is moved.
#pragma once

#include <cstddef>

#include "stages/analytic_signal/row_response.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// For rows of `samples`, 2 or more. The options are valid; of `none` all numbers are 1. Throws RuntimeFault if there is no
/// memory, and PlanningEnded (base/planning.hpp).
[[nodiscard]] RowResponse filter_response(const FilterOptions& options, std::size_t samples);

/// Of a response in time, on a row of response_samples.
struct ResponseSize {
  /// Samples from the impulse to the last one, on either side, at which the response is above a thousandth of its greatest value:
  /// how far what stands at the end of a row reaches into it. At most response_samples / 2.
  std::size_t length = 0;
  /// How many times the greatest value of a row that of the filtered row can be: the sum of the absolute values.
  double gain = 1.0;
};
inline constexpr std::size_t response_samples = 32768;

/// Throws RuntimeFault if there is no memory.
[[nodiscard]] ResponseSize response_size(const FilterOptions& options);

}  // namespace echoform
