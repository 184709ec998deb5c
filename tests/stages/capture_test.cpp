// On CUDA a stage's work for a frame can be captured into a graph, which nothing that allocates or waits can, and the graph
// gives the bits of the direct way.
#include <gtest/gtest.h>

#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/beamform/beamform_sum.hpp"
#include "stages/decoding/decoding.hpp"
#include "stages/deconvolution/deconvolution.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/filter/filter.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/mean_image/mean_image.hpp"
#include "stages/single_sideband/single_sideband.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "tests/stages/capture.hpp"
#include "tests/stages/pairing_of.hpp"
#include "tests/stages/raw_frames.hpp"

namespace echoform::test {
namespace {

class Capture : public StageTest {
 protected:
  /// A second frame of the same input, on CUDA from a graph, has the bits of the first.
  void expect_same_again(Stage& stage, const BlockSpec& spec, const TestBlock& input) {
    const StageResult first = run(stage, spec, input);
    const TestBlock again(first.spec);
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      const Buffer in = backend().allocate(input.bytes_with_guard(), MemoryUse::working);
      const Buffer out = backend().allocate(again.bytes_with_guard(), MemoryUse::working);
      copy_now(in.data(), input.read().data, input.bytes_with_guard());
      copy_now(out.data(), again.read().data, again.bytes_with_guard());
      const gpu::GraphExec graph = captured(stage, {in.data()}, {out.data()}, queue());
      for (int frame = 0; frame < 2; ++frame) ECHOFORM_CUDA(cudaGraphLaunch(graph.get(), gpu::stream_of(queue())));
      queue().finish();
      copy_now(again.block().data, out.data(), again.bytes_with_guard());
    }
#endif
    if (!on_cuda()) {
      stage.process(input.read(), again.block(), queue());
      queue().finish();
    }
    EXPECT_TRUE(again.guard_intact());
    EXPECT_EQ(std::memcmp(first.block->read().data, again.read().data, again.bytes()), 0);
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Capture);

TEST_P(Capture, RawSamples) {
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    const RawFrame frame = make_raw_frame(encoding, 16, 320, 0, 1);  // no padding, which is not written
    std::unique_ptr<Stage> as_received = make_pairing_cpu(rows_as_received(16, 1.5), level());
    std::unique_ptr<Stage> pairing = make_pairing_cpu(pairing_of({.elements = 4, .dead = {2}, .scale = 1.5}), level());
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      as_received = make_pairing_cuda(rows_as_received(16, 1.5), backend());
      pairing = make_pairing_cuda(pairing_of({.elements = 4, .dead = {2}, .scale = 1.5}), backend());
    }
#endif
    expect_same_again(*as_received, frame.spec, *frame.block);
    expect_same_again(*pairing, frame.spec, *frame.block);
    const SampleQuality seen = as_received->facts().quality.value();
    EXPECT_EQ(seen, (SampleQuality{frame.clipped, frame.invalid}));
  }
}

TEST_P(Capture, AnalyticSignal) {
  for (const std::size_t samples : {320, 321, 1031, 4096}) {
    const BlockSpec spec = make_spec(ElementType::float32, 7, samples, samples + 1);
    const TestBlock rows(spec);
    for (std::size_t n = 0; n < 7 * spec.row_stride; ++n) {
      rows.as<float>()[n] = static_cast<float>(n * 2654435761u >> 20 & 0xfff) - 2048.0F;
    }
    FilterOptions mean;
    mean.kind = FilterKind::mean;
    mean.sample_rate = Hertz(25e6);
    std::vector<std::unique_ptr<Stage>> stages;
    if (!on_cuda()) {
      stages.push_back(make_analytic_signal_cpu(threads(), level()));
      stages.push_back(make_analytic_signal_cpu(threads(), level(), mean));
      stages.push_back(make_filter_cpu(mean, threads(), level()));
    }
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      for (const FilterOptions& filter : {FilterOptions{}, mean}) {
        for (const bool half : {false, true}) {
          for (const HilbertRoute route : {HilbertRoute::automatic, HilbertRoute::cufft}) {
            stages.push_back(make_analytic_signal_cuda({.half = half, .route = route, .filter = filter}, backend()));
          }
        }
        stages.push_back(make_filter_cuda(filter, backend()));
      }
    }
#endif
    for (const auto& stage : stages) expect_same_again(*stage, spec, rows);
  }
}

