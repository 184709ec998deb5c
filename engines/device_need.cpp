#include "engines/device_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "engines/chain.hpp"
#include "methods/tfm/stage_options.hpp"
#include "pipeline/raw_samples.hpp"
#include "stages/beamform/tile_plan.hpp"
#include "stages/block_checks.hpp"

namespace echoform {

DeviceNeed estimate_device_need(const ImagingSetup& setup, const EngineOptions& options) {
  const ImagingPlan& plan = *setup.plan;
  const bool keep_complex = wants(setup, OutputKind::complex_image);
  const bool display = wants(setup, OutputKind::display);
  const Acquisition& acquisition = plan.acquisition;
  const std::size_t samples = plan.imaged_samples().count;
  const std::size_t rows = combined_rows(acquisition, reciprocal(plan)).rows;
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
  const bool half = analytic_signal_options(plan).half;
  for (std::size_t view = 0; view < views; ++view) {
    // A view that has the images of another has no tables of its own.
    if (first_alike(plan, view) == view) need.tables += beamform::tile_table_bytes(beamform_options(plan, view), half);
  }
  if (!keep_complex) need.images = views * pixels * 8;
  need.images_of_slot = views * (pixels * sizeof(float) + (display ? shown : 0) + (keep_complex ? pixels * 8 : 0));
  return need;
}

std::size_t first_alike(const ImagingPlan& plan, std::size_t view) {
  if (!plan.apodization.symmetric() || !combined_rows(plan.acquisition, false).any_reversed()) return view;
  for (std::size_t other = 0; other < view; ++other) {
    if (mirrored(plan.laws[other], plan.laws[view])) return other;
  }
  return view;
}

void require_device_room(const ImagingSetup& setup, const EngineOptions& options, int device, const DeviceMemory& memory) {
  const ImagingPlan& plan = *setup.plan;
  const DeviceNeed need = estimate_device_need(setup, options);
  if (need.bytes() <= memory.free) return;
  const auto gigabytes = [](std::size_t bytes) { return 1e-9 * static_cast<double>(bytes); };
  const std::size_t views = plan.laws.size();
  throw InputError(
      "[grid] pixels",
      fmt::format("{} x {} pixels and {} view{}, which need at least {:.2f} GB of GPU {} beside what is in use",
                  plan.grid.x.count, plan.grid.z.count, views, views == 1 ? "" : "s", gigabytes(need.bytes()), device),
      fmt::format("what fits into the {:.2f} GB that are free: {}", gigabytes(memory.free), what_would_fit(need, memory.free)));
}

std::string what_would_fit(const DeviceNeed& need, std::size_t free) {
  std::string advice;
  const std::size_t of_slot = need.raw_of_slot + need.images_of_slot;
  const std::size_t shared = need.fixed + need.tables + need.images;
  if (shared + of_slot <= free) {
    const std::size_t slots = (free - shared) / of_slot;
    advice = fmt::format("{} slot{}", slots, slots == 1 ? "" : "s");
  }
  const std::size_t kept = need.fixed + need.slots * need.raw_of_slot;
  const std::size_t images = need.tables + need.images + need.slots * need.images_of_slot;
  if (kept < free && images > 0) {
    // Images and tables grow with the square of the grid's sides.
    const double side = std::sqrt(std::min(1.0, static_cast<double>(free - kept) / static_cast<double>(images)));
    const auto columns = static_cast<std::size_t>(side * static_cast<double>(need.columns));
    const auto rows = static_cast<std::size_t>(side * static_cast<double>(need.rows));
    if (columns > 0 && rows > 0) advice += fmt::format("{}{} x {} pixels", advice.empty() ? "" : ", or ", columns, rows);
  }
  return advice.empty() ? "fewer samples or elements" : advice;
}

}  // namespace echoform
