// What the transform of rows takes, and that every instruction set gives the same bits.
#include "stages/analytic_signal/row_transform.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <stop_token>
#include <vector>

#include "base/planning.hpp"
#include "base/sanitizers.hpp"

namespace echoform::test {
namespace {

TEST(RowTransform, TakesNoMoreThanItsEstimate) {
  // FFTW makes its lists of codelets once a process, in single and in double precision.
  static_cast<void>(RowTransform(31, 1, simd_level()));
  // Primes and lengths beside them among the smooth ones; the last is the largest prime below 2^20.
  for (const std::size_t samples : {2UL, 3UL, 17UL, 480UL, 1031UL, 4096UL, 6561UL, 65536UL, 65537UL, 300007UL, 1048573UL}) {
    for (const std::size_t members : {std::size_t{1}, std::size_t{3}}) {
      const auto in_use = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
      };
      const std::size_t before = in_use();
      const RowTransform transform(samples, members, simd_level());
      [[maybe_unused]] const std::size_t taken = in_use() - before;
      const double estimate = row_transform_bytes(samples, members);
      EXPECT_LE(static_cast<double>(transform.bytes()), estimate) << samples;
      // FFTW's tables of roots included, of which it tells nothing.
#if !ECHOFORM_ADDRESS_SANITIZER && !ECHOFORM_THREAD_SANITIZER
      EXPECT_LE(static_cast<double>(taken), estimate) << samples;
#endif
      EXPECT_EQ(transform.length() % 2, 0U);
      EXPECT_TRUE(transform.length() == samples || transform.length() >= 2 * samples - 1) << samples;
    }
  }
}

TEST(RowTransform, EveryInstructionSetGivesTheSameBits) {
  for (const std::size_t samples : {2UL, 6UL, 30UL, 31UL, 250UL, 1031UL, 4096UL}) {
    std::mt19937 random(static_cast<unsigned>(samples));
    std::normal_distribution<float> noise;
    std::vector<float> row(samples);
    for (float& s : row) s = noise(random);
    std::vector<std::vector<float>> results;
    for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > simd_level()) continue;
      const RowTransform transform(samples, 1, level);
      results.emplace_back(samples);
      transform.transform(row.data(), results.back().data(), 0);
      EXPECT_EQ(results.back(), results.front()) << samples << " samples, " << to_string(level);
    }
  }
}

TEST(RowTransform, WithResponsesTakesNoMoreThanItsEstimate) {
  static_cast<void>(RowTransform(31, 1, simd_level(), std::vector<RowResponse>{RowResponse(16, 1.0)}));
  for (const std::size_t samples : {2UL, 17UL, 480UL, 1031UL, 4096UL, 65537UL, 300007UL}) {
    for (const std::size_t responses : {std::size_t{1}, std::size_t{2}}) {
      const std::vector<RowResponse> all(responses, RowResponse(samples / 2 + 1, 1.0));
      const auto in_use = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
      };
      const std::size_t before = in_use();
      const RowTransform transform(samples, 2, simd_level(), all);
      [[maybe_unused]] const std::size_t taken = in_use() - before;
      const double estimate = row_transform_bytes(samples, 2, responses);
      EXPECT_LE(static_cast<double>(transform.bytes()), estimate) << samples;
#if !ECHOFORM_ADDRESS_SANITIZER && !ECHOFORM_THREAD_SANITIZER
      EXPECT_LE(static_cast<double>(taken), estimate) << samples;
#endif
    }
  }
}

TEST(RowTransform, EveryInstructionSetFiltersToTheSameBits) {
  for (const std::size_t samples : {2UL, 6UL, 30UL, 31UL, 250UL, 1031UL, 4096UL}) {
    std::mt19937 random(static_cast<unsigned>(samples));
    std::normal_distribution<float> noise;
    std::vector<float> row(samples);
    for (float& s : row) s = noise(random);
    RowResponse response(samples / 2 + 1);
    for (auto& factor : response) factor = {noise(random), noise(random)};
    response.front().imag(0.0);
    if (samples % 2 == 0) response.back().imag(0.0);
    const std::vector<RowResponse> both{response, quadrature_of(response, samples)};
    std::vector<std::vector<float>> results;
    for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > simd_level()) continue;
      const RowTransform transform(samples, 1, level, both);
      std::vector<float>& result = results.emplace_back(2 * samples);
      transform.respond(row.data(), {result.data(), result.data() + samples}, 0);
      EXPECT_EQ(result, results.front()) << samples << " samples, " << to_string(level);
    }
  }
}

TEST(RowTransform, IsNotPlannedForNobody) {
  std::stop_source stop;
  const Planning planning(stop.get_token());
  EXPECT_NO_THROW(RowTransform(1031, 1, simd_level()));
  stop.request_stop();
  EXPECT_THROW(RowTransform(1031, 1, simd_level()), PlanningEnded);
}

}  // namespace
}  // namespace echoform::test
