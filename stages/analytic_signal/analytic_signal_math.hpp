// The Hilbert transform by the periodic DFT of exactly M samples, as a real convolution with an imaginary spectrum.
//
// Q = IDFT{-i sgn(f) DFT{s}} with 0 at f = 0 and, for even M, at f = M / 2. In the time domain it is the circular
// convolution q[n] = sum over m of h[(n - m) mod M] s[m] with
//   even M:  h[k] = (2 / M) cot(pi k / M) for odd k, 0 for even k
//   odd M:   h[k] = (cot(pi k / M) - cos(pi k) / sin(pi k / M)) / M,  h[0] = 0
// (the closed form of (2 / M) sum over 0 < f < M / 2 of sin(2 pi f k / M)). h is odd, so its spectrum is i times a real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/host_device.hpp"

namespace echoform {

/// (re, im) times i * factor.
ECHOFORM_HOST_DEVICE void multiply_by_imaginary(float& re, float& im, float factor) {
  const float old_re = re;
  re = -im * factor;
  im = old_re * factor;
}

/// The half path's factor k, a power of two, as the exponent bits of a float. It brings peak * k into (0.125, 0.25] and is 1
/// for a peak of 0. Where k or 1 / k would leave the range of single precision, it is the nearest power that does not.
ECHOFORM_HOST_DEVICE std::uint32_t half_path_exponent(std::uint32_t peak_bits) {
  if (peak_bits == 0) return 127;
  const std::uint32_t above = (peak_bits - 1) >> 23;  // 126 + ceil(log2(peak))
  const std::uint32_t exponent = above > 250 ? 1 : 251 - above;
  return exponent > 253 ? 253 : exponent;
}
/// The factor of a row that is transformed together with another, likewise a power of two as exponent bits. It brings the
/// row's greatest |value|, whose bits are given, into [0.5, 1).
ECHOFORM_HOST_DEVICE std::uint32_t row_exponent(std::uint32_t peak_bits) {
  const std::uint32_t above = peak_bits >> 23;
  return above > 252 ? 1 : 253 - above;
}
/// The power of two with these exponent bits, and its inverse; 1 <= exponent <= 253.
ECHOFORM_HOST_DEVICE float power_of_two(std::uint32_t exponent) {
  const std::uint32_t bits = exponent << 23;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
ECHOFORM_HOST_DEVICE float inverse_power_of_two(std::uint32_t exponent) {
  return power_of_two(254 - exponent);
}

/// h[0] ... h[samples - 1] of the formula above.
[[nodiscard]] std::vector<double> hilbert_kernel(std::size_t samples);

/// The lengths of transforms that suit a row of `samples`, best first. `attempt` 0: `samples` itself where it has no prime
/// factor above 13; after that, lengths of at least 2 * samples - 1 that are 16 times a product of 2s, 3s and 5s. There the
/// row is padded with zeros and convolved with h laid out for -(M - 1) ... M - 1, which is the same sum and costs
/// O(M log M) for every M.
[[nodiscard]] std::size_t hilbert_transform_length(std::size_t samples, std::size_t attempt = 0);

/// The real b with which bin k of a transform of `length` is multiplied, i * b[k], 0 <= k <= length / 2: spectrum of h,
/// divided by `length` because the inverse transform is unscaled.
[[nodiscard]] std::vector<float> hilbert_spectrum(std::size_t samples, std::size_t length);

}  // namespace echoform
