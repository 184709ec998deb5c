// What a receiver's place on a line has besides the way from the receiver, as a polynomial. Free of CUDA's headers.
#pragma once

#include <span>

namespace echoform::gpu {

/// Rests over some ranges by powers of x, from -1 (the first one) to 1 (the last one); the first term is not a number where no
/// polynomial follows them.
struct alignas(16) RestPolynomial {
  float terms[5];
};

/// Newton's polynomial through up to five of the rests, next to Chebyshev's places. Not a number where it is further than
/// `most_error` from any of them, and where one of them is not finite.
[[nodiscard]] RestPolynomial rest_polynomial(std::span<const double> rests, double most_error);

}  // namespace echoform::gpu
