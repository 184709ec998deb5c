// The converter and the packing rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "simulators/encode.hpp"
#include "tests/simulators/reference.hpp"

namespace echoform {
namespace {

using testing::ElementsAre;

std::vector<std::int16_t> quantised(const std::vector<float>& values, float counts_per_unit) {
  std::vector<std::int16_t> counts(values.size());
  quantise12(values, counts_per_unit, counts);
  return counts;
}

std::vector<unsigned> packed(const std::vector<std::int16_t>& counts) {
  std::vector<std::byte> bytes((3 * counts.size() + 1) / 2, std::byte{0xEE});
  pack12(counts, bytes);
  std::vector<unsigned> out;
  for (const std::byte b : bytes) out.push_back(std::to_integer<unsigned>(b));
  return out;
}

TEST(Quantise12, TakesTheNearestCountAndHalvesToEven) {
  EXPECT_THAT(quantised({0.0F, 0.49F, 0.5F, 0.51F, 1.5F, 2.5F, -0.5F, -0.51F, -1.5F}, 1.0F),
              ElementsAre(0, 0, 0, 1, 2, 2, 0, -1, -2));
  EXPECT_THAT(quantised({0.25F, -0.25F}, 2000.0F), ElementsAre(500, -500));
}

TEST(Quantise12, HoldsTheRange) {
  EXPECT_THAT(quantised({2046.6F, 2047.4F, 2047.6F, 1e30F, -2047.6F, -2048.4F, -2049.0F, -1e30F}, 1.0F),
              ElementsAre(2047, 2047, 2047, 2047, -2048, -2048, -2048, -2048));
}

TEST(Pack12, BytesAreAsTheRulesSay) {
  // 0xABC = -1348 and 0x123 = 291: low byte, then the high four bits with the next sample's low four above, then its rest.
  EXPECT_THAT(packed({-1348, 291}), ElementsAre(0xBC, 0x3A, 0x12));
  EXPECT_THAT(packed({-1, 2047}), ElementsAre(0xFF, 0xFF, 0x7F));
  EXPECT_THAT(packed({-2048, 1}), ElementsAre(0x00, 0x18, 0x00));
  EXPECT_THAT(packed({-1348}), ElementsAre(0xBC, 0x0A));  // an odd end: the upper four bits are 0
  EXPECT_THAT(packed({0, 0, -1}), ElementsAre(0, 0, 0, 0xFF, 0x0F));
  EXPECT_TRUE(packed({}).empty());
}

TEST(Pack12, EveryCountComesBack) {
  std::vector<std::int16_t> counts;
  for (int value = converter_minimum; value <= converter_maximum; ++value) counts.push_back(static_cast<std::int16_t>(value));
  std::shuffle(counts.begin(), counts.end(), std::mt19937(3));
  for (const std::size_t size : {counts.size(), counts.size() - 1}) {
    const std::vector<std::int16_t> part(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(size));
    std::vector<std::byte> bytes((3 * size + 1) / 2);
    pack12(part, bytes);
    EXPECT_EQ(test::decode(bytes, SampleEncoding::packed12, size), test::Signal(part.begin(), part.end()));
  }
}

TEST(EncodeCounts, FloatIsCountTimesScale) {
  const std::vector<std::int16_t> counts{-2048, 0, 3, 2047};
  std::vector<std::byte> bytes(16);
  encode_counts(counts, SampleEncoding::float32, 1.0 / 2047.0, bytes);
  const auto values = test::decode(bytes, SampleEncoding::float32, 4);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(values[n], static_cast<float>(counts[n] / 2047.0));
}

}  // namespace
}  // namespace echoform
