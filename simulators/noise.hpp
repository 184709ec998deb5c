// White Gaussian noise that depends on nothing but its key: any frame can be made again, in any order, on any thread.
#pragma once

#include <cstdint>
#include <span>

namespace echoform {

/// The stream of one A-scan of one frame.
struct NoiseKey {
  std::uint64_t seed = 0;
  std::uint64_t frame = 0;
  std::uint32_t transmit = 0;
  std::uint32_t receive = 0;
};

/// values[n] += rms * g[n], g of mean 0 and variance 1. Drawn from the 65,536 equally likely quantiles of the normal
/// distribution by a SplitMix64 stream (Steele, Lea and Flood 2014), so |g| stays below 4.33.
void add_noise(const NoiseKey& key, double rms, std::span<float> values) noexcept;

}  // namespace echoform
