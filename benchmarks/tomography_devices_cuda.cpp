#include "benchmarks/tomography_devices.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "benchmarks/stopwatch.hpp"
#include "cpu/thread_team.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_group.hpp"
#include "operators/interpolated_model.hpp"
#include "operators/spherical_model.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"

namespace echoform::benchmarks {
namespace {

/// Maximum number of threads of each device, for copies.
constexpr std::size_t most_threads = 16;

/// The prepared work of one device, which can run repeatedly.
using Work = std::function<void()>;
using Preparation = std::function<Work(std::size_t device)>;

/// Runs the work of all devices at once, `rounds` times, after one round that warms up.
Spread measure_together(std::size_t devices, std::size_t rounds, const Preparation& prepare) {
  std::vector<double> seconds;
  std::barrier meeting(static_cast<std::ptrdiff_t>(devices));
  std::mutex guard;
  std::exception_ptr failure;
  {
    std::vector<std::jthread> threads;
    for (std::size_t device = 0; device < devices; ++device) {
      threads.emplace_back([&, device] {
        Work work;
        try {
          work = prepare(device);
        } catch (...) {
          const std::scoped_lock lock(guard);
          failure = std::current_exception();
        }
        meeting.arrive_and_wait();
        // The failure was written before the barrier.
        if (failure) return;
        for (std::size_t round = 0; round <= rounds; ++round) {
          meeting.arrive_and_wait();
          const auto begin = std::chrono::steady_clock::now();
          work();
          meeting.arrive_and_wait();
          if (device == 0 && round > 0) seconds.push_back(seconds_since(begin));
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
  return spread_of(seconds);
}

/// Part `index` of `count` parts, which are as equal as possible.
RowRange part_of(std::size_t all, std::size_t index, std::size_t count) {
  const std::size_t first = all * index / count;
  return {first, all * (index + 1) / count - first};
}

struct Projection {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ExecutionQueue> queue;
  std::unique_ptr<Stage> stage;
  Buffer input;
  Buffer image;
};

struct ModelWork {
  explicit ModelWork(std::size_t threads) : team(threads) {}
  std::unique_ptr<DeviceGroup> group;
  ThreadTeam team;
  std::unique_ptr<LinearOperator> model;
  std::vector<float> image;
  std::vector<float> data;
};

ModelGeometry geometry_of(const BackProjectionOptions& options, std::size_t samples, const RowRange& detectors) {
  ModelGeometry geometry;
  geometry.grid = options.grid;
  geometry.samples = samples;
  geometry.sample_rate = options.sample_rate;
  geometry.start_time = options.start_time;
  geometry.velocity = options.velocity;
  for (std::size_t k = detectors.first; k < detectors.first + detectors.count; ++k) {
    Detector detector;
    detector.centre = (*options.detectors)[k].centre;
    detector.normal = (*options.detectors)[k].normal;
    geometry.detectors.push_back(detector);
  }
  return geometry;
}

}  // namespace

Spread projections_on_devices(const ProjectionCase& test, TomographyAlgorithm algorithm, std::size_t devices) {
  const BackProjectionOptions whole = projection_of(test, algorithm);
  BlockSpec terms;
  terms.type = ElementType::float32;
  terms.rows = whole.detectors->size();
  terms.columns = test.samples;
  terms = back_projection_term_output(terms);  // as the chain pads them
  const std::vector<float> rows = related_noise(terms.rows, test.samples, terms.row_stride);
  return measure_together(devices, test.rounds, [&](std::size_t device) {
    BackProjectionOptions options = whole;
    const RowRange planes = part_of(whole.grid.z.count, device, devices);
    options.grid.z = {whole.grid.z.at(planes.first), whole.grid.z.at(planes.first + planes.count - 1), planes.count};
    auto work = std::make_shared<Projection>();
    work->backend = make_cuda_backend(static_cast<int>(device));
    work->queue = work->backend->make_queue();
    work->stage = make_back_projection_cuda(options, *work->backend);
    const BlockSpec output = work->stage->prepare(terms);
    work->input = work->backend->allocate(terms.bytes(), MemoryUse::working);
    work->image = work->backend->allocate(output.bytes(), MemoryUse::working);
    copy_now(work->input.data(), rows.data(), terms.bytes());
    return [work] {
      work->stage->process({work->input.data()}, {work->image.data()}, *work->queue);
      work->queue->finish();
    };
  });
}

Spread models_on_devices(const ProjectionCase& test, ModelOnDevices model, std::size_t devices) {
  const BackProjectionOptions whole = projection_of(test, TomographyAlgorithm::ubp);
  const DeviceGroupId id = make_device_group_id();
  return measure_together(devices, test.rounds, [&](std::size_t device) {
    const ModelGeometry geometry = geometry_of(whole, test.samples, part_of(whole.detectors->size(), device, devices));
    auto work = std::make_shared<ModelWork>(std::clamp<std::size_t>(usable_processors() / devices, 1, most_threads));
    const auto number = static_cast<int>(device);
    if (devices > 1) work->group = make_device_group(id, device, devices, number, geometry.grid.pixels());
    const OperatorSite site(work->team, BackendKind::cuda, number);
    work->model = model == ModelOnDevices::interpolated ? make_interpolated_model(geometry, site)
                                                        : make_spherical_model(geometry, SphericalModelOptions{}, site);
    work->image = related_noise(1, work->model->image_size(), work->model->image_size());
    work->data.resize(work->model->data_size());
    return [work] {
      work->model->apply(work->image, work->data);
      AdjointOnDevice& part = *work->model->on_device();
      part.begin_adjoint(work->data);
      if (work->group) work->group->sum(part.device_image(), work->model->image_size());
      part.finish_adjoint(work->image);
    };
  });
}

}  // namespace echoform::benchmarks
