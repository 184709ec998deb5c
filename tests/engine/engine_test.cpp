// From raw samples to images: the whole chain of the CPU engine against a plain computation in double precision that
// decodes, transforms and sums by the definitions and includes nothing of the stages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "delay_laws/delay_law.hpp"
#include "engines/engine_registry.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/errors.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

/// Raw bytes of a frame, and the amplitudes that they stand for.
struct Frame {
  std::vector<std::byte> bytes;
  std::vector<double> amplitudes;  // [a_scan, sample]
};

Frame random_frame(const Acquisition& acquisition, unsigned seed) {
  Frame frame;
  frame.bytes.resize(acquisition.frame_bytes());
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> twelve_bits(-2000, 2000);
  for (std::size_t row = 0; row < acquisition.a_scans(); ++row) {
    auto* place = reinterpret_cast<unsigned char*>(frame.bytes.data()) + row * acquisition.bytes_per_a_scan();
    for (std::size_t k = 0; k < acquisition.samples; ++k) {
      const int value = twelve_bits(random);
      switch (acquisition.encoding) {
        case SampleEncoding::int16: {
          const auto stored = static_cast<std::int16_t>(value);
          std::memcpy(place + 2 * k, &stored, 2);
          break;
        }
        case SampleEncoding::packed12: {
          const unsigned bits = static_cast<unsigned>(value) & 0xFFFU;
          unsigned char* pair = place + k / 2 * 3;
          if (k % 2 == 0) {
            pair[0] = static_cast<unsigned char>(bits & 0xFFU);
            pair[1] = static_cast<unsigned char>((pair[1] & 0xF0U) | (bits >> 8U));
          } else {
            pair[1] = static_cast<unsigned char>((pair[1] & 0x0FU) | ((bits & 0xFU) << 4U));
            pair[2] = static_cast<unsigned char>(bits >> 4U);
          }
          break;
        }
        case SampleEncoding::float32: {
          const auto stored = static_cast<float>(value);
          std::memcpy(place + 4 * k, &stored, 4);
          break;
        }
      }
      frame.amplitudes.push_back(value * (acquisition.encoding == SampleEncoding::float32 ? 1.0 : acquisition.sample_scale));
    }
  }
  return frame;
}

/// s + i H{s} by the definition of the discrete Fourier transform.
std::vector<Complex> analytic(const double* s, std::size_t m) {
  std::vector<Complex> turn(m);
  for (std::size_t k = 0; k < m; ++k)
    turn[k] = std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(m));
  std::vector<Complex> spectrum(m);
  for (std::size_t f = 0; f < m; ++f) {
    for (std::size_t n = 0; n < m; ++n) spectrum[f] += s[n] * std::conj(turn[f * n % m]);
    const bool alone = f == 0 || 2 * f == m;
    spectrum[f] *= alone ? 1.0 : 2 * f < m ? 2.0 : 0.0;
  }
  std::vector<Complex> result(m);
  for (std::size_t n = 0; n < m; ++n) {
    for (std::size_t f = 0; 2 * f <= m; ++f) result[n] += spectrum[f] * turn[f * n % m];
    result[n] /= static_cast<double>(m);
  }
  return result;
}

/// Amplitude times N^2 of every ordered pair's share, by the conventions for the kinds of matrices.
std::vector<Complex> plain_image(const Acquisition& a, const Frame& frame, const Grid& grid, double velocity_transmit,
                                 double velocity_receive) {
  const std::size_t n = a.elements();
  std::vector<std::vector<Complex>> rows;
  for (std::size_t row = 0; row < a.a_scans(); ++row)
    rows.push_back(analytic(frame.amplitudes.data() + row * a.samples, a.samples));
  std::vector<Complex> image;
  for (std::size_t iz = 0; iz < grid.z.count; ++iz) {
    for (std::size_t ix = 0; ix < grid.x.count; ++ix) {
      const double x = grid.x.first.value +
                       (grid.x.last - grid.x.first).value * static_cast<double>(ix) / static_cast<double>(grid.x.count - 1);
      const double z = grid.z.first.value +
                       (grid.z.last - grid.z.first).value * static_cast<double>(iz) / static_cast<double>(grid.z.count - 1);
      Complex sum = 0.0;
      for (std::size_t tx = 0; tx < n; ++tx) {
        for (std::size_t rx = 0; rx < n; ++rx) {
          if (a.probe.elements[tx].dead || a.probe.elements[rx].dead) continue;
          const std::size_t i = a.matrix == MatrixKind::full ? tx : std::min(tx, rx);
          const std::size_t j = a.matrix == MatrixKind::full ? rx : std::max(tx, rx);
          std::size_t row = tx * n + rx;
          if (a.matrix != MatrixKind::full) {
            row = 0;
            for (std::size_t k = 0; k < i; ++k) row += n - k;
            row += j - i;
          }
          const double share = a.matrix == MatrixKind::half_summed && i != j ? 0.5 : 1.0;
          const double tau = std::hypot(x - a.probe.elements[tx].centre.x.value, z) / velocity_transmit +
                             std::hypot(x - a.probe.elements[rx].centre.x.value, z) / velocity_receive;
          const double u = (tau - a.start_time.value + a.time_offset.value) * a.sample_rate.value;
          if (!(u >= 0.0 && u < static_cast<double>(a.samples - 1))) continue;
          const auto k = static_cast<std::size_t>(u);
          const double f = u - static_cast<double>(k);
          sum += share * ((1.0 - f) * rows[row][k] + f * rows[row][k + 1]);
        }
      }
      image.push_back(sum / static_cast<double>(n * n));
    }
  }
  return image;
}

