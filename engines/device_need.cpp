#include "engines/device_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/errors.hpp"
#include "pipeline/raw_samples.hpp"
#include "pipeline/recipe_memory.hpp"

namespace echoform {

DeviceNeed DeviceNeed::with_stages(std::size_t bytes) const {
  DeviceNeed need = *this;
  need.stages = bytes;
  // Most of the difference to the stated bytes is tables.
  if (bytes > stages) need.pixels += bytes - stages;
  return need;
}

DeviceNeed device_need(const ImagingSetup& setup, const EngineOptions& options) {
  const DeviceRows rows = device_rows(raw_block(setup.acquisition), setup.gate);
  const RecipeMemory memory = recipe_memory(setup.recipe, rows.spec, setup.acquisition.frame_bytes(), {BackendKind::cuda});
  DeviceNeed need;
  need.stages = memory.device_stages;
  need.blocks = memory.device_blocks;
  need.of_slot = memory.device_of_slot;
  need.pixels = memory.pixels_shared;
  need.pixels_of_slot = memory.pixels_of_slot;
  need.slots = std::max<std::size_t>(1, options.slots);
  if (!setup.recipe.outputs.empty()) {
    const Grid& grid = setup.recipe.outputs.front().description.grid;
    need.columns = grid.x.count;
    need.rows = grid.z.count * grid.y.count;
  }
  return need;
}

void require_device_room(const ImagingSetup& setup, const EngineOptions& options, int device, const DeviceMemory& memory) {
  const DeviceNeed need = device_need(setup, options);
  if (need.bytes() <= memory.free) return;
  const auto gigabytes = [](std::size_t bytes) { return 1e-9 * static_cast<double>(bytes); };
  std::set<std::string_view> views;
  for (const RecipeOutput& output : setup.recipe.outputs) views.insert(output.description.view);
  throw InputError(
      "[grid] pixels",
      fmt::format("{} x {} pixels and {} view{}, which need at least {:.2f} GB of GPU {} beside what is in use", need.columns,
                  need.rows, views.size(), views.size() == 1 ? "" : "s", gigabytes(need.bytes()), device),
      fmt::format("what fits into the {:.2f} GB that are free: {}", gigabytes(memory.free), what_would_fit(need, memory.free)));
}

std::string what_would_fit(const DeviceNeed& need, std::size_t free) {
  std::string advice;
  const std::size_t shared = need.stages + need.blocks;
  if (shared + need.of_slot <= free) {
    const std::size_t slots = (free - shared) / need.of_slot;
    advice = fmt::format("{} slot{}", slots, slots == 1 ? "" : "s");
  }
  const std::size_t images = std::min(need.bytes(), need.pixels + need.slots * need.pixels_of_slot);
  const std::size_t kept = need.bytes() - images;
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
