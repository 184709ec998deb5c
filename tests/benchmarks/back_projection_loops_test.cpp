// The frozen loops of back-projection compute what they say, and the stage that they are compared with computes the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/reference_back_projection.hpp"
#include "benchmarks/tomography.hpp"

namespace echoform::reference {
namespace {

/// Detectors at random around a small volume, a few of which look away; some voxels lie beyond the samples.
struct SmallVolume {
  static constexpr std::size_t detectors = 40;

  SmallVolume() : data(detectors * samples) {
    std::minstd_rand random(3);
    std::normal_distribution<float> normal;
    for (std::size_t q = 0; q < detectors; ++q) {
      float d[3];
      for (float& v : d) v = normal(random);
      const float size = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      for (std::size_t k = 0; k < 3; ++k) {
        place[k].push_back(0.03F * d[k] / size);
        inward[k].push_back((q % 7 == 0 ? 1.0F : -1.0F) * d[k] / size);
      }
      weight.push_back(1.0F + 0.01F * static_cast<float>(q));
      // Slow, so that a place in single precision is no error worth a word.
      for (std::size_t n = 0; n < samples; ++n) {
        data[q * samples + n] = std::sin(0.05F * static_cast<float>(n) + 0.3F * static_cast<float>(q));
      }
    }
    task = {.columns = 9,
            .rows = 4,
            .planes = 3,
            .first_x = -6e-3F,
            .first_y = -2e-3F,
            .first_z = -1e-3F,
            .spacing = 1.5e-3F,
            .detectors = detectors,
            .x = place[0].data(),
            .y = place[1].data(),
            .z = place[2].data(),
            .normal_x = inward[0].data(),
            .normal_y = inward[1].data(),
            .normal_z = inward[2].data(),
            .weight = weight.data(),
            .samples = samples,
            .velocity = 1500.0F,
            .sample_rate = 20e6F,
            .start_time = 17e-6F};
  }

  struct Sum {
    double value = 0.0;
    double magnitude = 0.0;
    bool clear = true;  ///< no detector's lookup is at the very end of its samples, where single precision decides
    std::size_t heard = 0;
  };
  [[nodiscard]] Sum at(std::size_t voxel, bool universal) const {
    const double at[3]{task.first_x + static_cast<double>(voxel % task.columns) * task.spacing,
                       task.first_y + static_cast<double>(voxel / task.columns % task.rows) * task.spacing,
                       task.first_z + static_cast<double>(voxel / (task.columns * task.rows)) * task.spacing};
    Sum sum;
    for (std::size_t q = 0; q < detectors; ++q) {
      double squared = 0.0;
      double facing = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double v = at[k] - place[k][q];
        squared += v * v;
        facing += v * inward[k][q];
      }
      const double distance = std::sqrt(squared);
      const double u = (distance / task.velocity - task.start_time) * task.sample_rate;
      const double end = static_cast<double>(samples - 1);
      sum.clear = sum.clear && std::abs(u) > 1e-2 && std::abs(u - end) > 1e-2;
      if (u < 0.0 || u >= end) continue;
      const auto n = static_cast<std::size_t>(u);
      const double a = data[q * samples + n];
      const double b = data[q * samples + n + 1];
      const double w = weight[q] * (universal ? std::max(0.0, facing) / (squared * distance) : 1.0);
      sum.value += w * (a + (u - static_cast<double>(n)) * (b - a));
      sum.magnitude += w;
      ++sum.heard;
    }
    return sum;
  }

  static constexpr std::size_t samples = 160;
  std::vector<float> place[3];
  std::vector<float> inward[3];
  std::vector<float> weight;
  std::vector<float> data;
  Projection task;
};

void expect_the_direct_sum(bool universal) {
  const SmallVolume volume;
  const auto loop = universal ? universal_back_projection_loop : filtered_back_projection_loop;
  std::size_t cut = 0;
  for (const int threads : {1, 2}) {
    std::vector<float> image(volume.task.columns * volume.task.rows * volume.task.planes, 7.0F);
    loop(volume.task, volume.data.data(), image.data(), threads);
    for (std::size_t k = 0; k < image.size(); ++k) {
      const SmallVolume::Sum want = volume.at(k, universal);
      cut += want.heard < SmallVolume::detectors ? 1 : 0;
      // Places of up to 560 samples from the pulse of light are to 1e-4 of one, over which samples change by 0.05.
      if (!want.clear) continue;
      EXPECT_NEAR(image[k], want.value, 1e-5 * want.magnitude) << "voxel " << k;
    }
  }
  EXPECT_GT(cut, 0U);
}

TEST(BackProjectionLoops, FilteredOneSumsWhatTheDirectSumDoes) {
  expect_the_direct_sum(false);
}

TEST(BackProjectionLoops, UniversalOneSumsWhatTheDirectSumDoes) {
  expect_the_direct_sum(true);
}

}  // namespace
}  // namespace echoform::reference

namespace echoform::benchmarks {
namespace {

TEST(BackProjectionLoops, AreWhatTheStageComputes) {
  ProjectionCase test;
  test.rings = 8;
  test.views = 6;
  test.across = 21;
  test.planes = 2;
  test.plain_planes = 2;
  test.rounds = 2;
  test.threads = 2;
  const ProjectionReport report = measure_projections(test, [](const std::string&) {});
  ASSERT_EQ(report.figures.size(), 2U);
  for (const ProjectionFigure& figure : report.figures) {
    EXPECT_EQ(figure.pairs, 8.0 * 6.0 * 21.0 * 21.0 * 2.0);
    EXPECT_EQ(figure.turns.values("stage").size(), 2U);
    EXPECT_GT(figure.ratio.least, 0.0);
    // Places of 1000 samples in single precision are to some 1e-4 of one, and noise changes by about its size from one to the
    // next.
    EXPECT_LT(figure.difference, 3e-4) << figure.algorithm;
  }
}

TEST(TomographyBenchmark, RingIsImagedFromReceivedSamplesToItsDisplay) {
  const auto setup = live_ring_setup({.detectors = 32, .samples = 2030, .pixels = 16, .threads = 1});
  EXPECT_EQ(setup->acquisition.a_scans(), 32U);
  EXPECT_EQ(setup->acquisition.encoding, SampleEncoding::int16);
  std::vector<std::string> stages;
  for (const Step& step : setup->recipe.steps) stages.emplace_back(step.stage->name);
  for (const char* const wanted : {"pairing", "filter", "back-projection-term", "back-projection"}) {
    EXPECT_NE(std::find(stages.begin(), stages.end(), wanted), stages.end()) << wanted;
  }
}

}  // namespace
}  // namespace echoform::benchmarks
