// From raw samples to images: the whole chain of every engine against the plain computation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>

#include "acquisition/frame_layout.hpp"
#include "acquisition/words.hpp"
#include "base/errors.hpp"
#include "engines/engine_registry.hpp"
#include "gpu/cuda_backend.hpp"
#include "stages/persistence/persistence.hpp"
#include "tests/engine/places.hpp"
#include "tests/support/patience.hpp"

namespace echoform::test {
namespace {

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
  const auto* envelope = imaged.envelope();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(envelope[k], std::abs(imaged.complex()[k]), 1e-6F * std::abs(imaged.complex()[k]));
  }
}

TEST_P(EngineKinds, ImagesSeveralViewsOfOneFrame) {
  const auto plan = plan_of({"LL", "LT", "TT", "TL"}, 320);
  const Frame frame = random_frame(plan->acquisition, 2);
  const Imaged imaged = image_of(GetParam().place, plan, frame);
  ASSERT_EQ(imaged.slot.outputs.size(), 12U);
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

class Engines : public EnginesAt {};

TEST_P(Engines, ImagesSparseFirings) {
  for (const bool chosen : {false, true}) {
    const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL", "LT"}, 320);
    plan->acquisition.events = element_events(std::vector<std::uint32_t>{5, 0, 3});
    if (chosen) {
      plan->acquisition.events[1].receivers = {6, 2, 0, 1};
      plan->acquisition.probe.elements[2].dead = true;
    }
    const Frame frame = random_frame(plan->acquisition, 9);
    const Imaged imaged = image_of(GetParam(), plan, frame);
    EXPECT_LT(relative_error(imaged.complex(0), plain_image(*plan, frame, 6320.0, 6320.0)), GetParam().tolerance);
    EXPECT_LT(relative_error(imaged.complex(1), plain_image(*plan, frame, 6320.0, 3130.0)), GetParam().tolerance);
  }
}

TEST_P(Engines, ImageSparseFiringsAsThePlainComputationDoes) {
  // Any subset in any order, more or fewer events than a group of the beamformer has, and all elements out of order.
  for (const std::vector<std::uint32_t>& firing :
       {std::vector<std::uint32_t>{4}, {6, 0, 3}, {10, 1, 8, 2, 9, 0, 7, 5, 4}, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}) {
    const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL", "LT", "TL"}, 320, 11);
    plan->acquisition.probe.elements[3].dead = true;
    for (const std::uint32_t element : firing) plan->acquisition.events.push_back({ElementEvent{element}, {}});
    const Frame frame = random_frame(plan->acquisition, 11);
    const Imaged imaged = image_of(GetParam(), plan, frame);
    const double velocities[3][2] = {{6320.0, 6320.0}, {6320.0, 3130.0}, {3130.0, 6320.0}};
    for (std::size_t view = 0; view < 3; ++view) {
      const auto expected = plain_image(*plan, frame, velocities[view][0], velocities[view][1]);
      EXPECT_LT(relative_error(imaged.complex(view), expected), GetParam().tolerance) << firing.size() << " events, " << view;
    }
  }
}

TEST_P(Engines, ImageSparseFiringsOfReciprocalViewsAsThePlainComputationDoes) {
  // Few, of which every pair is looked up; most and all, out of order, whose directions are added.
  for (const std::vector<std::uint32_t>& firing :
       {std::vector<std::uint32_t>{6, 0, 3}, {10, 1, 8, 2, 9, 0, 7, 5, 4}, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}) {
    const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 320, 11);
    plan->acquisition.probe.elements[3].dead = true;
    plan->acquisition.events = element_events(firing);
    plan->acquisition.events.front().receivers = {9, 3, 0, 1, 10};
    const Frame frame = random_frame(plan->acquisition, 17);
    EXPECT_LT(relative_error(image_of(GetParam(), plan, frame).complex(0), plain_image(*plan, frame, 6320.0, 6320.0)),
              GetParam().tolerance)
        << firing.size() << " events";
  }
}

TEST_P(Engines, ImageAllElementsListedAsFullMatrixCapture) {
  const auto whole = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 320, 11);
  const auto listed = std::make_shared<ImagingPlan>(*whole);
  for (std::uint32_t element = 0; element < 11; ++element) listed->acquisition.events.push_back({ElementEvent{element}, {}});
  const Frame frame = random_frame(whole->acquisition, 12);
  expect_same(image_of(GetParam(), listed, frame).slot, image_of(GetParam(), whole, frame).slot);
}

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
  const auto* envelope = imaged.envelope();
  const auto* display = imaged.display();
  const float peak = *std::max_element(envelope, envelope + plan->grid.pixels());
  EXPECT_FLOAT_EQ(imaged.reference(), peak);
  EXPECT_FLOAT_EQ(imaged.engine->reference(imaged.engine->setup().recipe.find("LL", OutputKind::display).value()), peak);
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
  const float peak = alone.reference();
  Imaged next;
  next.engine = engine_at(GetParam(), plan, {}, {});
  const std::size_t display = next.engine->setup().recipe.find("LL", OutputKind::display).value();
  EXPECT_EQ(next.engine->reference(display), 0.0F);
  next.engine->equip(next.slot);
  next.engine->resume(display, 3.0F * peak);
  put(frame, next.slot);
  ASSERT_TRUE(image_now(*next.engine, next.slot));
  // A tenth of the way from 3 peaks to 1.
  EXPECT_NEAR(next.reference(), 2.8F * peak, 1e-5F * peak);
}

