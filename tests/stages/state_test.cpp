// What each stage states of its output and its memory, against what prepare() returns and takes.
#include <gtest/gtest.h>
#include <malloc.h>

#include "base/sanitizers.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/beamform_sum.hpp"
#include "stages/compression/compression.hpp"
#include "stages/decoding/decoding.hpp"
#include "stages/deconvolution/deconvolution.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/filter/filter.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/mean_image/mean_image.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"
#include "stages/polar_volume_conversion/polar_volume_conversion.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/scroll/scroll.hpp"
#include "stages/single_sideband/single_sideband.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "tests/stages/pairing_of.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

/// How what is stated of a stage's memory relates to what it holds afterwards.
enum class Stated { exactly, at_least, at_most };

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class State : public StageTest {
 protected:
  void expect_as_stated(const StageKind& kind, const StageOptions& options, const BlockSpec& input,
                        Stated how = Stated::exactly) {
    SCOPED_TRACE(kind.name);
    const StageStatement stated = kind.state(options, input, {backend().kind(), threads()});
    // What libraries keep for a whole process is there before anything is counted.
    static_cast<void>(make_stage(kind, options, backend())->prepare(input));
    const auto stage = make_stage(kind, options, backend());
    const std::size_t before = heap_in_use();
    EXPECT_EQ(stage->prepare(input), stated.output);
    const std::size_t taken = heap_in_use() - before;
    const std::size_t wanted = on_cuda() ? stated.memory.device : stated.memory.host;
    if (how != Stated::at_least) {
      EXPECT_LE(stage->bytes(), wanted);
    }
    if (how != Stated::at_most) {
      EXPECT_GE(stage->bytes(), wanted);
    }
    if (how == Stated::at_least || on_cuda() || ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) return;
    // Lists of tiles, and what the heap keeps beside each piece.
    EXPECT_LE(taken, wanted + (std::size_t{64} << 10));
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(State);

const Axis width{Metres(-0.01), Metres(0.01), 70};
const Axis depth{Metres(0.001), Metres(0.02), 90};
const Grid plane{width, depth, {}};

TEST_P(State, OfTheFrontOfAChain) {
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    expect_as_stated(pairing_stage, rows_as_received(36, 0.5), make_raw_spec(encoding, 36, 333));
    expect_as_stated(pairing_stage, pairing_of({.elements = 6}), make_raw_spec(encoding, 36, 333));
    expect_as_stated(pairing_stage, pairing_of({.elements = 6, .received = MatrixKind::half, .reciprocal = false}),
                     make_raw_spec(encoding, 21, 333));
  }
  Acquisition coded_frame;
  coded_frame.probe.elements.resize(8);
  coded_frame.events = hadamard_events(8);
  for (const bool reciprocal : {false, true}) {
    for (const DecodingRoute route : {DecodingRoute::hadamard, DecodingRoute::product}) {
      DecodingOptions options = decoding_of(coded_frame, reciprocal);
      options.route = route;
      expect_as_stated(decoding_stage, options, make_spec(ElementType::float32, 64, 333, 336));
    }
  }
  FilterOptions mean;
  mean.kind = FilterKind::mean;
  mean.sample_rate = 25.0_MHz;
  // cuFFT says what it works in once it has planned.
  const Stated by_cufft = on_cuda() ? Stated::at_least : Stated::at_most;
  for (const std::size_t samples : {1000, 1031}) {
    expect_as_stated(filter_stage, mean, make_spec(ElementType::float32, 21, samples), by_cufft);
    expect_as_stated(filter_stage, FilterOptions{}, make_spec(ElementType::float32, 21, samples));
  }
  for (const int way : {0, 1, 2, 3}) {
    const AnalyticSignalOptions options{.half = way % 2 == 1, .filter = way < 2 ? FilterOptions{} : mean};
    // FFTW does not say what its tables take, and set-up takes more than stays.
    const Stated fused = on_cuda() ? Stated::exactly : Stated::at_most;
    for (const std::size_t samples : {1024, 4096}) {
      expect_as_stated(analytic_signal_stage, options, make_spec(ElementType::float32, 21, samples), fused);
    }
    for (const std::size_t samples : {1000, 1031}) {
      expect_as_stated(analytic_signal_stage, options, make_spec(ElementType::float32, 21, samples), by_cufft);
    }
    BlockSpec with_peak = make_spec(ElementType::float32, 21, 1024, 1024);
    with_peak.trailer = 64;
    if (on_cuda()) expect_as_stated(analytic_signal_stage, options, with_peak);
  }
}

TEST_P(State, OfTheBackOfAChain) {
  const BlockSpec image = make_spec(ElementType::complex64, 90, 70);
  expect_as_stated(envelope_stage, EnvelopeOptions{}, image);
  expect_as_stated(envelope_stage, EnvelopeOptions{2}, image);
  expect_as_stated(compression_stage, Compression{}, make_spec(ElementType::float32, 90, 70));
  const Grid display{{width.first, width.last, 211}, {depth.first, depth.last, 307}, {}};
  for (const auto how : {ScanInterpolation::nearest, ScanInterpolation::bilinear, ScanInterpolation::cubic}) {
    for (const ElementType type : {ElementType::uint8, ElementType::float32}) {
      expect_as_stated(scan_conversion_stage, ScanConversionOptions{plane, display, how, -0.5}, make_spec(type, 90, 70));
      PolarScanConversionOptions polar;
      polar.beams = 90;
      polar.samples = 70;
      polar.angle_pitch = 0.01;
      polar.sample_spacing = Metres(2e-4);
      polar.display = display;
      polar.interpolation = how;
      // As if all pixels were inside of the sector.
      expect_as_stated(polar_scan_conversion_stage, polar, make_spec(type, 90, 70), Stated::at_most);
      polar.angle_pitch = 0.0;
      polar.line_pitch = Metres(2e-4);
      expect_as_stated(polar_scan_conversion_stage, polar, make_spec(type, 90, 70), Stated::at_most);
      PolarVolumeConversionOptions volume;
      volume.azimuths = {10, -0.3, 0.06};
      volume.elevations = {9, -0.2, 0.05};
      volume.samples = 70;
      volume.sample_spacing = Metres(2e-4);
      volume.display = {{width.first, width.last, 41}, {depth.first, depth.last, 37}, {width.first, width.last, 23}};
      volume.interpolation = how;
      expect_as_stated(polar_volume_conversion_stage, volume, make_spec(type, 90, 70), Stated::at_most);
    }
  }
}

TEST_P(State, OfTheBeamformer) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(9, 0.6_mm, 0.5_mm, 5.0_MHz, 3.0_MHz);
  acquisition.samples = 480;
  acquisition.sample_rate = 40.0_MHz;
  const Material material{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  for (const char* view : {"LL", "LT"}) {
    for (const bool weighted : {false, true}) {
      BeamformOptions options;
      options.law = make_delay_law("contact", {acquisition, material, view});
      options.grid = plane;
      options.pairs = options.law.reciprocal() ? summed_pairs(9) : all_pairs(9, 9);
      options.aperture.probe = acquisition.probe;
      if (weighted) options.aperture.apodization.window = ApodizationWindow::hann;
      options.sample_rate = acquisition.sample_rate;
      options.gate = {0, acquisition.samples};
      BlockSpec input = make_spec(ElementType::planar_complex64, options.pairs.rows, 480, 480 + 64);
      if (on_cuda()) {
        input = make_spec(ElementType::complex64, options.pairs.rows, 480, 480 + 256);
        input.lead = 256;
      }
      // On CUDA which tiles fit is found with the windows, and that is the law's evaluation.
      expect_as_stated(beamform_stage, options, input, on_cuda() ? Stated::at_least : Stated::exactly);
      // The same rows twice, one after the other.
      BeamformSumOptions sum;
      sum.parts = {{0, options}, {options.pairs.rows, options}};
      sum.parts[0].options.rows_behind = options.pairs.rows;
      BlockSpec both = input;
      both.rows *= 2;
      expect_as_stated(beamform_sum_stage, sum, both, on_cuda() ? Stated::at_least : Stated::exactly);
    }
  }
}

TEST_P(State, OfTheStagesBesideLines) {
  const auto gain = std::make_shared<const std::vector<float>>(333, 2.0F);
  const BlockSpec rows = make_spec(ElementType::float32, 36, 333, 336);
  expect_as_stated(time_gain_stage, TimeGainOptions{gain}, rows);
  expect_as_stated(persistence_stage, PersistenceOptions{0.5}, rows);
  expect_as_stated(scroll_stage, ScrollOptions{3, 2, 70}, rows);
  LineSpectrumOptions spectrum;
  spectrum.ensemble = 12;
  spectrum.samples = 8;
  spectrum.hop = 2;
  spectrum.line = 1;
  spectrum.ranges = 5;
  expect_as_stated(line_spectrum_stage, spectrum, make_spec(ElementType::complex64, 36, 333));
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = 333;
  table->weights.assign(2 * 333, 0.5F);
  table->lines = {{{0, 0}}, {{1, 0}, {2, 1}}, {{35, 1}}};
  expect_as_stated(line_blend_stage, LineBlendOptions{table}, rows);
  expect_as_stated(line_blend_stage, LineBlendOptions{table}, make_spec(ElementType::complex64, 36, 333));
  expect_as_stated(line_gain_stage, LineGainOptions{std::make_shared<const std::vector<float>>(36, 2.0F)}, rows);
  LineCompoundOptions compound;
  compound.sets = {{0, 16, Metres(0.0), Metres(0.0), Metres(1e-3), 0.0}, {16, 16, Metres(0.0), Metres(0.0), Metres(1e-3), 0.1}};
  compound.ranges = {Metres(1e-3), Metres(1e-4), 333};
  expect_as_stated(line_compound_stage, compound, rows);
  for (const std::size_t decimation : {1, 4, 7}) {
    DemodulationOptions options;
    options.frequency = 5.0_MHz;
    options.sample_rate = 40.0_MHz;
    options.decimation = decimation;
    options.pass = 2.5_MHz;
    options.stop = 5.0_MHz;
    expect_as_stated(demodulation_stage, options, rows);
    for (const bool amplified : {false, true}) {
      if (amplified) options.time_gain = gain;
      for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
        expect_as_stated(demodulation_stage, options, make_raw_spec(encoding, 36, 333));
      }
    }
  }
}