TEST_P(Capture, Decoding) {
  Acquisition coded_frame;
  coded_frame.probe.elements.resize(8);
  coded_frame.events = hadamard_events(8);
  coded_frame.probe.elements[3].dead = true;
  const BlockSpec spec = make_spec(ElementType::float32, 64, 320, 320);
  const TestBlock rows(spec);
  for (std::size_t n = 0; n < 64 * spec.row_stride; ++n) {
    rows.as<float>()[n] = static_cast<float>(n * 2654435761u >> 20 & 0xfff) - 2048.0F;
  }
  for (const bool reciprocal : {false, true}) {
    for (const DecodingRoute route : {DecodingRoute::hadamard, DecodingRoute::product}) {
      DecodingOptions options = decoding_of(coded_frame, reciprocal);
      options.route = route;
      options.scratch_bytes = std::size_t{1} << 15;  // sums in pieces of 128 samples
      const auto stage = make_stage(decoding_stage, options, backend());
      expect_same_again(*stage, spec, rows);
    }
  }
}

TEST_P(Capture, BesideLines) {
  const RawFrame frame = make_raw_frame(SampleEncoding::packed12, 16, 320, 0, 2);
  const auto gain = std::make_shared<const std::vector<float>>(320, 1.25F);
  DemodulationOptions demodulation;
  demodulation.frequency = Hertz(5e6);
  demodulation.sample_rate = Hertz(40e6);
  demodulation.decimation = 4;
  demodulation.pass = Hertz(2.5e6);
  demodulation.stop = Hertz(5e6);
  demodulation.time_gain = gain;
  expect_same_again(*make_stage(demodulation_stage, demodulation, backend()), frame.spec, *frame.block);
  const BlockSpec spec = make_spec(ElementType::float32, 16, 320);
  const TestBlock rows(spec);
  for (std::size_t n = 0; n < 16 * 320; ++n) rows.as<float>()[n] = static_cast<float>(frame.samples[n]);
  expect_same_again(*make_stage(time_gain_stage, TimeGainOptions{gain}, backend()), spec, rows);
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = 320;
  table->weights.assign(320, 0.5F);
  table->lines = {{{3, 0}, {4, 0}}, {{15, 0}}};
  expect_same_again(*make_stage(line_blend_stage, LineBlendOptions{table}, backend()), spec, rows);
  const LineGainOptions lateral{std::make_shared<const std::vector<float>>(16, 0.5F)};
  expect_same_again(*make_stage(line_gain_stage, lateral, backend()), spec, rows);
  LineCompoundOptions compound;
  compound.sets = {{0, 8, Metres(0.0), Metres(0.0), Metres(1e-3), 0.0}, {8, 8, Metres(0.0), Metres(0.0), Metres(1e-3), 0.1}};
  compound.ranges = {Metres(1e-3), Metres(1e-4), 320};
  expect_same_again(*make_stage(line_compound_stage, compound, backend()), spec, rows);
}

TEST_P(Capture, ComplexLines) {
  const BlockSpec ensembles = make_spec(ElementType::complex64, 4 * 12, 160);
  const TestBlock samples(ensembles);
  for (std::size_t n = 0; n < 2 * 48 * 160; ++n) {
    samples.as<float>()[n] = static_cast<float>(n * 2654435761u >> 20 & 0xfff) - 2048.0F;
  }
  for (const WallFilterKind kind : {WallFilterKind::regression, WallFilterKind::fir, WallFilterKind::svd}) {
    const WallFilterOptions options{.kind = kind, .ensemble = 12, .components = 2};
    expect_same_again(*make_stage(wall_filter_stage, options, backend()), ensembles, samples);
  }
  expect_same_again(*make_stage(autocorrelation_stage, AutocorrelationOptions{12, 3}, backend()), ensembles, samples);
  expect_same_again(*make_stage(single_sideband_stage, SingleSidebandOptions{20}, backend()), ensembles, samples);
  LineSpectrumOptions spectrum;
  spectrum.ensemble = 12;
  spectrum.samples = 8;
  spectrum.hop = 2;
  spectrum.line = 1;
  spectrum.ranges = 5;
  expect_same_again(*make_stage(line_spectrum_stage, spectrum, backend()), ensembles, samples);
  const BlockSpec rows = make_spec(ElementType::float32, 3 * 16, 320);
  for (const FlowKind kind : {FlowKind::velocity, FlowKind::power, FlowKind::variance}) {
    expect_same_again(*make_stage(flow_stage, FlowOptions{kind, MetresPerSecond(0.5), 0.01}, backend()), rows, samples);
  }
}