/// What an engine does before its first frame is not kept, and each slot finds what those before have left.
TEST_P(Engines, MixImagesWithThoseBeforeFromTheFirstFrameOn) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LL"}, 250);
  const auto fading_by = [&](double share) {
    auto setup = std::make_shared<ImagingSetup>(*make_imaging_setup(plan, {}));
    RecipeOutput& envelope = setup->recipe.outputs.at(setup->recipe.find("LL", OutputKind::envelope).value());
    envelope.block = setup->recipe.add(persistence_stage, PersistenceOptions{share}, {envelope.block});
    return setup;
  };
  const BackendChoice choice{.automatic = false, .kind = GetParam().backend, .threads = 2};
  const auto engine = make_engine(fading_by(0.5), choice, {.slots = 2});
  FrameSlot slots[2];
  for (std::size_t k = 0; k < 2; ++k) {
    slots[k].index = k;
    engine->equip(slots[k]);
  }
  const auto envelope_in = [&](const FrameSlot& slot) {
    const auto place = engine->setup().recipe.find("LL", OutputKind::envelope).value();
    const auto* const pixels = static_cast<const float*>(slot.outputs.at(place).data.data());
    return std::vector<float>(pixels, pixels + plan->grid.pixels());
  };
  std::vector<float> want;
  for (unsigned k = 0; k < 5; ++k) {
    if (k == 3) {
      ASSERT_TRUE(engine->retune(*fading_by(0.125)));
    }
    const float share = k < 3 ? 0.5F : 0.125F;
    const Frame frame = random_frame(plan->acquisition, 40 + k);
    FrameSlot& slot = slots[k % 2];
    put(frame, slot);
    ASSERT_TRUE(image_now(*engine, slot));
    const Imaged alone = image_of(GetParam(), plan, frame, {}, {});
    for (std::size_t n = 0; n < plan->grid.pixels(); ++n) {
      if (k == 0) want.push_back(alone.envelope()[n]);
      if (k != 0) want[n] = share * want[n] + (1.0F - share) * alone.envelope()[n];
    }
    EXPECT_EQ(envelope_in(slot), want) << k;
  }
}

TEST_P(Engines, ReportStagesAndWhatWasWrongWithSamples) {
  const bool cuda = GetParam().backend == BackendKind::cuda;
  const auto plan = make_plan(GetParam(), SampleEncoding::float32, MatrixKind::full, {"LL"}, 256);
  Frame frame = random_frame(plan->acquisition, 6);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(frame.bytes.data() + 4 * 100, &bad, 4);
  for (const bool eager : {false, true}) {
    const Imaged imaged = image_of(GetParam(), plan, frame, {.eager = eager});
    EXPECT_EQ(imaged.slot.invalid_samples, 1U);
    EXPECT_EQ(imaged.slot.clipped_samples, 0U);
    std::vector<std::string_view> names;
    for (const StageTiming& timing : imaged.slot.timings) names.push_back(timing.stage);
    std::vector<std::string_view> expected{"pairing", "analytic-signal", "beamform", "envelope", "compression"};
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
  one.engine = engine_at(GetParam(), plan);
  one.engine->equip(one.slot);
  const auto engine = engine_at(GetParam(), plan, {.slots = slots});
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
      ASSERT_TRUE(state.changed.wait_for(lock, patience, [&] { return state.order.size() > k - slots; }));
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
    imaged.engine = engine_at(GetParam(), plan);
    imaged.engine->equip(imaged.slot);
    const auto send = [&](const Frame& from, std::size_t transmit) {
      const FrameLayout layout(a);
      const ByteRange bytes = layout.shot_bytes(transmit);
      std::memcpy(imaged.slot.samples.bytes_begin() + bytes.first, from.bytes.data() + bytes.first, bytes.count);
      imaged.engine->shots_arrived(imaged.slot, layout.shot(transmit).first, layout.shot(transmit).count);
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
      const std::size_t bytes = imaged.output(OutputKind::complex_image).data.size();
      EXPECT_EQ(0, std::memcmp(imaged.complex(), expected.complex(), bytes)) << mixed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(places()), place_name);

TEST(Engine, RefusesABackendThatIsNotToBeHad) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "there is a GPU";
  const auto plan = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::full, {"LL"});
  EXPECT_THROW(static_cast<void>(make_engine(make_imaging_setup(plan), {.automatic = false, .kind = BackendKind::cuda}, {})),
               RuntimeFault);
  EXPECT_EQ(make_engine(make_imaging_setup(plan), {}, {})->backend(), BackendKind::cpu);
}

}  // namespace
}  // namespace echoform::test
