// The factors by which a temporal filter multiplies the spectrum of a row. The mathematics of all filters is here only, in
// double precision. Every backend multiplies by these numbers.
//
// A row of M samples counts as one period, so its bin k, 0 <= k <= M / 2, has the frequency k / M of the sample rate.
//   mean    1, and 0 for bin 0
//   band    (erf((f - low) / s) - erf((f - high) / t)) / 2, s and t the skirts / 3.29: a box with Gaussian edges, whose
//           response in time is short and does not ring on. 0 for bin 0 where there is a lower edge
//   wiener  conj(P) P_max / (|P|^2 + noise P_max^2), P the pulse's spectrum with the greatest value of its envelope at time 0, so
//           that echoes stay where they are, and P_max its greatest absolute value, so that the pulse's unit does not matter.
//           Frequencies that the pulse's own sample rate does not hold count as 0, and so does bin 0
//   notch   any of these times 1 - exp(-ln 2 ((f - centre) / (width / 2))^2)
// All factors except the Wiener filter's are real, so the response is symmetric in time and shifts nothing.
#pragma once

#include <cstddef>

#include "stages/analytic_signal/row_response.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// The factors for rows of `samples`, 2 or more. The options must be valid. For `none` all factors are 1. Throws
/// RuntimeFault if there is no memory, and PlanningEnded (base/planning.hpp).
[[nodiscard]] RowResponse filter_response(const FilterOptions& options, std::size_t samples);

/// Size of a response in time, on a row of response_samples.
struct ResponseSize {
  /// Number of samples from the impulse to the last sample, on either side, at which the response exceeds a thousandth of
  /// its greatest value. The samples at one end of a row affect as many samples at the other end. At most
  /// response_samples / 2.
  std::size_t length = 0;
  /// Maximum ratio of the greatest value of a filtered row to that of the row: the sum of the response's absolute values.
  double gain = 1.0;
};
inline constexpr std::size_t response_samples = 32768;

/// Throws RuntimeFault if there is no memory.
[[nodiscard]] ResponseSize response_size(const FilterOptions& options);

}  // namespace echoform
