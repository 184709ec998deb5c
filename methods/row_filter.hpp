// The temporal filter of live images, for rows that do not pass through a recipe: data that a model explains, and the
// model's prediction of them.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "stages/analytic_signal/row_transform.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// F: multiplies the periodic DFT of rows of exactly `samples` values by the filter's factors
/// (stages/filter/filter_response.hpp), as the stage `filter` does.
class RowFilter {
 public:
  /// Makes the filter, for use on at most `members` threads, 1 or more. The kind of the filter is not `none`, and `samples`
  /// is 2 or more. Throws InputError if an option is out of its range, RuntimeFault if there is no memory.
  RowFilter(const FilterOptions& options, std::size_t samples, std::size_t members);

  /// A filter that keeps the band from 0 to `highest`, above 0 and below half the sample rate: the factor is 1 for bins up
  /// to `highest` and 0 above.
  [[nodiscard]] static RowFilter up_to(Hertz highest, Hertz sample_rate, std::size_t samples, std::size_t members);

  /// F row. `result` may be the row itself. Never allocates.
  void apply(const float* row, float* result, std::size_t member) const noexcept { transform_.respond(row, {result}, member); }
  /// F^T row. It equals F row, except for filters that change phases.
  void transpose(const float* row, float* result, std::size_t member) const noexcept {
    (turned_ ? *turned_ : transform_).respond(row, {result}, member);
  }

  /// An upper estimate of the bytes that it holds.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  RowFilter(RowTransform transform, std::size_t bytes) : transform_(std::move(transform)), bytes_(bytes) {}

  RowTransform transform_;
  std::optional<RowTransform> turned_;  // by the conjugate factors
  std::size_t bytes_;
};

/// The bytes of such a filter, before it is made.
[[nodiscard]] std::size_t row_filter_bytes(const FilterOptions& options, std::size_t samples, std::size_t members);

/// The part that is left of the root mean square of white noise on rows of `samples`; 1 for the kind `none`.
[[nodiscard]] double filtered_noise(const FilterOptions& options, std::size_t samples);

}  // namespace echoform
