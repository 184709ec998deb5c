// No stage allocates while it processes a frame.
#include <gtest/gtest.h>

#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/compression/compression.hpp"
#include "stages/decoding/decoding.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/filter/filter.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"
#include "stages/polar_volume_conversion/polar_volume_conversion.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/scroll/scroll.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "tests/stages/capture.hpp"
#include "tests/stages/pairing_of.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

/// Allocations on the host in frames after the first, on either backend; on CUDA the stage must go into a graph too.
class FramesTest : public StageTest {
 protected:
  std::uint64_t allocations_in_frames(Stage& stage, const BlockSpec& spec) {
    const BlockSpec out = stage.prepare(spec);
    const Buffer input = backend().allocate(spec.bytes(), MemoryUse::working);
    const Buffer output = backend().allocate(out.bytes(), MemoryUse::working);
    const auto frames = [&] {
      for (int frame = 0; frame < 3; ++frame) stage.process({input.data()}, {output.data()}, queue());
      queue().finish();
    };
    frames();
    const std::uint64_t before = allocations();
    frames();
    const std::uint64_t counted = allocations() - before;
    if (on_cuda()) {
      EXPECT_EQ(capture_and_run(stage, {input.data()}, {output.data()}, queue(), 3), "");
    }
    return counted;
  }
};

using Allocations = FramesTest;
ECHOFORM_ALL_IMPLEMENTATIONS(Allocations);
class AllocationsBesideLines : public FramesTest {};
ECHOFORM_ALL_IMPLEMENTATIONS(AllocationsBesideLines);
class AllocationsBehindBeamforming : public FramesTest {};
ECHOFORM_ALL_IMPLEMENTATIONS(AllocationsBehindBeamforming);

TEST_P(Allocations, NoneWhileProcessing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
  const std::uint64_t before = allocations();
  const TestBlock something(make_spec(ElementType::float32, 1, 1));
  ASSERT_GT(allocations(), before) << "the counter counts";

  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    std::unique_ptr<Stage> as_received = make_pairing_cpu(rows_as_received(64), level());
    std::unique_ptr<Stage> pairing = make_pairing_cpu(pairing_of({.elements = 8, .dead = {1}}), level());
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      as_received = make_pairing_cuda(rows_as_received(64), backend());
      pairing = make_pairing_cuda(pairing_of({.elements = 8, .dead = {1}}), backend());
    }
#endif
    EXPECT_EQ(allocations_in_frames(*as_received, make_raw_spec(encoding, 64, 1031)), 0u);
    EXPECT_EQ(allocations_in_frames(*pairing, make_raw_spec(encoding, 64, 1031)), 0u);
  }
  Acquisition coded_frame;
  coded_frame.probe.elements.resize(8);
  coded_frame.events = hadamard_events(8);
  for (const bool reciprocal : {false, true}) {
    for (const DecodingRoute route : {DecodingRoute::hadamard, DecodingRoute::product}) {
      DecodingOptions options = decoding_of(coded_frame, reciprocal);
      options.route = route;
      const auto decoding = make_stage(decoding_stage, options, backend());
      const std::uint64_t counted = allocations_in_frames(*decoding, make_spec(ElementType::float32, 64, 1031, 1040));
      // What cuBLAS takes on the host while it queues a product is its own affair: engines have it queue into a graph, once.
      if (on_cuda() && route == DecodingRoute::product) continue;
      EXPECT_EQ(counted, 0u);
    }
  }
  // FFTW takes different ways for short, long and odd lengths, some of which work in buffers.
  for (const std::size_t samples : {1000, 1001, 1024, 1031, 4096, 6561, 8192, 14641, 16384, 65536}) {
    FilterOptions mean;
    mean.kind = FilterKind::mean;
    mean.sample_rate = Hertz(25e6);
    std::vector<std::unique_ptr<Stage>> stages;
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      for (const FilterOptions& filter : {FilterOptions{}, mean}) {
        stages.push_back(make_analytic_signal_cuda({.half = true, .filter = filter}, backend()));
      }
      stages.push_back(make_filter_cuda(mean, backend()));
    }
#endif
    if (!on_cuda()) {
      for (const FilterOptions& filter : {FilterOptions{}, mean}) {
        stages.push_back(make_analytic_signal_cpu(threads(), level(), filter));
      }
      stages.push_back(make_filter_cpu(mean, threads(), level()));
    }
    for (const auto& stage : stages) {
      EXPECT_EQ(allocations_in_frames(*stage, make_spec(ElementType::float32, 4, samples)), 0u) << samples << " samples";
    }
  }
}

