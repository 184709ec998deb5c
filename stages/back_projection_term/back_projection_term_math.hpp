// The term of one sample.
#pragma once

#include <cstddef>

#include "gpu/host_device.hpp"

namespace echoform {

/// Factors of a sample n, whose term is value * p[n] + slope * (derivative of p by samples at n).
struct TermFactors {
  float value = 0.0F;
  float slope = 0.0F;  ///< of the derivative by samples
};

/// Weights of central differences of order 24. The difference of the samples k after and k before has the weight
/// (-1)^(k + 1) 12!^2 / (k (12 - k)! (12 + k)!), k = 1 ... 12.
struct DerivativeWeights {
  static constexpr int reach = 12;

  float of[reach];
};

/// The term of the sample at `p`, which has 12 samples before and 12 after it.
ECHOFORM_HOST_DEVICE float projected_term(const float* p, TermFactors factors, const DerivativeWeights& weights) {
  float slope = 0.0F;
  for (int k = DerivativeWeights::reach; k > 0; --k) slope += weights.of[k - 1] * (p[k] - p[-k]);
  return factors.value * p[0] + factors.slope * slope;
}

}  // namespace echoform
