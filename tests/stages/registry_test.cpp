#include <gmock/gmock.h>

#include <set>

#include "pipeline/raw_samples.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/registry.hpp"
#include "tests/stages/stage_harness.hpp"

namespace echoform::test {
namespace {

TEST(StageRegistry, NamesAreKnownOnceForEachBackend) {
  std::set<std::pair<std::string_view, BackendKind>> names;
  for (const StageEntry& entry : stage_registry()) EXPECT_TRUE(names.emplace(entry.name, entry.backend).second) << entry.name;
  for (const char* name : {"unpack", "half-matrix", "analytic-signal", "envelope", "compression", "scan-conversion"}) {
    EXPECT_TRUE(names.contains({name, BackendKind::cpu})) << name;
  }
}

TEST(StageRegistry, AnUnknownStageNamesTheKnownOnes) {
  const auto backend = make_cpu_backend(1);
  const std::string message = input_error_of([&] { (void)make_stage("hilbert", ImagingPlan{}, 0, *backend); });
  EXPECT_THAT(message, testing::HasSubstr("stages of the cpu backend: found hilbert; expected"));
  EXPECT_THAT(message, testing::HasSubstr("analytic-signal"));
}

TEST(StageRegistry, FrontAndBackOfTheChainFitTogether) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(4, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.samples = 100;
  plan.acquisition.encoding = SampleEncoding::packed12;
  plan.grid = {{Metres(0.0), Metres(0.01), 20}, {Metres(0.0), Metres(0.02), 30}, {}};
  plan.display_grid = Grid{{Metres(0.0), Metres(0.01), 40}, {Metres(0.0), Metres(0.02), 50}, {}};
  const auto backend = make_cpu_backend(3);
  EXPECT_EQ(team_size(*backend), 3u);
  const auto queue = backend->make_queue();

  const auto chain = [&](BlockSpec spec, std::initializer_list<const char*> names) {
    Buffer data = backend->allocate(spec.bytes(), MemoryUse::staging);
    for (const char* name : names) {
      const auto stage = make_stage(name, plan, 0, *backend);
      spec = stage->prepare(spec);
      Buffer next = backend->allocate(spec.bytes(), MemoryUse::working);
      stage->process({data.data()}, {next.data()}, *queue);
      data = std::move(next);
    }
    return spec;
  };
  BlockSpec analytic = make_spec(ElementType::planar_complex64, 10, 100, analytic_row_stride(100));
  analytic.matrix = MatrixKind::half_summed;
  EXPECT_EQ(chain(raw_block(plan.acquisition), {"half-matrix", "analytic-signal"}), analytic);
  analytic.matrix = MatrixKind::full;
  analytic.rows = 16;
  EXPECT_EQ(chain(raw_block(plan.acquisition), {"unpack", "analytic-signal"}), analytic);
  EXPECT_EQ(chain(make_spec(ElementType::complex64, 30, 20), {"envelope", "compression", "scan-conversion"}),
            make_spec(ElementType::uint8, 50, 40, 40));
}

}  // namespace
}  // namespace echoform::test