double relative_error(const std::complex<float>* a, const std::vector<Complex>& b) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += std::norm(Complex(a[k]) - b[k]);
    norm += std::norm(b[k]);
  }
  return std::sqrt(difference / norm);
}

std::shared_ptr<ImagingPlan> make_plan(SampleEncoding encoding, MatrixKind matrix, const std::vector<std::string>& views,
                                       std::size_t samples = 191) {
  auto plan = std::make_shared<ImagingPlan>();
  Acquisition& a = plan->acquisition;
  a.probe = make_linear_probe(7, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.encoding = encoding;
  a.matrix = matrix;
  a.samples = samples;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(0.2e-6);
  a.sample_scale = 0.25;
  plan->material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan->grid = {{Metres(-5.1e-3), Metres(5.3e-3), 21}, {Metres(1.03e-3), Metres(11.9e-3), 19}, {}};
  for (const auto& view : views) plan->laws.push_back(make_delay_law("contact", {a, plan->material, view}));
  return plan;
}

struct Imaged {
  FrameSlot slot;
  std::unique_ptr<Engine> engine;
};

Imaged image_of(std::shared_ptr<const ImagingPlan> plan, const Frame& frame, bool display = true) {
  Imaged imaged;
  imaged.engine = make_engine(plan, {false, BackendKind::cpu, 2}, {true, display});
  imaged.engine->equip(imaged.slot);
  std::memcpy(imaged.slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  bool done = false;
  imaged.engine->submit(imaged.slot, [&](FrameSlot&, bool ok) { done = ok; });
  EXPECT_TRUE(done);
  return imaged;
}

// The single-precision transform (2e-7), delays held to 2^-18 of a sample and sums of 49 terms of white noise, which reaches
// up to half the sampling rate, where an error of a delay costs most.
constexpr double single_precision = 2e-5;

struct Kind {
  SampleEncoding encoding;
  MatrixKind matrix;
};

class EngineKinds : public testing::TestWithParam<Kind> {};

TEST_P(EngineKinds, EqualsThePlainComputation) {
  const auto plan = make_plan(GetParam().encoding, GetParam().matrix, {"LL"});
  const Frame frame = random_frame(plan->acquisition, 1);
  const Imaged imaged = image_of(plan, frame);
  const auto expected = plain_image(plan->acquisition, frame, plan->grid, 6320.0, 6320.0);
  const auto* complex = static_cast<const std::complex<float>*>(imaged.slot.images[0].analytic.data());
  EXPECT_LT(relative_error(complex, expected), single_precision);
  const auto* envelope = static_cast<const float*>(imaged.slot.images[0].envelope.data());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(envelope[k], std::abs(complex[k]), 1e-6F * std::abs(complex[k]));
}

TEST_P(EngineKinds, ImagesSeveralViewsOfOneFrame) {
  const auto plan = make_plan(GetParam().encoding, GetParam().matrix, {"LL", "LT", "TT"}, 320);
  const Frame frame = random_frame(plan->acquisition, 2);
  const Imaged imaged = image_of(plan, frame);
  ASSERT_EQ(imaged.slot.images.size(), 3U);
  const double velocities[3][2] = {{6320.0, 6320.0}, {6320.0, 3130.0}, {3130.0, 3130.0}};
  for (std::size_t view = 0; view < 3; ++view) {
    const auto expected = plain_image(plan->acquisition, frame, plan->grid, velocities[view][0], velocities[view][1]);
    EXPECT_LT(relative_error(static_cast<const std::complex<float>*>(imaged.slot.images[view].analytic.data()), expected),
              single_precision)
        << view;
  }
}

TEST_P(EngineKinds, CountsDeadElementsAsZero) {
  const auto plan = make_plan(GetParam().encoding, GetParam().matrix, {"LL"});
  plan->acquisition.probe.elements[2].dead = true;
  const Frame frame = random_frame(plan->acquisition, 3);
  const Imaged imaged = image_of(plan, frame);
  const auto expected = plain_image(plan->acquisition, frame, plan->grid, 6320.0, 6320.0);
  EXPECT_LT(relative_error(static_cast<const std::complex<float>*>(imaged.slot.images[0].analytic.data()), expected),
            single_precision);
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const auto encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    for (const auto matrix : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) all.push_back({encoding, matrix});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EngineKinds, testing::ValuesIn(kinds()));

TEST(CpuEngine, GivesTheSameBitsForTheSameFrame) {
  const auto plan = make_plan(SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  const Frame frame = random_frame(plan->acquisition, 4);
  const Imaged first = image_of(plan, frame);
  const Imaged second = image_of(plan, frame);
  EXPECT_EQ(0, std::memcmp(first.slot.images[0].analytic.data(), second.slot.images[0].analytic.data(), plan->grid.pixels() * 8));
  EXPECT_EQ(0, std::memcmp(first.slot.images[0].display.data(), second.slot.images[0].display.data(), plan->grid.pixels()));
}

TEST(CpuEngine, CompressesByTheFramesPeakAndConvertsToTheDisplayGrid) {
  const auto plan = make_plan(SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  plan->compression.dynamic_range_db = 30.0;
  plan->display_grid = Grid{{plan->grid.x.first, plan->grid.x.last, 41}, {plan->grid.z.first, plan->grid.z.last, 37}, {}};
  const Frame frame = random_frame(plan->acquisition, 5);
  const Imaged imaged = image_of(plan, frame);
  const auto* envelope = static_cast<const float*>(imaged.slot.images[0].envelope.data());
  const auto* display = static_cast<const std::uint8_t*>(imaged.slot.images[0].display.data());
  const float peak = *std::max_element(envelope, envelope + plan->grid.pixels());
  EXPECT_FLOAT_EQ(imaged.slot.images[0].reference, peak);
  // Every second pixel of the display lies on a pixel of the acoustic grid.
  for (std::size_t iz = 0; iz < 19; ++iz) {
    for (std::size_t ix = 0; ix < 21; ++ix) {
      const double level = 20.0 * std::log10(envelope[iz * 21 + ix] / peak);
      const double expected = std::clamp(255.0 * (1.0 + level / 30.0), 0.0, 255.0);
      EXPECT_NEAR(display[2 * iz * 41 + 2 * ix], expected, 0.51);
    }
  }
}

TEST(CpuEngine, ReportsStagesAndWhatWasWrongWithSamples) {
  const auto plan = make_plan(SampleEncoding::float32, MatrixKind::full, {"LL"}, 256);
  Frame frame = random_frame(plan->acquisition, 6);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(frame.bytes.data() + 4 * 100, &bad, 4);
  const Imaged imaged = image_of(plan, frame);
  EXPECT_EQ(imaged.slot.invalid_samples, 1U);
  EXPECT_EQ(imaged.slot.clipped_samples, 0U);
  std::vector<std::string_view> names;
  for (std::size_t k = 0; k < imaged.slot.timing_count; ++k) names.push_back(imaged.slot.timings[k].stage);
  EXPECT_THAT(names, testing::ElementsAre("half-matrix", "analytic-signal", "beamform", "envelope", "compression"));
  EXPECT_GT(imaged.engine->bytes(), plan->acquisition.a_scans() * plan->acquisition.samples * 4);
}

TEST(CpuEngine, SaysWhatItRunsOn) {
  const auto plan = make_plan(SampleEncoding::int16, MatrixKind::full, {"LL"});
  EXPECT_THAT(make_engine(plan, {false, BackendKind::cpu, 2}, {})->describe(),
              testing::MatchesRegex("cpu, [a-z0-9]+, 2 threads"));
  EXPECT_THAT(make_engine(plan, {false, BackendKind::cpu, 1}, {})->describe(), testing::EndsWith(", 1 thread"));
}

TEST(BackendChoices, GoToTheGpuWhereThereIsOneAndSayWhyNot) {
  const BackendDecision automatic = decide_backend({});
  if (automatic.kind == BackendKind::cuda) {
    EXPECT_EQ(automatic.why_no_gpu, "");
    EXPECT_EQ(decide_backend({false, BackendKind::cuda}).kind, BackendKind::cuda);
    return;
  }
  EXPECT_NE(automatic.why_no_gpu, "");
  const auto plan = make_plan(SampleEncoding::int16, MatrixKind::full, {"LL"});
  EXPECT_EQ(make_engine(plan, {}, {})->backend(), BackendKind::cpu);
  try {
    (void)make_engine(plan, {false, BackendKind::cuda}, {});
    ADD_FAILURE() << "there is no GPU to take";
  } catch (const RuntimeFault& fault) {
    EXPECT_EQ(fault.what(), "backend cuda: " + automatic.why_no_gpu + "; use cpu or auto");
  }
}

}  // namespace
}  // namespace echoform