TEST_P(State, OfScanLines) {
  auto set = std::make_shared<LineSet>();
  set->elements.assign(8, Point{});
  set->events.push_back({0, {0, 1, 2, 3, 4, 5, 6, 7}});
  set->lines.assign(5, {0, Point{}, {0.0, 0.0, 1.0}});
  set->ranges = {Metres(1e-3), Metres(2e-5), 333};
  set->transmit_times.assign(5 * 333, 1e-6);
  set->weights.assign(333, 1.0F);
  set->weight_tables.assign(5 * 8, 0);
  ScanLinesOptions options;
  options.lines = set;
  options.velocity = MetresPerSecond(1540.0);
  options.sample_rate = 40.0_MHz;
  options.gate = {0, 600};
  for (const char* filter : {"nearest", "linear", "windowed_sinc", "upsampled"}) {
    options.filter.kind = filter;
    ScanLinesOptions amplified = options;
    amplified.time_gain = std::make_shared<const std::vector<float>>(600, 2.0F);
    // Of tiles, what they take at most.
    for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      expect_as_stated(scan_lines_stage, options, make_raw_spec(encoding, 8, 600), Stated::at_most);
      expect_as_stated(scan_lines_stage, amplified, make_raw_spec(encoding, 8, 600), Stated::at_most);
    }
    expect_as_stated(scan_lines_stage, options, make_spec(ElementType::float32, 8, 600), Stated::at_most);
    ScanLinesOptions baseband = options;
    baseband.demodulated = 5.0_MHz;
    expect_as_stated(scan_lines_stage, baseband, make_spec(ElementType::complex64, 8, 600), Stated::at_most);
  }
  for (const std::size_t samples : {333, 1024}) {
    // cuFFT says what it works in once it has planned.
    expect_as_stated(single_sideband_stage, SingleSidebandOptions{20}, make_spec(ElementType::complex64, 5, samples),
                     on_cuda() ? Stated::at_least : Stated::at_most);
  }
}

