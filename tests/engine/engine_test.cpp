// From raw samples to images: the whole chain of every engine against a plain computation in double precision that decodes,
// transforms and sums by the definitions and includes nothing of the stages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <numbers>
#include <numeric>
#include <random>

#include "delay_laws/delay_law.hpp"
#include "engines/engine_registry.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/errors.hpp"
#include "pipeline/words.hpp"
#include "tests/support/require_gpu.hpp"

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

/// Amplitude times N^2 of every ordered pair's share, by the conventions for the kinds of matrices; of the gate alone where
/// the plan has one.
std::vector<Complex> plain_image(const ImagingPlan& plan, const Frame& frame, double velocity_transmit, double velocity_receive) {
  const Acquisition& a = plan.acquisition;
  const Grid& grid = plan.grid;
  const SampleGate gate = plan.gate.value_or(SampleGate{0, a.samples});
  const std::size_t n = a.elements();
  std::vector<std::vector<Complex>> rows;
  for (std::size_t row = 0; row < a.a_scans(); ++row)
    rows.push_back(analytic(frame.amplitudes.data() + row * a.samples + gate.first, gate.count));
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
          const double u =
              (tau - a.start_time.value + a.time_offset.value) * a.sample_rate.value - static_cast<double>(gate.first);
          if (!(u >= 0.0 && u < static_cast<double>(gate.count - 1))) continue;
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

/// An engine, and the path that it takes for an accuracy.
struct Place {
  std::string name;
  BackendKind backend = BackendKind::cpu;
  double accuracy = 1e-3;
  /// Of complex images, relative L2. CPU: the single-precision transform (2e-7), delays held to 2^-18 of a sample and sums of
  /// 49 terms of white noise, which reaches up to half the sampling rate, where an error of a delay costs most. GPU: what the
  /// plan's accuracy promises; the single-precision path serves all accuracies below 1e-3.
  double tolerance = 2e-5;
};
const Place cpu_place{"cpu", BackendKind::cpu, 1e-3, 2e-5};
const Place float_place{"cuda_float", BackendKind::cuda, 1e-4, 1e-4};
const Place half_place{"cuda_half", BackendKind::cuda, 1e-3, 1e-3};

std::vector<Place> cuda_places() {
  // Always in the list of a build with CUDA code, so that a missing GPU is seen as a skip.
  return probe_devices().compiled ? std::vector<Place>{float_place, half_place} : std::vector<Place>{};
}
std::vector<Place> places() {
  std::vector<Place> all = cuda_places();
  all.insert(all.begin(), cpu_place);
  return all;
}

std::shared_ptr<ImagingPlan> make_plan(const Place& place, SampleEncoding encoding, MatrixKind matrix,
                                       const std::vector<std::string>& views, std::size_t samples = 191,
                                       std::size_t elements = 7) {
  auto plan = std::make_shared<ImagingPlan>();
  plan->accuracy = place.accuracy;
  Acquisition& a = plan->acquisition;
  a.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
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
  [[nodiscard]] const std::complex<float>* complex(std::size_t view = 0) const {
    return static_cast<const std::complex<float>*>(slot.images[view].analytic.data());
  }
};

void put(const Frame& frame, FrameSlot& slot) {
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
}

std::unique_ptr<Engine> engine_at(const Place& place, std::shared_ptr<const ImagingPlan> plan, EngineOptions options) {
  return make_engine(std::move(plan), {.automatic = false, .kind = place.backend, .threads = 2}, options);
}

Imaged image_of(const Place& place, std::shared_ptr<const ImagingPlan> plan, const Frame& frame,
                const EngineOptions& options = {.keep_analytic = true}) {
  Imaged imaged;
  imaged.engine = engine_at(place, std::move(plan), options);
  imaged.engine->equip(imaged.slot);
  put(frame, imaged.slot);
  EXPECT_TRUE(image_now(*imaged.engine, imaged.slot));
  return imaged;
}

/// Whether two frames have the same results, bit for bit.
void expect_same(const FrameSlot& a, const FrameSlot& b) {
  ASSERT_EQ(a.images.size(), b.images.size());
  const auto same = [](const Buffer& one, const Buffer& other) {
    return one.size() == other.size() && (one.size() == 0 || std::memcmp(one.data(), other.data(), one.size()) == 0);
  };
  for (std::size_t view = 0; view < a.images.size(); ++view) {
    EXPECT_TRUE(same(a.images[view].analytic, b.images[view].analytic)) << view;
    EXPECT_TRUE(same(a.images[view].envelope, b.images[view].envelope)) << view;
    EXPECT_TRUE(same(a.images[view].display, b.images[view].display)) << view;
    EXPECT_EQ(a.images[view].reference, b.images[view].reference) << view;
  }
  EXPECT_EQ(a.clipped_samples, b.clipped_samples);
  EXPECT_EQ(a.invalid_samples, b.invalid_samples);
}

struct Kind {
  Place place;
  SampleEncoding encoding;
  MatrixKind matrix;
};

class EngineKinds : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam().place.backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
  [[nodiscard]] static std::shared_ptr<ImagingPlan> plan_of(const std::vector<std::string>& views, std::size_t samples = 191) {
    return make_plan(GetParam().place, GetParam().encoding, GetParam().matrix, views, samples);
  }
};

