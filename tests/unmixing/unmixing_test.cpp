// Spectral unmixing, and images of what it finds, against plain least squares in double precision.
#include "stages/unmixing/unmixing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "stages/unmixed_image/unmixed_image.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

// Haemoglobin with and without oxygen at 700, 760, 800, 850 and 900 nm, and something flat.
const std::vector<double> of_three{0.29, 1.794, 0.5, 0.586, 1.549, 0.5, 0.816, 0.762, 0.5, 1.058, 0.691, 0.5, 1.198, 0.762, 0.5};
const std::vector<double> of_two{0.29, 1.794, 0.586, 1.549, 0.816, 0.762, 1.058, 0.691, 1.198, 0.762};

class Unmixing : public StageTest {
 protected:
  /// What a stage states, and keeps, where it runs.
  [[nodiscard]] std::size_t stated_memory(const StageStatement& stated) const {
    return on_cuda() ? stated.memory.device : stated.memory.host;
  }

  /// Images [wavelength][row, column], each with gaps behind its rows; the output.
  std::vector<float> unmixed(const UnmixingOptions& options, const std::vector<std::vector<float>>& images, std::size_t rows,
                             std::size_t columns) {
    const std::size_t gap = 3;
    std::vector<BlockSpec> specs(images.size(), make_spec(ElementType::float32, rows, columns, columns + gap));
    std::vector<TestBlock> blocks;
    std::vector<const TestBlock*> reads;
    for (std::size_t n = 0; n < images.size(); ++n) {
      blocks.emplace_back(specs[n]);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = 0; k < columns; ++k) blocks[n].as<float>()[r * (columns + gap) + k] = images[n][r * columns + k];
      }
    }
    for (const TestBlock& block : blocks) reads.push_back(&block);
    const auto stage = make_stage(unmixing_stage, options, backend());
    const BlockSpec output = stage->prepare(std::span<const BlockSpec>(specs));
    const StageStatement stated = unmixing_stage.state(options, std::span<const BlockSpec>(specs), {backend().kind(), threads()});
    EXPECT_EQ(stated.output, output);
    EXPECT_EQ(stated_memory(stated), stage->bytes());
    TestBlock result(output);
    run_inputs(*stage, reads, result);
    return {result.as<float>(), result.as<float>() + output.rows * output.columns};
  }
};

std::vector<std::vector<float>> drawn_images(std::size_t wavelengths, std::size_t pixels, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> values(0.3F, 1.0F);
  std::vector<std::vector<float>> images(wavelengths, std::vector<float>(pixels));
  for (auto& image : images) {
    for (float& value : image) value = values(generator);
  }
  return images;
}

/// Solution of the normal equations A'A c = A'b by elimination with pivots.
std::vector<double> normal_solution(const std::vector<double>& absorption, std::size_t components,
                                    const std::vector<double>& values) {
  const std::size_t m = components;
  std::vector<std::vector<double>> system(m, std::vector<double>(m + 1, 0.0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      for (std::size_t j = 0; j < m; ++j) system[i][j] += absorption[n * m + i] * absorption[n * m + j];
      system[i][m] += absorption[n * m + i] * values[n];
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < m; ++r) {
      if (std::abs(system[r][i]) > std::abs(system[pivot][i])) pivot = r;
    }
    std::swap(system[i], system[pivot]);
    for (std::size_t r = 0; r < m; ++r) {
      if (r == i) continue;
      const double factor = system[r][i] / system[i][i];
      for (std::size_t j = i; j <= m; ++j) system[r][j] -= factor * system[i][j];
    }
  }
  std::vector<double> solution(m);
  for (std::size_t i = 0; i < m; ++i) solution[i] = system[i][m] / system[i][i];
  return solution;
}

