#include <utility>

#include "gpu/cuda_check.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/beamform_ensemble.hpp"

namespace echoform {
namespace {

void copy_image_rows_cuda(const ImageRows& rows, ExecutionQueue& queue) noexcept {
  const std::size_t width = rows.columns * sizeof(float);
  ECHOFORM_CUDA_QUEUED(cudaMemcpy2DAsync(rows.to, rows.distance * sizeof(float), rows.from, width, width, rows.count,
                                         cudaMemcpyDeviceToDevice, gpu::stream_of(queue)));
}

}  // namespace

std::unique_ptr<Stage> make_beamform_ensemble_cuda(BeamformEnsembleOptions options, Backend& backend) {
  return make_beamform_ensemble(
      std::move(options), backend,
      {[&backend](const BeamformOptions& image) { return make_beamform_cuda(image, backend); }, &copy_image_rows_cuda});
}

}  // namespace echoform