TEST_P(EngineKinds, EqualsThePlainComputation) {
  const auto plan = plan_of({"LL"});
  const Frame frame = random_frame(plan->acquisition, 1);
  const Imaged imaged = image_of(GetParam().place, plan, frame);
  const auto expected = plain_image(*plan, frame, 6320.0, 6320.0);
  EXPECT_LT(relative_error(imaged.complex(), expected), GetParam().place.tolerance);
  const auto* envelope = static_cast<const float*>(imaged.slot.images[0].envelope.data());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(envelope[k], std::abs(imaged.complex()[k]), 1e-6F * std::abs(imaged.complex()[k]));
  }
}

TEST_P(EngineKinds, ImagesSeveralViewsOfOneFrame) {
  const auto plan = plan_of({"LL", "LT", "TT", "TL"}, 320);
  const Frame frame = random_frame(plan->acquisition, 2);
  const Imaged imaged = image_of(GetParam().place, plan, frame);
  ASSERT_EQ(imaged.slot.images.size(), 4U);
  const double velocities[4][2] = {{6320.0, 6320.0}, {6320.0, 3130.0}, {3130.0, 3130.0}, {3130.0, 6320.0}};
  for (std::size_t view = 0; view < 4; ++view) {
    const auto expected = plain_image(*plan, frame, velocities[view][0], velocities[view][1]);
    EXPECT_LT(relative_error(imaged.complex(view), expected), GetParam().place.tolerance) << view;
  }
}

TEST_P(EngineKinds, CountsDeadElementsAsZero) {
  const auto plan = plan_of({"LL"});
  plan->acquisition.probe.elements[2].dead = true;
  const Frame frame = random_frame(plan->acquisition, 3);
  const Imaged imaged = image_of(GetParam().place, plan, frame);
  EXPECT_LT(relative_error(imaged.complex(), plain_image(*plan, frame, 6320.0, 6320.0)), GetParam().place.tolerance);
}

TEST_P(EngineKinds, TransformsAndImagesTheGateAlone) {
  for (const SampleGate gate : {SampleGate{0, 160}, SampleGate{16, 144}, SampleGate{40, 97}}) {
    const auto plan = plan_of({"LL"}, 240);
    plan->gate = gate;
    const Frame frame = random_frame(plan->acquisition, 7);
    const Imaged imaged = image_of(GetParam().place, plan, frame);
    EXPECT_LT(relative_error(imaged.complex(), plain_image(*plan, frame, 6320.0, 6320.0)), GetParam().place.tolerance)
        << gate.first;
  }
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const Place& place : places()) {
    for (const auto encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      for (const auto matrix : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
        all.push_back({place, encoding, matrix});
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EngineKinds, testing::ValuesIn(kinds()), [](const auto& kind) {
  return kind.param.place.name + "_" + std::string(words::sample_encoding.of(kind.param.encoding)) + "_" +
         std::string(words::matrix_kind.of(kind.param.matrix));
});

class Engines : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
};

TEST_P(Engines, GiveTheSameBitsForTheSameFrame) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL", "LT"}, 256);
  const Frame frame = random_frame(plan->acquisition, 4);
  expect_same(image_of(GetParam(), plan, frame).slot, image_of(GetParam(), plan, frame).slot);
}

