#include "benchmarks/copy_bound.hpp"

#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "benchmarks/statistics.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"

namespace echoform::benchmarks {

struct CopyBound::Implementation {
  explicit Implementation(const ImagingPlan& plan)
      : backend(make_cuda_backend()),
        queue(backend->make_queue()),
        begin(gpu::make_event(true)),
        end(gpu::make_event(true)),
        rows(plan.acquisition.a_scans()),
        pitch(plan.acquisition.bytes_per_a_scan()),
        width(pitch) {
    if (plan.gate) {
      if (plan.acquisition.encoding == SampleEncoding::packed12) {
        throw InputError("copy of a gate", "packed samples", "int16 or float32");
      }
      const std::size_t sample = pitch / plan.acquisition.samples;
      first = plan.gate->first * sample;
      width = plan.gate->count * sample;
    }
    host = backend->allocate(rows * pitch, MemoryUse::staging);
    device = backend->allocate(rows * width, MemoryUse::working);
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<ExecutionQueue> queue;
  gpu::Event begin;
  gpu::Event end;
  std::size_t rows;
  std::size_t pitch;
  std::size_t width;
  std::size_t first = 0;
  Buffer host;
  Buffer device;
};

CopyBound::CopyBound(const ImagingPlan& plan) : implementation_(std::make_unique<Implementation>(plan)) {}
CopyBound::~CopyBound() = default;

double CopyBound::copies_per_second(std::size_t copies) {
  Implementation& me = *implementation_;
  cudaStream_t stream = gpu::stream_of(*me.queue);
  std::vector<double> rates;
  for (std::size_t copy = 0; copy <= copies; ++copy) {
    ECHOFORM_CUDA(cudaEventRecord(me.begin.get(), stream));
    if (me.width == me.pitch) {
      ECHOFORM_CUDA(cudaMemcpyAsync(me.device.data(), me.host.data(), me.host.size(), cudaMemcpyHostToDevice, stream));
    } else {
      ECHOFORM_CUDA(cudaMemcpy2DAsync(me.device.data(), me.width, me.host.bytes_begin() + me.first, me.pitch, me.width, me.rows,
                                      cudaMemcpyHostToDevice, stream));
    }
    ECHOFORM_CUDA(cudaEventRecord(me.end.get(), stream));
    ECHOFORM_CUDA(cudaEventSynchronize(me.end.get()));
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, me.begin.get(), me.end.get()));
    if (copy > 0) rates.push_back(1e3 / static_cast<double>(milliseconds));
  }
  return spread_of(std::move(rates)).median;
}

std::size_t CopyBound::bytes() const {
  return implementation_->rows * implementation_->width;
}

std::size_t device_bytes_in_use() {
  std::size_t free = 0;
  std::size_t total = 0;
  ECHOFORM_CUDA(cudaMemGetInfo(&free, &total));
  return total - free;
}

}  // namespace echoform::benchmarks
