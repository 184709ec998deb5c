// Arithmetic of adaptive weights that kernels on a GPU do as a team, by teams of one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

#include "base/errors.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channel_sizes.hpp"
#include "stages/adaptive_weights/channels_math.hpp"
#include "stages/adaptive_weights/packed_channels.hpp"
#include "tests/scan_lines/adaptive_reference.hpp"

namespace echoform::test {
namespace {

/// Channels that agree in part at some points of a line.
struct SomeChannels {
  SomeChannels(std::size_t count, std::size_t points) : channels(count) {
    std::mt19937 random(static_cast<unsigned>(count * 100 + points));
    std::normal_distribution<float> noise;
    for (std::size_t n = 0; n < count; ++n) weights.push_back(0.1F + std::abs(noise(random)));
    line.weights.assign(points, std::vector<double>(weights.begin(), weights.end()));
    for (std::size_t k = 0; k < points; ++k) {
      std::vector<Complex>& values = line.values.emplace_back();
      for (std::size_t n = 0; n < count; ++n) {
        real.push_back(1.0F + 0.7F * noise(random));
        imaginary.push_back(0.5F * noise(random));
        values.emplace_back(real.back(), imaginary.back());
      }
    }
  }
  [[nodiscard]] ChannelWindow window(std::size_t centre) const {
    return {.weights = weights.data(),
            .real = real.data(),
            .imaginary = imaginary.data(),
            .channels = channels,
            .points = line.values.size(),
            .centre = centre,
            .workspace = nullptr};
  }

  std::size_t channels;
  std::vector<float> weights, real, imaginary;
  AlignedLine line;
};

TEST(AdaptiveChannels, CorrelateAsTheirDefinition) {
  for (const std::size_t count : {1UL, 2UL, 3UL, 17UL, 64UL}) {
    for (const std::size_t half : {0UL, 3UL}) {
      const SomeChannels some(count, 2 * half + 1);
      const ChannelWindow window = some.window(half);
      AdaptiveOptions options;
      options.half_window = half;
      for (const double part : {0.005, 0.15, 1.0}) {
        options.short_lag = part;
        std::vector<float> roots(count);
        const float found =
            adaptive::short_lag_coherence(adaptive::PackedChannels<false>{window}, static_cast<unsigned>(count),
                                          static_cast<unsigned>(window.points), part, roots.data(), adaptive::Alone{});
        EXPECT_NEAR(found, plain_short_lag(options, some.line, half), 2e-6) << count << " " << half << " " << part;
      }
    }
  }
}

TEST(AdaptiveChannels, WithBothPartsCorrelateAsTwiceAsManyPoints) {
  const SomeChannels some(12, 3);
  const ChannelWindow window = some.window(1);
  AlignedLine both = some.line;
  for (const std::vector<Complex>& values : some.line.values) {
    std::vector<Complex>& turned = both.values.emplace_back();
    for (const Complex& value : values) turned.emplace_back(value.imag(), 0.0);
    both.weights.push_back(both.weights.front());
  }
  AdaptiveOptions options;
  options.short_lag = 0.3;
  options.half_window = 10;  // all of them
  std::vector<float> roots(12);
  EXPECT_NEAR(adaptive::short_lag_coherence(adaptive::PackedChannels<true>{window}, 12, 3, 0.3, roots.data(), adaptive::Alone{}),
              plain_short_lag(options, both, 1), 2e-6);
}

TEST(AdaptiveChannels, HaveBothPartsOfCaponsMean) {
  for (const std::size_t count : {1UL, 2UL, 9UL, 40UL}) {
    const SomeChannels some(count, 3);
    const ChannelWindow window = some.window(1);
    AlignedLine turned = some.line;
    for (std::vector<Complex>& values : turned.values) {
      for (Complex& value : values) value *= Complex(0.0, -1.0);
    }
    AdaptiveOptions options;
    options.half_window = 1;
    for (const double part : {0.01, 0.5, 1.0}) {
      for (const double loading : {1e-6, 0.01, 10.0}) {
        options.subarray = part;
        options.loading = loading;
        const unsigned length = adaptive::subarray_of(part, static_cast<unsigned>(count));
        std::vector<adaptive::DoubleComplex> room(adaptive::capon_numbers(length));
        const adaptive::DoubleComplex mean =
            adaptive::capon_mean(adaptive::PackedChannels<true>{window}, static_cast<unsigned>(count), 3, 1, length, loading,
                                 room.data(), adaptive::Alone{});
        // Loading of 1e-6 leaves a condition of some 1e8 of the numbers' 1e-16.
        const double tolerance = 1e-6;
        EXPECT_NEAR(mean.real, plain_capon(options, some.line, 1), tolerance) << count << " " << part << " " << loading;
        EXPECT_NEAR(mean.imaginary, plain_capon(options, turned, 1), tolerance) << count << " " << part << " " << loading;
      }
    }
  }
}

TEST(AdaptiveChannels, ComeToAPieceOfMemoryAtATime) {
  AdaptiveOptions options;
  options.kind = "capon";
  const gpu::ChannelSizes few = gpu::channel_sizes(options, 3, 10, 17, 2);
  EXPECT_EQ(few.pitch, 32U);
  EXPECT_EQ(few.lines_at_once, 3U);
  EXPECT_EQ(few.values, 3U * 10 * 32 * 8);
  EXPECT_EQ(few.weights, 3U * 10 * 32 * 4);
  EXPECT_EQ(few.workspace, 0U);
  const gpu::ChannelSizes many = gpu::channel_sizes(options, 1000, 2048, 128, 2);
  EXPECT_EQ(many.lines_at_once, 21U);
  options.subarray = 1.0;
  EXPECT_GT(gpu::channel_sizes(options, 1, 1 << 20, 256, 2).workspace, 0U) << "a matrix too large for shared memory";
  EXPECT_EQ(gpu::channel_sizes(options, 1, 1 << 20, 256, 2).lines_at_once, 1U);
  EXPECT_THROW(gpu::require_channels(gpu::most_channels + 1, "scan-lines"), InputError);
  EXPECT_NO_THROW(gpu::require_channels(gpu::most_channels, "scan-lines"));
}

}  // namespace
}  // namespace echoform::test
