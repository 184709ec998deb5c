// The term of one sample.
#pragma once

#include <cstddef>

#include "gpu/host_device.hpp"

namespace echoform {

/// Of sample n, its term is value * p[n] + slope * (p[n + 1] - p[n - 1] and so on).
struct TermFactors {
  float value = 0.0F;
  float slope = 0.0F;  ///< for a derivative by samples
};

/// Central differences of order 24: of k samples on either side, (-1)^(k + 1) 12!^2 / (k (12 - k)! (12 + k)!), k = 1 ... 12.
struct DerivativeWeights {
  static constexpr int reach = 12;

  float of[reach];
};

/// Of the sample at `p`, with 12 samples before and behind it.
ECHOFORM_HOST_DEVICE float projected_term(const float* p, TermFactors factors, const DerivativeWeights& weights) {
  float slope = 0.0F;
  for (int k = DerivativeWeights::reach; k > 0; --k) slope += weights.of[k - 1] * (p[k] - p[-k]);
  return factors.value * p[0] + factors.slope * slope;
}

}  // namespace echoform