TEST_P(Unmixing, IsThePlainLeastSquaresFitAtEveryPixel) {
  const std::size_t rows = 37;
  const std::size_t columns = 29;
  const auto images = drawn_images(5, rows * columns, 7);
  for (const auto& [components, absorption] : {std::pair{std::size_t{2}, of_two}, std::pair{std::size_t{3}, of_three}}) {
    const std::vector<float> found = unmixed({components, absorption, false}, images, rows, columns);
    double worst = 0.0;
    for (std::size_t p = 0; p < rows * columns; ++p) {
      std::vector<double> values;
      for (const auto& image : images) values.push_back(static_cast<double>(image[p]));
      const std::vector<double> wanted = normal_solution(absorption, components, values);
      for (std::size_t m = 0; m < components; ++m) {
        worst = std::max(worst, std::abs(wanted[m] - static_cast<double>(found[m * rows * columns + p])));
      }
    }
    // Concentrations are 5 at the most, of sums of five products in single precision whose parts are ten times as large (three
    // components that are alike).
    EXPECT_LE(worst, 2e-5) << components;
  }
}

/// Karush, Kuhn and Tucker: at least 0, and where 0 the sum of squares grows with the concentration, elsewhere it stands still.
TEST_P(Unmixing, NonNegativeFitsMeetTheConditionsOfTheLeast) {
  const std::size_t rows = 31;
  const std::size_t columns = 33;
  const std::size_t pixels = rows * columns;
  const auto images = drawn_images(5, pixels, 8);
  for (const auto& [components, absorption] : {std::pair{std::size_t{2}, of_two}, std::pair{std::size_t{3}, of_three}}) {
    const std::vector<float> found = unmixed({components, absorption, true}, images, rows, columns);
    std::size_t at_zero = 0;
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t m = 0; m < components; ++m) {
        const double c = static_cast<double>(found[m * pixels + p]);
        double slope = 0.0;  // of half the sum of squares
        for (std::size_t n = 0; n < images.size(); ++n) {
          double left = -static_cast<double>(images[n][p]);
          for (std::size_t j = 0; j < components; ++j) {
            left += absorption[n * components + j] * static_cast<double>(found[j * pixels + p]);
          }
          slope += absorption[n * components + m] * left;
        }
        ASSERT_GE(c, 0.0);
        // Slopes are sums of numbers of 10 at the most, of concentrations in single precision. Which of them are 0 is told by
        // sums of squares of up to 20, to 1e-6 of them: a slope below 0 is then no more than sqrt(2 * 2e-5 * 7), 7 the square of
        // a spectrum.
        if (c > 0.0) {
          EXPECT_NEAR(slope, 0.0, 5e-5) << p;
        } else {
          EXPECT_GE(slope, -1.7e-2) << p;
          ++at_zero;
        }
      }
    }
    EXPECT_GT(at_zero, pixels / 4) << "a test of the bound";
    EXPECT_LT(at_zero, components * pixels);
  }
}

