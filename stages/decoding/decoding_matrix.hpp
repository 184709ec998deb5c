// What undoes a code: the firings of single elements as sums over its events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "stages/decoding/transmit_code.hpp"

namespace echoform {

/// A code that is the Hadamard matrix in Sylvester's order, H(k, c) = (-1)^popcount(k & c), but for the order of its events.
struct SylvesterOrder {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> event_of_row;       ///< that is row k of H
  std::vector<std::uint32_t> element_of_column;  ///< that fires by column c of H; nobody: it is dead

  [[nodiscard]] friend bool operator==(const SylvesterOrder&, const SylvesterOrder&) = default;
};

struct DecodingMatrix {
  std::size_t events = 0;
  std::size_t elements = 0;
  /// [element, event]: what the firing of an element alone takes of each event. Zeros of elements that are dead or never fire.
  std::vector<double> weights;
  std::optional<SylvesterOrder> sylvester;  ///< where the code is that

  [[nodiscard]] friend bool operator==(const DecodingMatrix&, const DecodingMatrix&) = default;
};

/// Greatest ratio of a code's singular values: single precision, right to 6e-8, then leaves 6e-4 at the worst.
inline constexpr double most_condition = 1e4;
/// Beyond this setting up takes seconds, which whoever sends a code could ask for.
inline constexpr std::size_t most_coded_events = 1024;

/// The inverse of the code, of the columns of elements that live and fire; of more events than such elements the
/// pseudo-inverse, which takes least of the noise along. In double precision. Throws InputError, naming `where`, if there are
/// fewer events than elements, more than most_coded_events, or if the code is singular or of a condition beyond most_condition:
/// then it says which events depend on each other, or, where there are events enough, which elements cannot be told apart.
[[nodiscard]] DecodingMatrix decoding_matrix(const TransmitCode& code, std::string_view where);

}  // namespace echoform
