// What the CUDA engine alone has: graphs, mirrored views, downloads of what is wanted, memory of the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/errors.hpp"
#include "gpu/memory_report.hpp"
#include "tests/engine/places.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class CudaEngines : public EnginesAt {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaEngines);

TEST_P(CudaEngines, GiveTheSameBitsAsAGraphAndStageByStage) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LL", "LT"}, 250);
  plan->display_grid = Grid{{plan->grid.x.first, plan->grid.x.last, 33}, {plan->grid.z.first, plan->grid.z.last, 47}, {}};
  Imaged graph;
  Imaged eager;
  graph.engine = engine_at(GetParam(), plan);
  eager.engine = engine_at(GetParam(), plan, {.eager = true});
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
    EXPECT_EQ(0, std::memcmp(both.display(view), one.display(), plan->grid.pixels()));
    EXPECT_EQ(both.reference(view), one.reference());
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

TEST_P(CudaEngines, RefuseAPlanThatTheWatchdogWouldTakeForAStall) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::half, {"LL"}, 256, 64);
  plan->grid.x.count = plan->grid.z.count = 1024;  // 2e9 lookups: a millisecond and more
  const auto engine =
      make_engine(make_imaging_setup(plan),
                  {.automatic = false, .kind = BackendKind::cuda, .gpu_timeout = std::chrono::milliseconds(1)}, EngineOptions{});
  FrameSlot slot;
  EXPECT_THAT(input_error([&] { engine->equip(slot); }), testing::HasSubstr("gpu_timeout"))
      << "a frame that takes longer than the timeout";
}

TEST_P(CudaEngines, BringTheEnvelopeOnlyWhereItIsWanted) {
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {"LL"}, 256);
  const Frame frame = random_frame(plan->acquisition, 13);
  const Imaged wanted = image_of(GetParam(), plan, frame, {}, {});
  Imaged imaged;
  imaged.engine = engine_at(GetParam(), plan, {}, {});
  imaged.engine->equip(imaged.slot);
  imaged.slot.envelope_wanted = false;
  auto* envelope = const_cast<float*>(imaged.envelope());
  std::fill_n(envelope, plan->grid.pixels(), -1.0F);
  put(frame, imaged.slot);
  ASSERT_TRUE(image_now(*imaged.engine, imaged.slot));
  EXPECT_TRUE(std::all_of(envelope, envelope + plan->grid.pixels(), [](float value) { return value == -1.0F; }));
  EXPECT_EQ(0, std::memcmp(wanted.display(), imaged.display(), plan->grid.pixels()));
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

INSTANTIATE_TEST_SUITE_P(All, CudaEngines, testing::ValuesIn(cuda_places()), place_name);

}  // namespace
}  // namespace echoform::test
