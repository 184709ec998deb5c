// The temporal filter of live images for rows that no recipe carries: data that a model explains, and what the model says of
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "stages/analytic_signal/row_transform.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// F: rows of `samples` by the periodic DFT of exactly these, times the filter's factors (stages/filter/filter_response.hpp), as
/// the stage `filter` has it.
class RowFilter {
 public:
  /// On at most `members` threads, 1 or more. Of a filter of another kind than `none`, and `samples` 2 or more. Throws InputError
  /// if an option is out of its range, RuntimeFault if there is no memory.
  RowFilter(const FilterOptions& options, std::size_t samples, std::size_t members);

  /// Of what is in the band from 0 to `highest` alone, above 0 and below half the sample rate: 1 of bins up to it, and 0 above.
  [[nodiscard]] static RowFilter up_to(Hertz highest, Hertz sample_rate, std::size_t samples, std::size_t members);

  /// F row. `result` may be the row itself. Never allocates.
  void apply(const float* row, float* result, std::size_t member) const noexcept { transform_.respond(row, {result}, member); }
  /// F^T row: F itself, but of filters that turn phases.
  void transpose(const float* row, float* result, std::size_t member) const noexcept {
    (turned_ ? *turned_ : transform_).respond(row, {result}, member);
  }

  /// An upper estimate of the bytes that it holds.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  RowFilter(RowTransform transform, std::size_t bytes) : transform_(std::move(transform)), bytes_(bytes) {}

  RowTransform transform_;
  std::optional<RowTransform> turned_;  // by the conjugates
  std::size_t bytes_;
};

/// Of such a filter, before it is made.
[[nodiscard]] std::size_t row_filter_bytes(const FilterOptions& options, std::size_t samples, std::size_t members);

/// What is left of the root mean square of white noise on rows of `samples`; 1 of the kind `none`.
[[nodiscard]] double filtered_noise(const FilterOptions& options, std::size_t samples);

}  // namespace echoform
