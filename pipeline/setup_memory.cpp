#include "pipeline/setup_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "acquisition/frame_layout.hpp"

#include "pipeline/raw_samples.hpp"
#include "pipeline/recipe_memory.hpp"

namespace echoform {
namespace {

/// The first group of each position of the probe: a group belongs to one position, and the groups of a position can take each
/// other's options.
std::vector<std::size_t> first_groups(const ImagingSetup& setup) {
  if (setup.acquisition.positions.size() < 2) return {0};
  const std::vector<EventReceiver> rows = FrameLayout(setup.acquisition).pairs();
  std::vector<std::size_t> first;
  std::vector<bool> met(setup.acquisition.positions.size());
  for (std::size_t group = 0; group < setup.groups->count(); ++group) {
    const std::uint32_t event = rows[setup.groups->rows(group).front().first].event;
    const std::uint32_t position = setup.acquisition.events[event].position;
    if (!met[position]) first.push_back(group);
    met[position] = true;
  }
  return first;
}

}  // namespace

std::size_t host_memory(const ImagingSetup& setup, std::size_t slots, const StageSite& site) {
  const BlockSpec raw = raw_block(setup.acquisition);
  const BlockSpec samples = site.backend == BackendKind::cuda ? device_rows(raw, setup.gate).spec : gated(raw, setup.gate).spec;
  return setup.tables_bytes + recipe_memory(setup.recipe, samples, setup.acquisition.frame_bytes(), site).host(slots);
}

std::size_t grouped_memory(const ImagingSetup& setup, std::size_t read_ahead, const StageSite& site) {
  const auto group = setup.groups->setup(0);
  std::size_t bytes = 0;
  for (const std::size_t first : first_groups(setup)) {
    bytes = std::max(bytes, host_memory(*setup.groups->setup(first), 1, site));
  }
  const std::size_t of_pixel = bytes_of_summed_image + (site.backend == BackendKind::cuda ? 0 : bytes_of_summed_pixel);
  for (const RecipeOutput& output : group->recipe.outputs) bytes += output.description.grid.pixels() * of_pixel;
  for (const RecipeOutput& output : setup.recipe.outputs) {
    const bool summed = group->recipe.find(output.description.view, OutputKind::complex_image).has_value();
    if (output.description.kind == OutputKind::envelope && !summed) bytes += output.description.bytes();
  }
  return bytes + (read_ahead - 1) * group->acquisition.frame_bytes();
}

}  // namespace echoform
