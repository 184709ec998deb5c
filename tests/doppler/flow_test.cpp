// Autocorrelations and what is made of them, against plain sums.
#include "stages/flow/flow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "stages/autocorrelation/autocorrelation.hpp"
#include "tests/doppler/ensembles.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

struct Correlations {
  double power = 0.0;
  Sample turn;
};

Correlations correlations_at(const Ensembles& all, std::size_t line, std::size_t range, std::size_t half) {
  Correlations sum;
  double places = 0.0;
  for (std::size_t k = range < half ? 0 : range - half; k <= std::min(range + half, all.ranges - 1); ++k) {
    for (std::size_t n = 0; n < all.ensemble; ++n) sum.power += std::norm(all.at(line, n, k)) / static_cast<double>(all.ensemble);
    for (std::size_t n = 0; n + 1 < all.ensemble; ++n)
      sum.turn += all.at(line, n + 1, k) * std::conj(all.at(line, n, k)) / static_cast<double>(all.ensemble - 1);
    places += 1.0;
  }
  return {sum.power / places, sum.turn / places};
}

class Flow : public StageTest {
 protected:
  StageResult correlated(const Ensembles& all, std::size_t half, ElementType type = ElementType::planar_complex64) {
    const BlockSpec spec = spec_of(all, type, all.ranges + 3);
    const AutocorrelationOptions options{all.ensemble, half};
    const auto stage =
        on_cuda() ? make_stage(autocorrelation_stage, options, backend()) : make_autocorrelation_cpu(options, threads(), level());
    StageResult result = run(*stage, spec, block_of(all, spec), 2);
    const StageStatement stated = autocorrelation_stage.state(options, spec, {backend().kind(), threads()});
    EXPECT_EQ(stated.output, result.spec);
    EXPECT_EQ(on_cuda() ? stated.memory.device : stated.memory.host, stage->bytes());
    const auto plain = make_autocorrelation_cpu(options, 1, SimdLevel::portable);
    const StageResult reference = run_on_one_thread(*plain, spec, block_of(all, spec));
    // The same bits, but for what is no number: its bits are each processor's own.
    const auto bits_of = [](const StageResult& of) {
      const float* const from = of.block->as<float>();
      std::vector<std::uint32_t> bits;
      for (std::size_t k = 0; k < of.spec.bytes() / sizeof(float); ++k)
        bits.push_back(std::bit_cast<std::uint32_t>(std::isnan(from[k]) ? std::numeric_limits<float>::quiet_NaN() : from[k]));
      return bits;
    };
    EXPECT_EQ(bits_of(reference), bits_of(result));
    return result;
  }
  std::vector<float> flow_of(const StageResult& correlations, const FlowOptions& options) {
    const auto stage = make_stage(flow_stage, options, backend());
    const StageResult result = run(*stage, correlations.spec, *correlations.block, 2);
    const StageStatement stated = flow_stage.state(options, correlations.spec, {backend().kind(), threads()});
    EXPECT_EQ(stated.output, result.spec);
    EXPECT_EQ(on_cuda() ? stated.memory.device : stated.memory.host, stage->bytes());
    const float* const from = result.block->as<float>();
    return {from, from + result.spec.rows * result.spec.columns};
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Flow);

TEST_P(Flow, IsWhatTheSumsSay) {
  const Ensembles all = random_ensembles(3, 7, 150, 11);
  for (const std::size_t half : {0, 1, 6, 400}) {
    for (const ElementType type : {ElementType::complex64, ElementType::planar_complex64}) {
      const StageResult found = correlated(all, half, type);
      const auto velocity = flow_of(found, {FlowKind::velocity, MetresPerSecond(0.5)});
      const auto power = flow_of(found, {FlowKind::power, MetresPerSecond(0.5)});
      const auto variance = flow_of(found, {FlowKind::variance, MetresPerSecond(0.5)});
      for (std::size_t line = 0; line < all.lines; ++line) {
        for (std::size_t k = 0; k < all.ranges; ++k) {
          const Correlations wanted = correlations_at(all, line, k, half);
          const std::size_t at = line * all.ranges + k;
          // 7 terms, each rounded to 6e-8 of itself, and sums of them.
          ASSERT_NEAR(power[at], wanted.power, 2e-6 * wanted.power);
          const double coherent = std::min(1.0, std::abs(wanted.turn) / wanted.power);
          ASSERT_NEAR(variance[at], std::pow(0.5 / std::numbers::pi, 2.0) * 2.0 * (1.0 - coherent), 1e-6);
          // The angle of a sum that is small beside its terms is as uncertain.
          const double uncertain = 1e-6 * wanted.power / std::abs(wanted.turn);
          const double off = std::remainder(velocity[at] - 0.5 * std::arg(wanted.turn) / std::numbers::pi, 1.0);
          ASSERT_NEAR(off, 0.0, 0.5 * uncertain + 1e-7);
        }
      }
    }
  }
}

/// An echo from r - v t has a delay that shrinks: its samples turn forwards, by 4 pi f v / (c PRF) each.
TEST_P(Flow, TowardsTheProbeIsPositive) {
  constexpr double c = 1540.0;
  constexpr double f = 5e6;
  constexpr double rate = 4000.0;
  constexpr double nyquist = c * rate / (4.0 * f);  // 0.308 m/s
  const std::vector<double> velocities{0.2, -0.1, 0.0, 0.3, 0.4};
  Ensembles all{1, 10, velocities.size()};
  for (std::size_t k = 0; k < velocities.size(); ++k) {
    for (std::size_t n = 0; n < 10; ++n) {
      const double range = 0.03 - velocities[k] * static_cast<double>(n) / rate;
      all.at(0, n, k) = std::polar(1.0, std::remainder(-2.0 * std::numbers::pi * f * 2.0 * range / c, 2.0 * std::numbers::pi));
    }
  }
  const StageResult found = correlated(all, 0);
  const auto velocity = flow_of(found, {FlowKind::velocity, MetresPerSecond(nyquist)});
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(velocity[k], velocities[k], 1e-6);
  EXPECT_NEAR(velocity[4], 0.4 - 2.0 * nyquist, 1e-6) << "faster flow wraps round";
  const auto variance = flow_of(found, {FlowKind::variance, MetresPerSecond(nyquist)});
  for (const float value : variance) EXPECT_NEAR(value, 0.0, 1e-7);
}

TEST_P(Flow, IsNothingWhereThereIsHardlyPower) {
  Ensembles all = random_ensembles(2, 4, 20, 12);
  for (std::size_t n = 0; n < 4; ++n) {
    all.at(0, n, 3) *= 100.0;
    all.at(1, n, 5) = 0.0;
    all.at(1, n, 6) = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  }
  const StageResult found = correlated(all, 0);
  const auto gated = flow_of(found, {FlowKind::velocity, MetresPerSecond(1.0), 0.05});
  for (std::size_t k = 0; k < gated.size(); ++k) EXPECT_EQ(gated[k] != 0.0F, k == 3) << k;
  const auto all_of_it = flow_of(found, {FlowKind::velocity, MetresPerSecond(1.0), 0.0});
  for (std::size_t k = 0; k < all_of_it.size(); ++k) EXPECT_EQ(all_of_it[k] != 0.0F, k != 25 && k != 26) << k;
  const auto variance = flow_of(found, {FlowKind::variance, MetresPerSecond(1.0), 0.05});
  EXPECT_EQ(variance[26], 0.0F);
  // Another threshold is taken between two frames.
  const auto stage = make_stage(flow_stage, FlowOptions{FlowKind::velocity, MetresPerSecond(1.0), 0.05}, backend());
  const StageResult result = run(*stage, found.spec, *found.block);
  const FlowOptions open{FlowKind::velocity, MetresPerSecond(1.0), 0.0};
  EXPECT_FALSE(stage->accepts(FlowOptions{FlowKind::velocity, MetresPerSecond(2.0), 0.0}));
  ASSERT_TRUE(stage->accepts(open));
  stage->retune(open, queue());
  run_again(*stage, *found.block, result);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), all_of_it.data(), result.spec.bytes()), 0);
}

TEST(FlowOptionsOfStages, AreChecked) {
  EXPECT_EQ(input_error([] {
              (void)make_flow_cpu({FlowKind::velocity, MetresPerSecond(0.0)});
            }),
            "flow stage, Nyquist velocity: found 0 m/s; expected above 0");
  EXPECT_EQ(input_error([] {
              (void)make_flow_cpu({FlowKind::velocity, MetresPerSecond(1.0), 2.0});
            }),
            "flow stage, threshold: found 2; expected 0 to 1");
  EXPECT_EQ(input_error([] {
              (void)make_autocorrelation_cpu({1, 0}, 1);
            }),
            "autocorrelation stage, ensemble: found 1; expected 2 samples or more");
  EXPECT_EQ(input_error([] {
              (void)make_autocorrelation_cpu({4, 0}, 1)->prepare(make_spec(ElementType::complex64, 6, 20));
            }),
            "autocorrelation stage, rows: found 6; expected a multiple of the ensemble, 4");
}

}  // namespace
}  // namespace echoform::test
