#include "benchmarks/tomography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>

#include "benchmarks/reference_back_projection.hpp"
#include "benchmarks/reference_tfm.hpp"
#include "benchmarks/stopwatch.hpp"
#include "config/configuration.hpp"
#include "cpu/cpu_backend.hpp"
#include "methods/filter_settings.hpp"
#include "methods/registry.hpp"
#include "methods/tomography/section.hpp"
#include "simulators/detector_array.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"

namespace echoform::benchmarks {
namespace {

constexpr double voxel_spacing = 0.14e-3;
constexpr double voxel_spacing_live = 0.15e-3;
constexpr double pixel_spacing = 0.1e-3;

std::array<Metres, 2> centred_axis(std::size_t count, double spacing) {
  const double half = 0.5 * spacing * static_cast<double>(count - 1);
  return {Metres(-half), Metres(half)};
}

std::shared_ptr<const ImagingSetup> resolved(Configuration configuration, const Acquisition& acquisition,
                                             TomographyAlgorithm algorithm) {
  configuration.file = "bench tomography";
  configuration.imaging.method = "tomography";
  tomography(configuration).algorithm = algorithm;
  return resolve_imaging({.configuration = configuration, .acquisition = acquisition});
}

/// The input of the plain loops.
struct PlainProjection {
  PlainProjection(const BackProjectionOptions& options, const ProjectionCase& test) {
    for (const ProjectionDetector& detector : *options.detectors) {
      const std::array<double, 7> numbers{detector.centre.x.value, detector.centre.y.value, detector.centre.z.value,
                                          detector.normal.x,       detector.normal.y,       detector.normal.z,
                                          detector.weight};
      for (std::size_t k = 0; k < numbers.size(); ++k) columns[k].push_back(static_cast<float>(numbers[k]));
    }
    const Grid& grid = options.grid;
    task = {.columns = grid.x.count,
            .rows = grid.y.count,
            .planes = test.plain_planes,
            .first_x = static_cast<float>(grid.x.first.value),
            .first_y = static_cast<float>(grid.y.first.value),
            .first_z = static_cast<float>(grid.z.first.value),
            .spacing = static_cast<float>(voxel_spacing),
            .detectors = options.detectors->size(),
            .x = columns[0].data(),
            .y = columns[1].data(),
            .z = columns[2].data(),
            .normal_x = columns[3].data(),
            .normal_y = columns[4].data(),
            .normal_z = columns[5].data(),
            .weight = columns[6].data(),
            .samples = test.samples,
            .velocity = static_cast<float>(options.velocity.value),
            .sample_rate = static_cast<float>(options.sample_rate.value),
            .start_time = static_cast<float>(options.start_time.value)};
  }

  std::array<std::vector<float>, 7> columns;
  reference::Projection task;
};

Spread over(double numerator, const std::vector<double>& rates) {
  std::vector<double> values;
  for (const double rate : rates) values.push_back(numerator / rate);
  return spread_of(std::move(values));
}

ProjectionFigure measure_algorithm(const ProjectionCase& test, TomographyAlgorithm algorithm, std::size_t threads) {
  const BackProjectionOptions options = projection_of(test, algorithm);
  const std::size_t detectors = options.detectors->size();
  BlockSpec terms;
  terms.type = ElementType::float32;
  terms.rows = detectors;
  terms.columns = test.samples;
  terms = back_projection_term_output(terms);  // as the chain pads them
  const auto backend = make_cpu_backend(threads);
  const auto queue = backend->make_queue();
  const auto stage = make_back_projection_cpu(options);
  const BlockSpec output = stage->prepare(terms);
  const Buffer input = backend->allocate(terms.bytes(), MemoryUse::working);
  const std::vector<float> packed = related_noise(detectors, test.samples, test.samples);
  auto* const rows = static_cast<float*>(input.data());
  std::fill(rows, rows + terms.bytes() / sizeof(float), 0.0F);
  for (std::size_t row = 0; row < detectors; ++row) {
    std::copy_n(packed.data() + row * test.samples, test.samples, rows + row * terms.row_stride);
  }
  std::vector<float> image(output.rows * output.row_stride);
  const PlainProjection plain(options, test);
  std::vector<float> plain_image(test.plain_planes * test.across * test.across);
  const auto plain_loop = algorithm == TomographyAlgorithm::fbp ? reference::filtered_back_projection_loop
                                                                : reference::universal_back_projection_loop;

  ProjectionFigure figure;
  figure.algorithm = words::tomography_algorithm.of(algorithm);
  const double plane_pairs = static_cast<double>(test.across * test.across * detectors);
  figure.pairs = plane_pairs * static_cast<double>(test.planes);
  const auto run_stage = [&] {
    const auto begin = std::chrono::steady_clock::now();
    stage->process({input.data()}, {image.data()}, *queue);
    return figure.pairs / seconds_since(begin);
  };
  const auto run_plain = [&] {
    const auto begin = std::chrono::steady_clock::now();
    plain_loop(plain.task, packed.data(), plain_image.data(), static_cast<int>(threads));
    return plane_pairs * static_cast<double>(test.plain_planes) / seconds_since(begin);
  };
  static_cast<void>(run_stage());
  figure.turns = take_turns(test.rounds, {{"plain loop", run_plain}, {"stage", run_stage}});
  const std::vector<double>& rates = figure.turns.values("stage");
  figure.rate = figure.turns.spread("stage");
  figure.seconds = over(figure.pairs, rates);
  figure.whole_seconds = over(plane_pairs * static_cast<double>(ProjectionCase::all_planes), rates);
  figure.plain_rate = figure.turns.spread("plain loop");
  figure.ratio = figure.turns.ratio("stage", "plain loop");
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < plain_image.size(); ++k) {
    error += std::pow(static_cast<double>(image[k]) - plain_image[k], 2);
    norm += std::pow(static_cast<double>(plain_image[k]), 2);
  }
  figure.difference = std::sqrt(error / norm);
  return figure;
}

}  // namespace