TEST_P(Unmixing, FindsHowMuchThereWasAndItsSaturation) {
  // 60 % of 2 at the first pixel, all of 1 at the second, nothing at the third, no number at the last.
  const std::vector<std::array<double, 2>> truth{{1.2, 0.8}, {1.0, 0.0}, {0.0, 0.0}, {1.0, 1.0}};
  std::vector<std::vector<float>> images(5, std::vector<float>(truth.size()));
  for (std::size_t n = 0; n < images.size(); ++n) {
    for (std::size_t p = 0; p < truth.size(); ++p) {
      images[n][p] = static_cast<float>(of_two[2 * n] * truth[p][0] + of_two[2 * n + 1] * truth[p][1]);
    }
  }
  images[2][3] = std::nanf("");
  const std::vector<float> found = unmixed({2, of_two, false}, images, 1, 4);
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t m = 0; m < 2; ++m) EXPECT_NEAR(static_cast<double>(found[m * 4 + p]), truth[p][m], 2e-6);
  }
  EXPECT_TRUE(std::isnan(found[3]));
  EXPECT_TRUE(std::isnan(found[7]));

  const BlockSpec spec = make_spec(ElementType::float32, 2, 4);
  TestBlock block(spec);
  std::copy(found.begin(), found.end(), block.as<float>());
  const UnmixedImageOptions share{UnmixedKind::share, 2, 0, 1, 0.1};
  const auto stage = make_stage(unmixed_image_stage, share, backend());
  const StageResult saturation = run(*stage, spec, block);
  const StageStatement stated = unmixed_image_stage.state(share, spec, {backend().kind(), threads()});
  EXPECT_EQ(stated.output, saturation.spec);
  EXPECT_EQ(stated_memory(stated), stage->bytes());
  const float* const s = saturation.block->as<float>();
  EXPECT_NEAR(s[0], 0.6F, 2e-6F);
  EXPECT_NEAR(s[1], 1.0F, 2e-6F);
  EXPECT_TRUE(std::isnan(s[2])) << "nothing is there";
  EXPECT_TRUE(std::isnan(s[3]));
  // The second pixel holds half of what the first does.
  UnmixedImageOptions strict = share;
  strict.threshold = 0.6;
  ASSERT_TRUE(stage->accepts(strict));
  stage->retune(strict, queue());
  run_again(*stage, block, saturation);
  EXPECT_NEAR(s[0], 0.6F, 2e-6F);
  EXPECT_TRUE(std::isnan(s[1]));

  const auto second = make_stage(unmixed_image_stage, UnmixedImageOptions{UnmixedKind::concentration, 2, 1, 0, 0.0}, backend());
  const StageResult concentration = run(*second, spec, block);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(concentration.block->as<float>()[p], found[4 + p]);
}

TEST_P(Unmixing, AnswersWithOneLineWhereItCannot) {
  const auto refusal = [&](const UnmixingOptions& options) {
    return input_error([&] { static_cast<void>(make_stage(unmixing_stage, options, backend())); });
  };
  EXPECT_EQ(
      refusal({2, {1.0, 2.0, 2.0, 4.0}, false}),
      "unmixing stage, absorption: found a component that is a mixture of the others at these wavelengths; expected spectra that "
      "these wavelengths tell apart");
  EXPECT_NE(refusal({2, {1.0, 2.0}, false}), "") << "fewer wavelengths than components";
  EXPECT_NE(refusal({2, {1.0, 2.0, 3.0}, false}), "");
  EXPECT_NE(refusal({0, {1.0}, false}), "");
  EXPECT_NE(refusal({5, std::vector<double>(25, 1.0), false}), "");
  EXPECT_NE(refusal({1, {std::nan("")}, false}), "");
  EXPECT_NE(refusal({1, {-1.0}, false}), "");
  EXPECT_NE(refusal({1, {0.0}, false}), "");
  EXPECT_EQ(refusal({1, {1.0}, false}), "");
  const BlockSpec small = make_spec(ElementType::float32, 2, 4);
  const BlockSpec large = make_spec(ElementType::float32, 4, 4);
  const auto stage = make_stage(unmixing_stage, UnmixingOptions{1, {1.0, 2.0}, false}, backend());
  const std::array<BlockSpec, 2> both{small, large};
  EXPECT_EQ(input_error([&] { static_cast<void>(stage->prepare(std::span<const BlockSpec>(both))); }),
            "unmixing stage, inputs: found 4 x 4 beside 4 x 2; expected images of one size");
  EXPECT_NE(input_error([&] { static_cast<void>(stage->prepare(small)); }), "");
  const auto image_refusal = [&](const UnmixedImageOptions& options) {
    return input_error([&] { static_cast<void>(make_stage(unmixed_image_stage, options, backend())); });
  };
  EXPECT_NE(image_refusal({UnmixedKind::concentration, 2, 2, 0, 0.0}), "");
  EXPECT_NE(image_refusal({UnmixedKind::share, 2, 1, 1, 0.0}), "");
  EXPECT_NE(image_refusal({UnmixedKind::share, 2, 0, 1, 1.5}), "");
}

ECHOFORM_ALL_IMPLEMENTATIONS(Unmixing);

}  // namespace
}  // namespace echoform::test