TEST_P(AllocationsBesideLines, NoneWhileProcessing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
  const auto gain = std::make_shared<const std::vector<float>>(1031, 2.0F);
  const BlockSpec rows = make_spec(ElementType::float32, 64, 1031, 1040);
  const auto counted = [&](const StageKind& kind, const StageOptions& options, const BlockSpec& spec) {
    return allocations_in_frames(*make_stage(kind, options, backend()), spec);
  };
  EXPECT_EQ(counted(time_gain_stage, TimeGainOptions{gain}, rows), 0U);
  EXPECT_EQ(counted(persistence_stage, PersistenceOptions{0.5}, rows), 0U);
  EXPECT_EQ(counted(scroll_stage, ScrollOptions{3, 2, 70}, rows), 0U);
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = 1031;
  table->weights.assign(1031, 0.5F);
  table->lines.assign(40, {{3, 0}, {4, 0}});
  EXPECT_EQ(counted(line_blend_stage, LineBlendOptions{table}, rows), 0U);
  EXPECT_EQ(counted(line_gain_stage, LineGainOptions{std::make_shared<const std::vector<float>>(64, 2.0F)}, rows), 0U);
  LineCompoundOptions compound;
  compound.sets = {{0, 16, Metres(0.0), Metres(0.0), Metres(1e-3), 0.0}, {16, 16, Metres(0.0), Metres(0.0), Metres(1e-3), 0.1}};
  compound.ranges = {Metres(1e-3), Metres(1e-4), 1031};
  EXPECT_EQ(counted(line_compound_stage, compound, rows), 0U);
  const BlockSpec ensembles = make_spec(ElementType::complex64, 64, 300);
  for (const WallFilterKind kind : {WallFilterKind::regression, WallFilterKind::fir, WallFilterKind::svd}) {
    EXPECT_EQ(counted(wall_filter_stage, WallFilterOptions{.kind = kind, .ensemble = 16}, ensembles), 0U);
  }
  EXPECT_EQ(counted(autocorrelation_stage, AutocorrelationOptions{16, 3}, ensembles), 0U);
  LineSpectrumOptions spectrum;
  spectrum.ensemble = 16;
  spectrum.samples = 8;
  spectrum.hop = 2;
  spectrum.line = 1;
  spectrum.ranges = 5;
  EXPECT_EQ(counted(line_spectrum_stage, spectrum, ensembles), 0U);
  const FlowOptions velocity{FlowKind::velocity, MetresPerSecond(0.5), 0.01};
  EXPECT_EQ(counted(flow_stage, velocity, make_spec(ElementType::float32, 63, 300)), 0U);
  DemodulationOptions demodulation;
  demodulation.frequency = Hertz(5e6);
  demodulation.sample_rate = Hertz(40e6);
  demodulation.decimation = 4;
  demodulation.pass = Hertz(2.5e6);
  demodulation.stop = Hertz(5e6);
  demodulation.time_gain = gain;
  EXPECT_EQ(counted(demodulation_stage, demodulation, rows), 0U);
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    EXPECT_EQ(counted(demodulation_stage, demodulation, make_raw_spec(encoding, 64, 1031)), 0U);
  }
}

TEST_P(AllocationsBehindBeamforming, NoneWhileProcessing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
  const Axis width{Metres(-0.01), Metres(0.01), 256};
  const Axis depth{Metres(0.0), Metres(0.01), 256};
  const ScanConversionOptions cartesian{
      {width, depth, {}}, {{width.first, width.last, 500}, depth, {}}, ScanInterpolation::cubic, -0.5};
  PolarScanConversionOptions polar;
  polar.beams = polar.samples = 256;
  polar.angle_pitch = 0.005;
  polar.sample_spacing = Metres(4e-5);
  polar.display = cartesian.display;
  PolarVolumeConversionOptions volume;
  volume.azimuths = volume.elevations = {16, -0.4, 0.05};
  volume.samples = 256;
  volume.sample_spacing = Metres(4e-5);
  volume.display = {{width.first, width.last, 40}, {depth.first, depth.last, 50}, {width.first, width.last, 30}};
  std::vector<std::unique_ptr<Stage>> stages;
#ifdef ECHOFORM_WITH_CUDA
  if (on_cuda()) {
    stages.push_back(make_envelope_cuda());
    stages.push_back(make_compression_cuda(Compression{}, backend()));
    stages.push_back(make_scan_conversion_cuda(cartesian, backend()));
    stages.push_back(make_polar_scan_conversion_cuda(polar, backend()));
    stages.push_back(make_polar_volume_conversion_cuda(volume, backend()));
  }
#endif
  if (!on_cuda()) {
    stages.push_back(make_envelope_cpu({}, level()));
    stages.push_back(make_compression_cpu(Compression{}, level()));
    stages.push_back(make_scan_conversion_cpu(cartesian, threads(), level()));
    stages.push_back(make_polar_scan_conversion_cpu(polar, level()));
    stages.push_back(make_polar_volume_conversion_cpu(volume));
  }
  const ElementType inputs[] = {ElementType::complex64, ElementType::float32, ElementType::uint8, ElementType::uint8,
                                ElementType::uint8};
  for (std::size_t k = 0; k < stages.size(); ++k) {
    EXPECT_EQ(allocations_in_frames(*stages[k], make_spec(inputs[k], 256, 256)), 0u) << "stage " << k;
  }
}

}  // namespace
}  // namespace echoform::test
