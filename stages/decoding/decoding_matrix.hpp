// The matrix that inverts a code: the firings of single elements as sums over its events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "stages/decoding/transmit_code.hpp"

namespace echoform {

/// A code that is the Hadamard matrix in Sylvester's order, H(k, c) = (-1)^popcount(k & c), up to the order of its events.
struct SylvesterOrder {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> event_of_row;       ///< the event that is row k of H
  std::vector<std::uint32_t> element_of_column;  ///< the element that fires by column c of H; nobody: it is dead

  [[nodiscard]] friend bool operator==(const SylvesterOrder&, const SylvesterOrder&) = default;
};

struct DecodingMatrix {
  std::size_t events = 0;
  std::size_t elements = 0;
  /// [element, event]: the factors of events in the sum that is the firing of one element. Zeros for elements that are dead
  /// or never fire.
  std::vector<double> weights;
  std::optional<SylvesterOrder> sylvester;  ///< where the code is of this kind

  [[nodiscard]] friend bool operator==(const DecodingMatrix&, const DecodingMatrix&) = default;
};

/// Maximum ratio of a code's singular values. Single precision, exact to 6e-8, then leaves an error of at most 6e-4.
inline constexpr double most_condition = 1e4;
/// Maximum number of events. With more, set-up takes seconds, which any sender of a code could cause.
inline constexpr std::size_t most_coded_events = 1024;

/// The inverse, in double precision, of the code's columns of elements that are alive and fire. With more events than such
/// elements it is the pseudo-inverse, which adds the minimum of noise. Throws InputError, naming `where`, if there are fewer
/// events than elements, more than most_coded_events, or if the code is singular or its condition exceeds most_condition.
/// The message then names the events that depend on each other or, where there are enough events, the elements that cannot
/// be distinguished.
[[nodiscard]] DecodingMatrix decoding_matrix(const TransmitCode& code, std::string_view where);

}  // namespace echoform
