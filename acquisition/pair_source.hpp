// The A-scans of which a row is made. The type is plain, so that kernels can use it too.
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