TEST_P(Engines, CompressByTheFramesPeakAndConvertToTheDisplayGrid) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  plan->compression.dynamic_range_db = 30.0;
  plan->display_grid = Grid{{plan->grid.x.first, plan->grid.x.last, 41}, {plan->grid.z.first, plan->grid.z.last, 37}, {}};
  const Frame frame = random_frame(plan->acquisition, 5);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  const auto* envelope = static_cast<const float*>(imaged.slot.images[0].envelope.data());
  const auto* display = static_cast<const std::uint8_t*>(imaged.slot.images[0].display.data());
  const float peak = *std::max_element(envelope, envelope + plan->grid.pixels());
  EXPECT_FLOAT_EQ(imaged.slot.images[0].reference, peak);
  EXPECT_FLOAT_EQ(imaged.engine->reference(0), peak);
  // Every second pixel of the display lies on a pixel of the acoustic grid.
  for (std::size_t iz = 0; iz < 19; ++iz) {
    for (std::size_t ix = 0; ix < 21; ++ix) {
      const double level = 20.0 * std::log10(envelope[iz * 21 + ix] / peak);
      const double expected = std::clamp(255.0 * (1.0 + level / 30.0), 0.0, 255.0);
      EXPECT_NEAR(display[2 * iz * 41 + 2 * ix], expected, 0.51);
    }
  }
}

TEST_P(Engines, GoOnFromTheReferenceOfTheEngineBefore) {
  const auto plan = make_plan(GetParam(), SampleEncoding::float32, MatrixKind::full, {"LL"}, 256);
  const Frame frame = random_frame(plan->acquisition, 8);
  const Imaged alone = image_of(GetParam(), plan, frame);
  const float peak = alone.slot.images[0].reference;
  Imaged next;
  next.engine = engine_at(GetParam(), plan, {});
  EXPECT_EQ(next.engine->reference(0), 0.0F);
  next.engine->equip(next.slot);
  next.engine->resume(0, 3.0F * peak);
  put(frame, next.slot);
  ASSERT_TRUE(image_now(*next.engine, next.slot));
  // A tenth of the way from 3 peaks to 1.
  EXPECT_NEAR(next.slot.images[0].reference, 2.8F * peak, 1e-5F * peak);
}

TEST_P(Engines, ReportStagesAndWhatWasWrongWithSamples) {
  const bool cuda = GetParam().backend == BackendKind::cuda;
  const auto plan = make_plan(GetParam(), SampleEncoding::float32, MatrixKind::full, {"LL"}, 256);
  Frame frame = random_frame(plan->acquisition, 6);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(frame.bytes.data() + 4 * 100, &bad, 4);
  for (const bool eager : {false, true}) {
    const Imaged imaged = image_of(GetParam(), plan, frame, {.keep_analytic = true, .eager = eager});
    EXPECT_EQ(imaged.slot.invalid_samples, 1U);
    EXPECT_EQ(imaged.slot.clipped_samples, 0U);
    std::vector<std::string_view> names;
    for (std::size_t k = 0; k < imaged.slot.timing_count; ++k) names.push_back(imaged.slot.timings[k].stage);
    std::vector<std::string_view> expected{"half-matrix", "analytic-signal", "beamform", "envelope", "compression"};
    if (cuda && !eager) expected = {"compute"};
    if (cuda) expected.insert(expected.begin(), "upload");
    if (cuda) expected.push_back("download");
    EXPECT_EQ(names, expected);
    EXPECT_GT(imaged.engine->bytes(), plan->acquisition.a_scans() * plan->acquisition.samples * 4);
  }
}

TEST_P(Engines, ImageSeveralFramesAtOnceInOrder) {
  constexpr std::size_t slots = 4;
  constexpr std::size_t frames = 24;
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  plan->compression.running_fraction = 1.0;  // so that no frame depends on the one before
  std::vector<Frame> inputs;
  for (unsigned k = 0; k < frames; ++k) inputs.push_back(random_frame(plan->acquisition, 100 + k));

  Imaged one;
  one.engine = engine_at(GetParam(), plan, {.keep_analytic = true});
  one.engine->equip(one.slot);
  const auto engine = engine_at(GetParam(), plan, {.keep_analytic = true, .slots = slots});
  std::vector<FrameSlot> ring(slots);
  for (std::size_t k = 0; k < slots; ++k) {
    ring[k].index = k;
    engine->equip(ring[k]);
  }
  struct {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::uint64_t> order;
  } state;
  for (std::size_t k = 0; k < frames + slots; ++k) {
    FrameSlot& slot = ring[k % slots];
    if (k >= slots) {
      std::unique_lock lock(state.mutex);
      ASSERT_TRUE(state.changed.wait_for(lock, std::chrono::seconds(60), [&] { return state.order.size() > k - slots; }));
      lock.unlock();
      put(inputs[k - slots], one.slot);
      ASSERT_TRUE(image_now(*one.engine, one.slot));
      expect_same(slot, one.slot);
    }
    if (k >= frames) continue;
    slot.sequence = k;
    put(inputs[k], slot);
    engine->submit(slot, [&state](FrameSlot& finished, bool ok) {
      const std::lock_guard lock(state.mutex);
      if (ok) state.order.push_back(finished.sequence);
      state.changed.notify_all();
    });
  }
  for (std::size_t k = 0; k < frames; ++k) EXPECT_EQ(state.order[k], k);
}

