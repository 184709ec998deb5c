// Polynomial of the part of a place in an A-scan that does not depend on the receiver. Free of CUDA's headers.
#pragma once

#include <span>

namespace echoform::gpu {

/// The rests of some ranges as a polynomial in x, which is -1 at the first range and 1 at the last. The first term is NaN
/// where no polynomial is close enough.
struct alignas(16) RestPolynomial {
  float terms[5];
};

/// Newton's polynomial through up to five of the rests, those nearest to Chebyshev's places. It is NaN where it deviates by
/// more than `most_error` from any rest, and where a rest is not finite.
[[nodiscard]] RestPolynomial rest_polynomial(std::span<const double> rests, double most_error);

}  // namespace echoform::gpu
