#include "engines/device_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stages/block_checks.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/unpack/raw_samples.hpp"

namespace echoform {

DeviceNeed estimate_device_need(const ImagingPlan& plan, const EngineOptions& options) {
  const Acquisition& acquisition = plan.acquisition;
  const std::size_t samples = plan.imaged_samples().count;
  const std::size_t elements = acquisition.elements();
  const std::size_t rows = reduced_matrix(acquisition.matrix, plan.reciprocal()) == MatrixKind::full
                               ? elements * elements
                               : elements * (elements + 1) / 2;
  const std::size_t pixels = plan.grid.pixels();
  const std::size_t shown = plan.display_grid ? plan.display_grid->pixels() : pixels;
  const std::size_t views = plan.laws.size();
  DeviceNeed need;
  need.slots = std::max<std::size_t>(1, options.slots);
  need.columns = plan.grid.x.count;
  need.rows = plan.grid.z.count * plan.grid.y.count;
  // float32 rows and their analytic signal.
  need.fixed = rows * padded_columns(samples) * (sizeof(float) + 8);
  need.raw_of_slot = acquisition.a_scans() * device_row_pitch(raw_bytes(raw_element_type(acquisition.encoding), samples));
  if (!options.keep_analytic) need.images = views * pixels * 8;
  need.images_of_slot =
      views * (pixels * sizeof(float) + (options.display ? shown : 0) + (options.keep_analytic ? pixels * 8 : 0));
  return need;
}

std::string what_would_fit(const DeviceNeed& need, std::size_t free) {
  std::string advice;
  const std::size_t of_slot = need.raw_of_slot + need.images_of_slot;
  if (need.fixed + need.images + of_slot <= free) {
    const std::size_t slots = (free - need.fixed - need.images) / of_slot;
    advice = fmt::format("{} slot{}", slots, slots == 1 ? "" : "s");
  }
  const std::size_t kept = need.fixed + need.slots * need.raw_of_slot;
  const std::size_t images = need.images + need.slots * need.images_of_slot;
  if (kept < free && images > 0) {
    // Images grow with the square of the grid's sides.
    const double side = std::sqrt(std::min(1.0, static_cast<double>(free - kept) / static_cast<double>(images)));
    const auto columns = static_cast<std::size_t>(side * static_cast<double>(need.columns));
    const auto rows = static_cast<std::size_t>(side * static_cast<double>(need.rows));
    if (columns > 0 && rows > 0) advice += fmt::format("{}{} x {} pixels", advice.empty() ? "" : ", or ", columns, rows);
  }
  return advice.empty() ? "fewer samples or elements" : advice;
}

}  // namespace echoform
