#include <numeric>

#include "base/errors.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/direct_image.hpp"
#include "benchmarks/lookups.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cuda_check.hpp"

namespace echoform::benchmarks {
namespace {

class DeviceNumbers {
 public:
  DeviceNumbers(Backend& backend, const std::vector<double>& values)
      : memory_(backend.allocate(values.size() * sizeof(double), MemoryUse::working)) {
    copy_now(memory_.data(), values.data(), memory_.size());
  }
  [[nodiscard]] const double* data() const { return static_cast<const double*>(memory_.data()); }

 private:
  Buffer memory_;
};

std::vector<double> centres(const Axis& axis) {
  std::vector<double> values;
  for (std::size_t k = 0; k < axis.count; ++k) values.push_back(axis.at(k).value);
  return values;
}

double samples_per_metre(const ImagingPlan& plan, const Leg& leg) {
  const auto form = leg.point_source(0);
  if (!form) throw InputError("direct sum", "a law without point sources", "contact views");
  return plan.acquisition.sample_rate.value / form->velocity.value;
}

/// The plane waves of a leg. Empty for a law of single elements.
std::vector<DirectWave> waves_of(const ImagingPlan& plan, const Leg& leg) {
  std::vector<DirectWave> waves;
  const double rate = plan.acquisition.sample_rate.value;
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (const auto wave = leg.plane_wave_on(source, plan.grid)) {
      waves.push_back({wave->slowness.x * rate, wave->slowness.z * rate, wave->offset.value * rate});
    } else if (leg.revolved(source)) {
      throw InputError("direct sum", "waves of revolution", "an image in the plane of their elements");
    }
  }
  return waves;
}

}  // namespace

DirectImage direct_image(const ImagingPlan& plan, std::size_t view, const DeviceRows& rows, const PairRows& pairs,
                         cudaStream_t stream) {
  const auto backend = make_cuda_backend();
  std::vector<double> elements;
  std::vector<double> across;
  for (const Element& element : plan.acquisition.probe.elements) {
    elements.push_back(element.centre.x.value);
    across.push_back(element.centre.y.value);
  }
  const DeviceNumbers element_x(*backend, elements);
  const DeviceNumbers element_y(*backend, across);
  const DeviceNumbers pixel_x(*backend, centres(plan.grid.x));
  const DeviceNumbers pixel_y(*backend, centres(plan.grid.y));
  const DeviceNumbers pixel_z(*backend, centres(plan.grid.z));
  const std::size_t pixels = plan.grid.pixels();
  const Buffer image = backend->allocate(pixels * sizeof(double2), MemoryUse::working);
  const Buffer counts = backend->allocate(pixels * sizeof(std::uint32_t), MemoryUse::working);

  const DelayLaw& law = plan.laws[view];
  const auto n = static_cast<double>(elements.size());
  Buffer weights;
  if (!plan.apodization.trivial()) {
    const std::vector<float> values = weights_of(plan, *law.transmit);
    weights = backend->allocate(values.size() * sizeof(float), MemoryUse::working);
    copy_now(weights.data(), values.data(), weights.size());
  }
  DirectSum task;
  task.weights = static_cast<const float*>(weights.data());
  task.rows = rows;
  task.elements = static_cast<std::uint32_t>(elements.size());
  const std::vector<DirectWave> waves = waves_of(plan, *law.transmit);
  Buffer forms;
  if (!waves.empty()) {
    forms = backend->allocate(waves.size() * sizeof(DirectWave), MemoryUse::working);
    copy_now(forms.data(), waves.data(), forms.size());
    task.waves = static_cast<const DirectWave*>(forms.data());
    task.wave_count = static_cast<std::uint32_t>(waves.size());
  }
  task.both_ways = !pairs.summed && !law.reciprocal();
  task.off_diagonal = pairs.summed ? 1.0 : 2.0;
  task.element_x = element_x.data();
  task.element_y = element_y.data();
  task.pixel_x = pixel_x.data();
  task.pixel_y = pixel_y.data();
  task.pixel_z = pixel_z.data();
  task.nx = static_cast<std::uint32_t>(plan.grid.x.count);
  task.ny = static_cast<std::uint32_t>(plan.grid.y.count);
  task.nz = static_cast<std::uint32_t>(plan.grid.z.count);
  if (waves.empty()) task.transmit_samples_per_metre = samples_per_metre(plan, *law.transmit);
  task.receive_samples_per_metre = samples_per_metre(plan, *law.receive);
  task.scale = 1.0 / (waves.empty() ? n * n : n * static_cast<double>(waves.size()));
  launch_direct_sum(task, static_cast<double2*>(image.data()), static_cast<std::uint32_t*>(counts.data()), stream);
  ECHOFORM_CUDA(cudaStreamSynchronize(stream));

  DirectImage result;
  result.image.resize(pixels);
  copy_now(result.image.data(), image.data(), image.size());
  std::vector<std::uint32_t> lookups(pixels);
  copy_now(lookups.data(), counts.data(), counts.size());
  result.lookups = std::accumulate(lookups.begin(), lookups.end(), 0.0);
  return result;
}

}  // namespace echoform::benchmarks
