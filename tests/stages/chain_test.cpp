// The stages by their kinds, one after the other.
#include <gtest/gtest.h>

#include "pipeline/raw_samples.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/filter/filter.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

TEST(StageKinds, AStageThatABackendLacksIsNamed) {
  const auto backend = make_cpu_backend(1);
  const StageKind nowhere{.name = "nowhere"};
  EXPECT_EQ(input_error([&] { (void)make_stage(nowhere, EnvelopeOptions{}, *backend); }),
            "nowhere stage, backend: found cpu; expected one that has the stage in this build");
}

TEST(StageKinds, FrontAndBackOfTheChainFitTogether) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  acquisition.samples = 100;
  acquisition.encoding = SampleEncoding::packed12;
  const Grid grid{{Metres(0.0), Metres(0.01), 20}, {Metres(0.0), Metres(0.02), 30}, {}};
  const Grid display{{Metres(0.0), Metres(0.01), 40}, {Metres(0.0), Metres(0.02), 50}, {}};
  const auto backend = make_cpu_backend(3);
  EXPECT_EQ(team_size(*backend), 3u);
  const auto queue = backend->make_queue();

  struct Link {
    const StageKind& kind;
    StageOptions options;
  };
  const auto chain = [&](BlockSpec spec, std::initializer_list<Link> links) {
    Buffer data = backend->allocate(spec.bytes(), MemoryUse::staging);
    for (const Link& link : links) {
      const auto stage = make_stage(link.kind, link.options, *backend);
      spec = stage->prepare(spec);
      Buffer next = backend->allocate(spec.bytes(), MemoryUse::working);
      stage->process({data.data()}, {next.data()}, *queue);
      data = std::move(next);
    }
    return spec;
  };
  const Link analytic_signal{analytic_signal_stage, AnalyticSignalOptions{}};
  BlockSpec analytic = make_spec(ElementType::planar_complex64, 10, 100, analytic_row_stride(100));
  EXPECT_EQ(chain(raw_block(acquisition), {{pairing_stage, pairing_of(acquisition, true, 1.0)}, analytic_signal}), analytic);
  analytic.rows = 16;
  EXPECT_EQ(chain(raw_block(acquisition), {{pairing_stage, pairing_of(acquisition, false, 1.0)}, analytic_signal}), analytic);
  FilterOptions mean;
  mean.kind = FilterKind::mean;
  mean.sample_rate = Hertz(25e6);
  EXPECT_EQ(chain(raw_block(acquisition),
                  {{pairing_stage, pairing_of(acquisition, false, 1.0)}, {filter_stage, mean}, analytic_signal}),
            analytic);
  EXPECT_EQ(chain(make_spec(ElementType::complex64, 30, 20), {{envelope_stage, EnvelopeOptions{}},
                                                              {compression_stage, Compression{}},
                                                              {scan_conversion_stage, ScanConversionOptions{grid, display}}}),
            make_spec(ElementType::uint8, 50, 40, 40));
}

}  // namespace
}  // namespace echoform::test
