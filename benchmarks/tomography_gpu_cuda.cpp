#include "benchmarks/tomography_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "benchmarks/device_timing.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t voxels_compared = 1000;

/// The value of a voxel by the definition, in double precision.
double plain_voxel(const BackProjectionOptions& options, const Point& voxel, const std::vector<float>& terms, std::size_t samples,
                   std::size_t stride) {
  double sum = 0.0;
  for (const ProjectionDetector& detector : *options.detectors) {
    const double x = (voxel.x - detector.centre.x).value;
    const double y = (voxel.y - detector.centre.y).value;
    const double z = (voxel.z - detector.centre.z).value;
    const double way = std::sqrt(x * x + y * y + z * z);
    const double u = (way / options.velocity.value - options.start_time.value) * options.sample_rate.value;
    if (!(u >= 0.0 && u < static_cast<double>(samples - 1))) continue;
    const auto n = static_cast<std::size_t>(u);
    const float* const row = terms.data() + detector.row * stride + n;
    const double sample = row[0] + (u - static_cast<double>(n)) * (static_cast<double>(row[1]) - row[0]);
    double weight = detector.weight;
    const double facing = std::max(0.0, detector.normal.x * x + detector.normal.y * y + detector.normal.z * z);
    if (options.law == ProjectionLaw::inverse_cube) weight *= facing / (way * way * way);
    if (options.law == ProjectionLaw::inverse_square) weight *= facing / (way * way);
    sum += weight * sample;
  }
  return sum;
}

}  // namespace

ProjectionOnGpu measure_projection_on_gpu(const ProjectionCase& test, TomographyAlgorithm algorithm) {
  const BackProjectionOptions options = projection_of(test, algorithm);
  const std::size_t detectors = options.detectors->size();
  BlockSpec terms;
  terms.type = ElementType::float32;
  terms.rows = detectors;
  terms.columns = test.samples;
  terms = back_projection_term_output(terms);  // as the chain pads them
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const auto stage = make_back_projection_cuda(options, *backend);
  const BlockSpec output = stage->prepare(terms);
  const std::vector<float> rows = related_noise(detectors, test.samples, terms.row_stride);
  const Buffer input = backend->allocate(terms.bytes(), MemoryUse::working);
  const Buffer image = backend->allocate(output.bytes(), MemoryUse::working);
  copy_now(input.data(), rows.data(), terms.bytes());

  ProjectionOnGpu figure;
  figure.pairs = static_cast<double>(options.grid.pixels()) * static_cast<double>(detectors);
  DeviceTimer timer(gpu::stream_of(*queue), [&] { stage->process({input.data()}, {image.data()}, *queue); });
  std::vector<double> seconds;
  std::vector<double> rates;
  for (std::size_t round = 0; round < test.rounds; ++round) {
    seconds.push_back(timer.seconds());
    rates.push_back(figure.pairs / seconds.back());
  }
  figure.seconds = spread_of(seconds);
  figure.rate = spread_of(rates);

  std::vector<float> found(options.grid.pixels());
  copy_now(found.data(), image.data(), found.size() * sizeof(float));
  std::minstd_rand random(3);
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t n = 0; n < voxels_compared; ++n) {
    const std::size_t voxel = (static_cast<std::size_t>(random()) * 7919U + random()) % found.size();
    const double want = plain_voxel(options, options.grid.at(voxel), rows, test.samples, terms.row_stride);
    error += std::pow(static_cast<double>(found[voxel]) - want, 2);
    norm += want * want;
  }
  figure.difference = std::sqrt(error / norm);
  return figure;
}

}  // namespace echoform::benchmarks
