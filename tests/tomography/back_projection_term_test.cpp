#include "stages/back_projection_term/back_projection_term.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "stages/back_projection/back_projection.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class BackProjectionTerm : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const BackProjectionTermOptions& options) {
    if (on_cuda()) return make_stage(back_projection_term_stage, options, backend());
    return make_back_projection_term_cpu(options, threads(), level());
  }
  StageResult term_of(const BackProjectionTermOptions& options, const BlockSpec& spec, const TestBlock& input) {
    const auto stage = make(options);
    return run(*stage, spec, input);
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(BackProjectionTerm);

constexpr double term_velocity = 1540.0;
constexpr double term_rate = 20e6;

BackProjectionTermOptions of(ProjectedTerm term, double start) {
  return {term, MetresPerSecond(term_velocity), Hertz(term_rate), Seconds(start)};
}

/// p = sin(2 pi f t), whose term is known; away from the ends.
TEST_P(BackProjectionTerm, EqualsThatOfASine) {
  constexpr std::size_t rows = 3;
  constexpr std::size_t columns = 333;
  const BlockSpec spec = make_spec(ElementType::float32, rows, columns, 340);
  // Errors of the derivative that the header states, and rounding of sums of 24 numbers.
  for (const auto& [part, error] : {std::pair{0.1, 1e-12}, {0.2, 8.1e-7}, {0.25, 7.6e-5}, {0.3, 2.2e-3}}) {
    const double omega = 2.0 * std::numbers::pi * part * term_rate;
    const double start = 7.3e-6;
    const TestBlock input(spec);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = 0; n < columns; ++n) {
        const double t = start + static_cast<double>(n) / term_rate;
        input.as<float>()[row * 340 + n] = static_cast<float>(std::sin(omega * t + static_cast<double>(row)));
      }
    }
    const StageResult filtered = term_of(of(ProjectedTerm::filtered, start), spec, input);
    const StageResult universal = term_of(of(ProjectedTerm::universal, start), spec, input);
    ASSERT_EQ(filtered.spec, make_spec(ElementType::float32, rows, columns, 336));
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = derivative_reach; n < columns - derivative_reach; ++n) {
        const double t = start + static_cast<double>(n) / term_rate;
        const double p = std::sin(omega * t + static_cast<double>(row));
        const double slope = omega * std::cos(omega * t + static_cast<double>(row));
        const double tolerance = error + 2e-6;
        ASSERT_NEAR(filtered.block->as<float>()[row * 336 + n], 2.0 * p / (term_velocity * t) + slope / term_velocity,
                    tolerance * omega / term_velocity);
        ASSERT_NEAR(universal.block->as<float>()[row * 336 + n], 2.0 * p - 2.0 * t * slope, tolerance * 2.0 * t * omega);
      }
      for (std::size_t n = columns; n < 336; ++n) ASSERT_EQ(filtered.block->as<float>()[row * 336 + n], 0.0F);
    }
  }
}

/// Of a constant pressure of 1 the term is 2 / |r - r_s|, at the ends of the record too. The second algorithm of Wang and others
/// (2013), whose coefficients of neighbouring samples add up to nothing, makes it 0; its first one, and equation 27, 2 / |r -
/// r_s|.
TEST_P(BackProjectionTerm, OfAConstantIsTwoOverTheDistance) {
  constexpr std::size_t columns = 1022;
  constexpr double start = 16e-6;
  const BlockSpec spec = make_spec(ElementType::float32, 1, columns);
  const TestBlock input(spec);
  std::fill_n(input.as<float>(), columns, 1.0F);
  const StageResult filtered = term_of(of(ProjectedTerm::filtered, start), spec, input);
  const StageResult universal = term_of(of(ProjectedTerm::universal, start), spec, input);
  const BlockSpec terms = filtered.spec;
  for (std::size_t n = 0; n < columns; ++n) {
    const double distance = term_velocity * (start + static_cast<double>(n) / term_rate);
    ASSERT_NEAR(filtered.block->as<float>()[n], 2.0 / distance, 1e-6 / distance);
    ASSERT_EQ(universal.block->as<float>()[n], 2.0F);
  }
  // And so the bracket that is summed for a voxel, between samples: 2 / d is interpolated to (step / d)^2 / 4 of itself.
  BackProjectionOptions options;
  options.grid.x = {Metres(-0.02), Metres(0.02), 19};
  options.velocity = MetresPerSecond(term_velocity);
  options.sample_rate = Hertz(term_rate);
  options.start_time = Seconds(start);
  options.detectors = std::make_shared<const std::vector<ProjectionDetector>>(
      std::vector<ProjectionDetector>{{0, {Metres(0.065), Metres(0.0), Metres(0.001)}, {-1.0, 0.0, 0.0}, 1.0}});
  const auto projection =
      on_cuda() ? make_stage(back_projection_stage, options, backend()) : make_back_projection_cpu(options, level());
  const StageResult bracket = run(*projection, terms, *filtered.block);
  for (std::size_t k = 0; k < 19; ++k) {
    const double distance = std::hypot(0.065 - options.grid.x.at(k).value, 0.001);
    ASSERT_NEAR(bracket.block->as<float>()[k], 2.0 / distance, 1e-5 / distance);
    // What algorithm 2 prints: the first coefficient lacks the 1 that makes it that of the following sample.
    const double u = distance / term_velocity * term_rate;
    const double n = std::floor(u);
    const double printed = 2.0 / (term_velocity / term_rate) * ((n / u - 1.5) + (1.5 - n / u));
    const double corrected = 2.0 / (term_velocity / term_rate) * (((n + 1.0) / u - 1.5) + (1.5 - n / u));
    ASSERT_NEAR(corrected, 2.0 / distance, 1e-9 / distance);
    ASSERT_NEAR(printed, 0.0, 1e-9 / distance);
  }
}

TEST_P(BackProjectionTerm, IsNothingBeforeThePulse) {
  constexpr std::size_t columns = 40;
  const BlockSpec spec = make_spec(ElementType::float32, 1, columns);
  const TestBlock input(spec);
  std::fill_n(input.as<float>(), columns, 1.0F);
  const StageResult result = term_of(of(ProjectedTerm::filtered, -10.0 / term_rate), spec, input);
  for (std::size_t n = 0; n < columns; ++n) EXPECT_EQ(result.block->as<float>()[n] != 0.0F, n > 10) << n;
}

TEST_P(BackProjectionTerm, IsTheSameBitsEverywhere) {
  constexpr std::size_t columns = 517;
  const BlockSpec spec = make_spec(ElementType::float32, 67, columns);
  const TestBlock input(spec);
  std::mt19937 random(3);
  std::normal_distribution<float> noise;
  for (std::size_t n = 0; n < 67 * columns; ++n) input.as<float>()[n] = noise(random);
  const StageResult result = term_of(of(ProjectedTerm::universal, 1e-6), spec, input);
  const auto plain = make_back_projection_term_cpu(of(ProjectedTerm::universal, 1e-6), 1, SimdLevel::portable);
  const StageResult want = run_on_one_thread(*plain, spec, input);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0);
}

TEST_P(BackProjectionTerm, RefusesWhatItCannotTake) {
  EXPECT_EQ(input_error([&] {
              (void)make({ProjectedTerm::filtered, {}, Hertz(1e6), {}});
            }),
            "back-projection-term stage, velocity: found 0 m/s; expected above 0");
  const auto stage = make(of(ProjectedTerm::filtered, 0.0));
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::float32, 3, 1)); }),
            "back-projection-term stage, input samples: found 1; expected 2 to 268435456");
}

}  // namespace
}  // namespace echoform::test