BackProjectionOptions projection_of(const ProjectionCase& test, TomographyAlgorithm algorithm) {
  DetectorArray array;
  array.kind = DetectorKind::arc;
  array.count = test.rings;
  array.radius = Metres(65e-3);
  array.positions = test.views;
  Acquisition acquisition = acquisition_of_detectors(array);
  acquisition.samples = test.samples;
  acquisition.sample_rate = Hertz(20e6);
  acquisition.start_time = Seconds(17e-6);
  Configuration configuration;
  configuration.material.longitudinal_velocity = MetresPerSecond(1540.0);
  configuration.grid.pixels = {test.across, test.across, test.planes};
  configuration.grid.x = configuration.grid.y = centred_axis(test.across, voxel_spacing);
  configuration.grid.z = centred_axis(test.planes, voxel_spacing);
  const auto setup = resolved(configuration, acquisition, algorithm);
  for (const Step& step : setup->recipe.steps) {
    if (step.stage == &back_projection_stage) return step.options.as<BackProjectionOptions>();
  }
  throw std::logic_error("tomography without back-projection");
}

std::vector<float> related_noise(std::size_t rows, std::size_t samples, std::size_t stride) {
  std::vector<float> data(rows * stride);
  std::minstd_rand random(5);
  double level = 0.0;
  double slope = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t n = 0; n < samples; ++n) {
      slope += 0.3 * ((1e-3 * static_cast<double>(random() % 2001U) - 1.0) - level - slope);
      level += slope;
      data[row * stride + n] = static_cast<float>(level);
    }
  }
  return data;
}

ProjectionReport measure_projections(const ProjectionCase& test, const std::function<void(const std::string&)>& progress) {
  ProjectionReport report;
  report.reference_flags = reference::build_flags();
  report.threads = test.threads != 0 ? test.threads : usable_processors();
  for (const TomographyAlgorithm algorithm : {TomographyAlgorithm::fbp, TomographyAlgorithm::ubp}) {
    progress(std::string(words::tomography_algorithm.of(algorithm)));
    report.figures.push_back(measure_algorithm(test, algorithm, report.threads));
  }
  return report;
}

std::shared_ptr<const ImagingSetup> live_volume_setup(const LiveVolumeCase& test, TomographyAlgorithm algorithm) {
  DetectorArray array;
  array.kind = DetectorKind::sphere;
  array.rows = test.rings;
  array.count = test.of_a_ring;
  array.radius = Metres(40e-3);
  Acquisition acquisition = acquisition_of_detectors(array);
  acquisition.samples = test.samples;
  acquisition.sample_rate = Hertz(40e6);
  Configuration configuration;
  configuration.material.longitudinal_velocity = MetresPerSecond(1510.0);
  configuration.grid.pixels = {test.voxels, test.voxels, test.voxels};
  configuration.grid.x = configuration.grid.y = configuration.grid.z = centred_axis(test.voxels, voxel_spacing_live);
  section<FilterSection>(configuration).kind = FilterWish::none;
  return resolved(configuration, acquisition, algorithm);
}

std::shared_ptr<const ImagingSetup> live_ring_setup(const LiveRingCase& test) {
  DetectorArray array;
  array.kind = DetectorKind::ring;
  array.count = test.detectors;
  array.radius = Metres(40.5e-3);
  Acquisition acquisition = acquisition_of_detectors(array);
  acquisition.samples = test.samples;
  acquisition.sample_rate = Hertz(40e6);
  Configuration configuration;
  configuration.material.longitudinal_velocity = MetresPerSecond(1510.0);
  configuration.grid.pixels = {test.pixels, test.pixels};
  configuration.grid.x = configuration.grid.z = centred_axis(test.pixels, pixel_spacing);
  configuration.imaging.threads = test.threads;
  auto& filter = section<FilterSection>(configuration);
  filter.kind = FilterWish::band;
  filter.band = {{Hertz(0.2e6), Hertz(8e6)}};
  return resolved(configuration, acquisition, TomographyAlgorithm::ubp);
}

}  // namespace echoform::benchmarks