TEST_P(Engines, ImageTheSameWhateverTheirShotsWaysIn) {
  // 8 MiB and more, so that a GPU begins to copy before the frame is whole.
  for (const auto matrix : {MatrixKind::full, MatrixKind::half}) {
    const auto plan = make_plan(GetParam(), SampleEncoding::int16, matrix, {"LL"}, 2048, 64);
    plan->gate = SampleGate{16, 1536};
    const Acquisition& a = plan->acquisition;
    const Frame frame = random_frame(a, 9);
    const Frame given_up = random_frame(a, 10);
    const Imaged expected = image_of(GetParam(), plan, frame);

    Imaged imaged;
    imaged.engine = engine_at(GetParam(), plan, {.keep_analytic = true});
    imaged.engine->equip(imaged.slot);
    const auto send = [&](const Frame& from, std::size_t transmit) {
      const std::size_t row = a.a_scan_index(transmit, matrix == MatrixKind::full ? 0 : transmit);
      const std::size_t rows = a.a_scans_in_shot(transmit);
      std::memcpy(imaged.slot.samples.bytes_begin() + row * a.bytes_per_a_scan(), from.bytes.data() + row * a.bytes_per_a_scan(),
                  rows * a.bytes_per_a_scan());
      imaged.engine->shots_arrived(imaged.slot, row, rows);
    };
    std::vector<std::size_t> order(a.elements());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(11);
    for (const std::size_t mixed : {0U, 1U, 2U}) {
      // Another frame had the slot, and most of it is on the device already.
      imaged.engine->frame_opened(imaged.slot);
      for (std::size_t k = 0; k < order.size() - 3; ++k) send(given_up, order[k]);
      if (mixed != 0) std::shuffle(order.begin(), order.end(), random);
      imaged.engine->frame_opened(imaged.slot);
      for (const std::size_t transmit : order) send(frame, transmit);
      ASSERT_TRUE(image_now(*imaged.engine, imaged.slot));
      const std::size_t bytes = imaged.slot.images[0].analytic.size();
      EXPECT_EQ(0, std::memcmp(imaged.complex(), expected.complex(), bytes)) << mixed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(places()), [](const auto& kind) { return kind.param.name; });

class CudaEngines : public Engines {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaEngines);

TEST_P(CudaEngines, GiveTheSameBitsAsAGraphAndStageByStage) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LL", "LT"}, 250);
  plan->display_grid = Grid{{plan->grid.x.first, plan->grid.x.last, 33}, {plan->grid.z.first, plan->grid.z.last, 47}, {}};
  Imaged graph;
  Imaged eager;
  graph.engine = engine_at(GetParam(), plan, {.keep_analytic = true});
  eager.engine = engine_at(GetParam(), plan, {.keep_analytic = true, .eager = true});
  graph.engine->equip(graph.slot);
  eager.engine->equip(eager.slot);
  // Several frames, since the reference of the compression goes from one to the next.
  for (unsigned k = 0; k < 5; ++k) {
    const Frame frame = random_frame(plan->acquisition, 20 + k);
    put(frame, graph.slot);
    put(frame, eager.slot);
    ASSERT_TRUE(image_now(*graph.engine, graph.slot));
    ASSERT_TRUE(image_now(*eager.engine, eager.slot));
    expect_same(graph.slot, eager.slot);
  }
}

TEST_P(CudaEngines, ImageMirroredViewsOfHalfMatricesOnce) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LT", "TL"}, 320);
  const auto single = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LT"}, 320);
  const Frame frame = random_frame(plan->acquisition, 12);
  const Imaged both = image_of(GetParam(), plan, frame);
  const Imaged one = image_of(GetParam(), single, frame);
  for (std::size_t view = 0; view < 2; ++view) {
    EXPECT_EQ(0, std::memcmp(both.complex(view), one.complex(), plan->grid.pixels() * 8));
    EXPECT_EQ(0, std::memcmp(both.slot.images[view].display.data(), one.slot.images[0].display.data(), plan->grid.pixels()));
    EXPECT_EQ(both.slot.images[view].reference, one.slot.images[0].reference);
  }
}