TEST_P(State, OfTheStagesOfFlow) {
  // On CUDA larger ensembles keep more while the directions of clutter are found.
  for (const std::size_t ensemble : {8, 40}) {
    const BlockSpec samples = make_spec(ElementType::complex64, 3 * ensemble, 333);
    for (const WallFilterKind kind :
         {WallFilterKind::none, WallFilterKind::regression, WallFilterKind::fir, WallFilterKind::svd}) {
      expect_as_stated(wall_filter_stage, WallFilterOptions{.kind = kind, .ensemble = ensemble}, samples);
    }
    expect_as_stated(autocorrelation_stage, AutocorrelationOptions{ensemble, 2}, samples);
  }
  expect_as_stated(flow_stage, FlowOptions{FlowKind::velocity, MetresPerSecond(0.5), 0.01},
                   make_spec(ElementType::float32, 3 * 12, 333));
}

TEST_P(State, OfTheStagesOfTomography) {
  const BlockSpec rows = make_spec(ElementType::float32, 36, 333);
  for (const ProjectedTerm term : {ProjectedTerm::filtered, ProjectedTerm::universal}) {
    expect_as_stated(back_projection_term_stage,
                     BackProjectionTermOptions{term, MetresPerSecond(1500.0), Hertz(20e6), Seconds(1e-6)}, rows);
  }
  DeconvolutionOptions deconvolution;
  deconvolution.bandwidth = Hertz(4e6);
  deconvolution.cutoff = Hertz(10e6);
  deconvolution.sample_rate = Hertz(20e6);
  // What FFTW keeps is not known, and cuFFT says what it works in once it has planned.
  expect_as_stated(deconvolution_stage, deconvolution, rows, on_cuda() ? Stated::at_least : Stated::at_most);
  BackProjectionOptions projection;
  projection.grid = plane;
  projection.velocity = MetresPerSecond(1500.0);
  projection.sample_rate = Hertz(20e6);
  projection.detectors = std::make_shared<const std::vector<ProjectionDetector>>(36);
  expect_as_stated(back_projection_stage, projection, rows);
  projection.normalise = true;
  expect_as_stated(back_projection_stage, projection, rows);
  expect_as_stated(mean_image_stage, MeanImageOptions{ShownPart::magnitude}, rows);
}

TEST(StateOfAStage, IsRefusedAsItsInputIs) {
  const BlockSpec wrong = make_spec(ElementType::uint8, 36, 333);
  const auto refusal = [&](const StageKind& kind, const StageOptions& options) {
    return input_error([&] { static_cast<void>(kind.state(options, wrong, BackendKind::cpu)); });
  };
  EXPECT_EQ(refusal(pairing_stage, pairing_of({.elements = 6})), "pairing stage, input type: found uint8; expected raw samples");
  EXPECT_NE(refusal(analytic_signal_stage, AnalyticSignalOptions{}), "");
  EXPECT_NE(refusal(envelope_stage, EnvelopeOptions{}), "");
  EXPECT_NE(refusal(compression_stage, Compression{}), "");
}

}  // namespace
}  // namespace echoform::test
