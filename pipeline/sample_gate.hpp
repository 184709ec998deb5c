// Which samples of every A-scan are imaged.
#pragma once

#include <compare>
#include <cstddef>

namespace echoform {

/// What lies outside is neither uploaded nor read.
struct SampleGate {
  std::size_t first = 0;
  std::size_t count = 0;
  constexpr auto operator<=>(const SampleGate&) const = default;
};

}  // namespace echoform