// Views may share a kernel and want different amounts of shared memory of it: a law that tells the legs apart has two tables, and
// the law after it has one.
TEST_P(CudaEngines, ImageViewsThatShareAKernelInAnyOrder) {
  const auto finely = [](std::shared_ptr<ImagingPlan> plan) {
    plan->grid = {{Metres(-1.1e-3), Metres(1.3e-3), 64}, {Metres(5.03e-3), Metres(7.4e-3), 64}, {}};
    return plan;
  };
  const auto plan_of = [&](const std::vector<std::string>& views) {
    return finely(make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, views, 320, 64));
  };
  const auto plan = plan_of({"LT", "LL"});
  const Frame frame = random_frame(plan->acquisition, 14);
  const Imaged both = image_of(GetParam(), plan, frame);
  const Imaged alone = image_of(GetParam(), plan_of({"LT"}), frame);
  EXPECT_EQ(0, std::memcmp(both.complex(0), alone.complex(0), plan->grid.pixels() * 8));
}

TEST_P(CudaEngines, BringTheEnvelopeOnlyWhereItIsWanted) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  const Frame frame = random_frame(plan->acquisition, 13);
  const Imaged wanted = image_of(GetParam(), plan, frame, {});
  Imaged imaged;
  imaged.engine = engine_at(GetParam(), plan, {});
  imaged.engine->equip(imaged.slot);
  imaged.slot.envelope_wanted = false;
  auto* envelope = static_cast<float*>(imaged.slot.images[0].envelope.data());
  std::fill_n(envelope, plan->grid.pixels(), -1.0F);
  put(frame, imaged.slot);
  ASSERT_TRUE(image_now(*imaged.engine, imaged.slot));
  EXPECT_TRUE(std::all_of(envelope, envelope + plan->grid.pixels(), [](float value) { return value == -1.0F; }));
  EXPECT_EQ(0, std::memcmp(wanted.slot.images[0].display.data(), imaged.slot.images[0].display.data(), plan->grid.pixels()));
}

TEST_P(CudaEngines, RefuseAPlanThatTheWatchdogWouldTakeForAStall) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LL"}, 256, 64);
  plan->grid.x.count = plan->grid.z.count = 1024;  // 2e9 lookups: a millisecond and more
  const auto engine = make_engine(
      plan, {.automatic = false, .kind = BackendKind::cuda, .gpu_timeout = std::chrono::milliseconds(1)}, EngineOptions{});
  FrameSlot slot;
  try {
    engine->equip(slot);
    ADD_FAILURE() << "a frame that takes longer than the timeout";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("gpu_timeout"));
  }
}

TEST_P(CudaEngines, RefuseAPlanThatTheDeviceHasNoMemoryFor) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 4096, 32);
  const std::size_t before = device_memory(0).free;
  for (const std::size_t limit : {std::size_t{1} << 20, std::size_t{24} << 20}) {
    try {
      static_cast<void>(engine_at(GetParam(), plan, {.slots = 64, .device_memory_limit = limit}));
      ADD_FAILURE() << "an engine that needs more than " << limit << " bytes";
    } catch (const RuntimeFault& fault) {
      EXPECT_THAT(fault.what(), testing::HasSubstr("GPU 0: too little device memory: needs "));
      EXPECT_THAT(fault.what(), testing::HasSubstr("would fit: "));
    }
  }
  // Refused before anything was allocated; the driver itself may keep a few pages.
  EXPECT_GE(device_memory(0).free + (std::size_t{64} << 20), before);
}

INSTANTIATE_TEST_SUITE_P(All, CudaEngines, testing::ValuesIn(cuda_places()), [](const auto& kind) { return kind.param.name; });

TEST(Engine, RefusesABackendThatIsNotToBeHad) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "there is a GPU";
  const auto plan = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::full, {"LL"});
  EXPECT_THROW(static_cast<void>(make_engine(plan, {.automatic = false, .kind = BackendKind::cuda}, {})), RuntimeFault);
  EXPECT_EQ(make_engine(plan, {}, {})->backend(), BackendKind::cpu);
}

}  // namespace
}  // namespace echoform
