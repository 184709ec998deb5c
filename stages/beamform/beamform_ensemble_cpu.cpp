#include <algorithm>
#include <utility>

#include "cpu/cpu_backend.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/beamform_ensemble.hpp"

namespace echoform {
namespace {

void copy_image_rows_cpu(const ImageRows& rows, ExecutionQueue& queue) noexcept {
  team_of(queue).for_each(rows.count, 64, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    for (std::size_t row = first; row < last; ++row) {
      std::copy_n(rows.from + row * rows.columns, rows.columns, rows.to + row * rows.distance);
    }
  });
}

}  // namespace

std::unique_ptr<Stage> make_beamform_ensemble_cpu(BeamformEnsembleOptions options, Backend& backend) {
  return make_beamform_ensemble(
      std::move(options), backend,
      {[&backend](const BeamformOptions& image) { return make_beamform_cpu(image, backend); }, &copy_image_rows_cpu});
}

}  // namespace echoform
