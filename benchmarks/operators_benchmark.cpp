// The linear operators of optoacoustic tomography, each direction: on the CPU for one and two threads, and on CUDA.
//   operators_benchmark [--benchmark_filter=REGEX]     ECHOFORM_SIMD=portable|avx2|avx512 lowers the instruction set
// The case is the paper's phantom at twice its spacing, 105 x 105 x 220 voxels of 0.28 mm. 16 detectors on its sphere of 65 mm
// receive 1022 samples at 20 MHz. "pairs" counts pairs of a voxel and a detector. "samples" counts samples of spheres within the
// grid, spacing / (c dt) for each pair. On CUDA there is also the paper's case itself, 5760 detectors (64 rings x 90 views) and
// 210 x 210 x 440 voxels of 0.14 mm. It includes the copies of images and data from and to the host: --benchmark_filter=paper.
// "iteration" is apply and adjoint.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "base/directions.hpp"
#include "cpu/thread_team.hpp"
#include "gpu/cuda_backend.hpp"
#include "operators/interpolated_model.hpp"
#include "operators/spherical_model.hpp"

namespace {

using namespace echoform;

constexpr double spacing = 0.28e-3;  // m
constexpr std::size_t detectors = 16;

ModelGeometry benchmark_geometry() {
  const auto axis = [](std::size_t count) {
    const double half = 0.5 * spacing * static_cast<double>(count - 1);
    return Axis{Metres(-half), Metres(half), count};
  };
  ModelGeometry geometry;
  geometry.grid = {axis(105), axis(220), axis(105)};
  geometry.samples = 1022;
  geometry.sample_rate = Hertz(20e6);
  geometry.start_time = Seconds(16e-6);
  geometry.velocity = MetresPerSecond(1540.0);
  for (std::size_t k = 0; k < detectors; ++k) {
    // The detectors lie on a spiral, evenly over the sphere.
    const double z = 1.0 - 2.0 * (static_cast<double>(k) + 0.5) / static_cast<double>(detectors);
    const double level = std::sqrt(1.0 - z * z);
    const double azimuth = 2.39996323 * static_cast<double>(k);
    Detector detector;
    detector.centre = {Metres(65e-3 * level * std::cos(azimuth)), Metres(65e-3 * level * std::sin(azimuth)), Metres(65e-3 * z)};
    detector.normal = {-level * std::cos(azimuth), -level * std::sin(azimuth), -z};
    detector.across = {-std::sin(azimuth), std::cos(azimuth), 0.0};
    detector.width = Metres(2e-3);
    detector.length = Metres(2e-3);
    geometry.detectors.push_back(detector);
  }
  return geometry;
}

/// Arguments of the benchmark: the number of threads, and 1 for the adjoint.
template <class Make>
void run_model(benchmark::State& state, const Make& make) {
  ThreadTeam team(static_cast<std::size_t>(state.range(0)));
  const ModelGeometry geometry = benchmark_geometry();
  const std::unique_ptr<LinearOperator> model = make(geometry, team);
  std::vector<float> image(model->image_size());
  std::vector<float> data(model->data_size());
  for (std::size_t n = 0; n < image.size(); ++n) image[n] = static_cast<float>(n * 2654435761U % 2001) - 1000.0F;
  model->apply(image, data);
  for (auto _ : state) {
    if (state.range(1) == 0) {
      model->apply(image, data);
    } else {
      model->adjoint(data, image);
    }
  }
  const double pairs = static_cast<double>(image.size()) * static_cast<double>(detectors);
  const double each = geometry.sample_rate.value * spacing / geometry.velocity.value;
  state.counters["pairs"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["samples"] = benchmark::Counter(pairs * each, benchmark::Counter::kIsIterationInvariantRate);
}

void interpolated_model(benchmark::State& state) {
  run_model(state, [](const ModelGeometry& geometry, ThreadTeam& team) { return make_interpolated_model(geometry, team); });
}

void spherical_model(benchmark::State& state) {
  run_model(state, [](const ModelGeometry& geometry, ThreadTeam& team) { return make_spherical_model(geometry, {}, team); });
}

void spherical_model_of_rectangles(benchmark::State& state) {
  SphericalModelOptions options;
  options.rectangular_elements = true;
  options.element_parts = ElementParts{};
  run_model(state,
            [&](const ModelGeometry& geometry, ThreadTeam& team) { return make_spherical_model(geometry, options, team); });
}

/// Rings at polar angles (n + 1/2) pi / `rings`, with `views` views around each; elements of 2 x 2 mm.
ModelGeometry paper_geometry(std::size_t rings, std::size_t views) {
  constexpr double voxel = 0.14e-3;  // m
  const auto axis = [](std::size_t count) {
    const double half = 0.5 * voxel * static_cast<double>(count - 1);
    return Axis{Metres(-half), Metres(half), count};
  };
  ModelGeometry geometry = benchmark_geometry();
  geometry.grid = {axis(210), axis(440), axis(210)};
  geometry.detectors.clear();
  for (std::size_t view = 0; view < views; ++view) {
    const double azimuth = 2.0 * std::numbers::pi * static_cast<double>(view) / static_cast<double>(views);
    for (std::size_t ring = 0; ring < rings; ++ring) {
      const double polar = std::numbers::pi * (static_cast<double>(ring) + 0.5) / static_cast<double>(rings);
      const double level = std::sin(polar);
      Detector detector;
      detector.centre = {Metres(65e-3 * level * std::cos(azimuth)), Metres(65e-3 * level * std::sin(azimuth)),
                         Metres(65e-3 * std::cos(polar))};
      detector.normal = {-level * std::cos(azimuth), -level * std::sin(azimuth), -std::cos(polar)};
      detector.across = {-std::sin(azimuth), std::cos(azimuth), 0.0};
      detector.width = Metres(2e-3);
      detector.length = Metres(2e-3);
      geometry.detectors.push_back(detector);
    }
  }
  return geometry;
}

enum class ModelOf : std::uint8_t { interpolated, spherical, rectangles };

std::unique_ptr<LinearOperator> model_on_cuda(ModelOf model, const ModelGeometry& geometry, ThreadTeam& team) {
  const OperatorSite site(team, BackendKind::cuda, 0);
  if (model == ModelOf::interpolated) return make_interpolated_model(geometry, site);
  SphericalModelOptions options;
  options.rectangular_elements = model == ModelOf::rectangles;
  options.element_parts = ElementParts{};
  return make_spherical_model(geometry, options, site);
}

/// Argument of the benchmark: 0 apply, 1 adjoint, 2 both.
void run_on_cuda(benchmark::State& state, ModelOf model, const ModelGeometry& geometry) {
  if (const std::string reason = why_no_cuda(); !reason.empty()) {
    state.SkipWithError(("no GPU: " + reason).c_str());
    return;
  }
  ThreadTeam team(std::min<std::size_t>(16, usable_processors()));  // for the copies
  const std::unique_ptr<LinearOperator> linear = model_on_cuda(model, geometry, team);
  std::vector<float> image(linear->image_size());
  std::vector<float> data(linear->data_size());
  for (std::size_t n = 0; n < image.size(); ++n) image[n] = static_cast<float>(n * 2654435761U % 2001) - 1000.0F;
  linear->apply(image, data);
  for (auto _ : state) {
    if (state.range(0) != 1) linear->apply(image, data);
    if (state.range(0) != 0) linear->adjoint(data, image);
  }
  const double pairs = static_cast<double>(image.size()) * static_cast<double>(geometry.detectors.size());
  state.counters["pairs"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
}

void cases(benchmark::internal::Benchmark* of) {
  of->ArgNames({"threads", "adjoint"})->ArgsProduct({{1, 2}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();
}

void cuda_cases(benchmark::internal::Benchmark* of) {
  of->ArgName("apply0_adjoint1_iteration2")->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace

BENCHMARK(interpolated_model)->Apply(cases);
BENCHMARK(spherical_model)->Apply(cases);
BENCHMARK(spherical_model_of_rectangles)->Apply(cases);
BENCHMARK_CAPTURE(run_on_cuda, small_interpolated, ModelOf::interpolated, benchmark_geometry())->Apply(cuda_cases);
BENCHMARK_CAPTURE(run_on_cuda, small_spherical, ModelOf::spherical, benchmark_geometry())->Apply(cuda_cases);
BENCHMARK_CAPTURE(run_on_cuda, paper_interpolated, ModelOf::interpolated, paper_geometry(64, 90))
    ->Apply(cuda_cases)
    ->Iterations(3);
BENCHMARK_CAPTURE(run_on_cuda, paper_spherical, ModelOf::spherical, paper_geometry(64, 90))->Apply(cuda_cases)->Iterations(5);
BENCHMARK_CAPTURE(run_on_cuda, paper_spherical_of_rectangles, ModelOf::rectangles, paper_geometry(64, 90))
    ->Apply(cuda_cases)
    ->Iterations(1);
