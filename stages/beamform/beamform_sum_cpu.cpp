#include <utility>

#include "cpu/cpu_backend.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/beamform_sum.hpp"

namespace echoform {
namespace {

void add_images_cpu(float* to, const float* from, std::size_t count, ExecutionQueue& queue) noexcept {
  team_of(queue).for_each(count, 16384, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    for (std::size_t k = first; k < last; ++k) to[k] += from[k];
  });
}

}  // namespace

std::unique_ptr<Stage> make_beamform_sum_cpu(BeamformSumOptions options, Backend& backend) {
  return make_beamform_sum(
      std::move(options), backend,
      {[&backend](const BeamformOptions& part) { return make_beamform_cpu(part, backend); }, &add_images_cpu});
}

}  // namespace echoform
