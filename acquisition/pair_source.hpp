// Of which A-scans a row is made. Plain, for kernels too.
#pragma once

#include <cstddef>

namespace echoform {

/// out = weight * (input[first] + input[second]), or weight * input[first] where the two are the same.
/// A weight of 0 means a row of zeros: neither is read.
struct PairSource {
  std::size_t first = 0;
  std::size_t second = 0;
  float weight = 0.0F;

  [[nodiscard]] friend constexpr bool operator==(const PairSource&, const PairSource&) = default;
};

}  // namespace echoform
