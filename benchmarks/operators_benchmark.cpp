// The linear operators of optoacoustic tomography on the CPU, each direction, for one and two threads.
//   operators_benchmark [--benchmark_filter=REGEX]     ECHOFORM_SIMD=portable|avx2|avx512 lowers the instruction set
// The paper's phantom at twice its spacing, 105 x 105 x 220 voxels of 0.28 mm, heard by 16 detectors on its sphere of 65 mm for
// 1022 samples at 20 MHz. "pairs": of a voxel and a detector. "samples": of spheres within the grid, spacing / (c dt) for each
// pair.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/directions.hpp"
#include "cpu/thread_team.hpp"
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
    // A spiral, evenly over the sphere.
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

/// Arguments: threads, and whether it is the adjoint.
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
  run_model(state, make_interpolated_model);
}

void spherical_model(benchmark::State& state) {
  run_model(state, [](const ModelGeometry& geometry, ThreadTeam& team) { return make_spherical_model(geometry, {}, team); });
}

void spherical_model_of_rectangles(benchmark::State& state) {
  SphericalModelOptions options;
  options.rectangular_elements = true;
  run_model(state,
            [&](const ModelGeometry& geometry, ThreadTeam& team) { return make_spherical_model(geometry, options, team); });
}

void cases(benchmark::internal::Benchmark* of) {
  of->ArgNames({"threads", "adjoint"})->ArgsProduct({{1, 2}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace

BENCHMARK(interpolated_model)->Apply(cases);
BENCHMARK(spherical_model)->Apply(cases);
BENCHMARK(spherical_model_of_rectangles)->Apply(cases);