TEST_P(Capture, Tomography) {
  const BlockSpec rows = make_spec(ElementType::float32, 40, 320);
  const TestBlock samples(rows);
  for (std::size_t n = 0; n < 40 * 320; ++n) {
    samples.as<float>()[n] = static_cast<float>(n * 2654435761u >> 20 & 0xfff) - 2048.0F;
  }
  const BackProjectionTermOptions term{ProjectedTerm::universal, MetresPerSecond(1500.0), Hertz(20e6), Seconds(20e-6)};
  expect_same_again(*make_stage(back_projection_term_stage, term, backend()), rows, samples);
  DeconvolutionOptions deconvolution;
  deconvolution.bandwidth = Hertz(4e6);
  deconvolution.cutoff = Hertz(10e6);
  deconvolution.sample_rate = Hertz(20e6);
  expect_same_again(*make_stage(deconvolution_stage, deconvolution, backend()), rows, samples);
  BackProjectionOptions projection;
  projection.grid = {{Metres(-0.002), Metres(0.002), 40}, {Metres(-0.003), Metres(0.003), 50}, {}};
  projection.law = ProjectionLaw::inverse_square;
  projection.velocity = term.velocity;
  projection.sample_rate = term.sample_rate;
  projection.start_time = term.start_time;
  auto detectors = std::make_shared<std::vector<ProjectionDetector>>();
  for (std::size_t q = 0; q < 40; ++q) {
    detectors->push_back({q, {Metres(0.04), Metres(0.0), Metres(1e-4 * static_cast<double>(q))}, {-1.0, 0.0, 0.0}, 1.0});
  }
  projection.detectors = std::move(detectors);
  expect_same_again(*make_stage(back_projection_stage, projection, backend()), rows, samples);
  expect_same_again(*make_stage(mean_image_stage, MeanImageOptions{ShownPart::magnitude}, backend()), rows, samples);
  for (const UnmixedKind kind : {UnmixedKind::concentration, UnmixedKind::share}) {
    expect_same_again(*make_stage(unmixed_image_stage, UnmixedImageOptions{kind, 2, 0, 1, 0.0}, backend()), rows, samples);
  }
}

TEST_P(Capture, BeamformSum) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(5, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 480;
  acquisition.sample_rate = Hertz(40e6);
  BeamformSumOptions sum;
  for (std::size_t part = 0; part < 3; ++part) {
    BeamformOptions options;
    options.law = make_delay_law("contact", {acquisition, {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}, "LL"});
    options.grid = {{Metres(-5e-3), Metres(5e-3), 33}, {Metres(1e-3), Metres(15e-3), 29}, {}};
    options.pairs = summed_pairs(5);
    options.rows_behind = (2 - part) * options.pairs.rows;
    options.aperture.probe = acquisition.probe;
    options.sample_rate = acquisition.sample_rate;
    options.gate = {0, acquisition.samples};
    sum.parts.push_back({part * options.pairs.rows, options});
    for (Element& element : acquisition.probe.elements) element.centre.x += Metres(1e-3);
  }
  const std::size_t samples = acquisition.samples;
  BlockSpec spec = make_spec(ElementType::planar_complex64, 45, samples, samples + 64);
  if (on_cuda()) {
    spec = make_spec(ElementType::complex64, 45, samples, samples + 256);
    spec.lead = 256;
  }
  const TestBlock rows(spec);
  const std::size_t planes = on_cuda() ? 1 : 2;
  const std::size_t numbers = on_cuda() ? 2 : 1;
  std::memset(rows.as<float>(), 0, spec.bytes());
  for (std::size_t row = 0; row < planes * spec.rows; ++row) {
    float* const begin = rows.as<float>() + numbers * (spec.lead + row * spec.row_stride);
    for (std::size_t n = 0; n < numbers * samples; ++n) {
      begin[n] = static_cast<float>((row * samples + n) * 2654435761u >> 20 & 0xfff) - 2048.0F;
    }
  }
  const auto stage = make_stage(beamform_sum_stage, sum, backend());
  expect_same_again(*stage, spec, rows);
}

}  // namespace
}  // namespace echoform::test
