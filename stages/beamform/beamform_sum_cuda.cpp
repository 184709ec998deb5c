#include <utility>

#include "gpu/stream_queue.hpp"
#include "stages/beamform/add_images_launch.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/beamform_sum.hpp"

namespace echoform {
namespace {

void add_images_cuda(float* to, const float* from, std::size_t count, ExecutionQueue& queue) noexcept {
  launch_add_images(to, from, count, gpu::stream_of(queue));
}

}  // namespace

std::unique_ptr<Stage> make_beamform_sum_cuda(BeamformSumOptions options, Backend& backend) {
  return make_beamform_sum(
      std::move(options), backend,
      {[&backend](const BeamformOptions& part) { return make_beamform_cuda(part, backend); }, &add_images_cuda});
}

}  // namespace echoform
