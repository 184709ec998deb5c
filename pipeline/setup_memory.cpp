#include "pipeline/setup_memory.hpp"

#include "pipeline/raw_samples.hpp"
#include "pipeline/recipe_memory.hpp"

namespace echoform {

std::size_t host_memory(const ImagingSetup& setup, std::size_t slots, const StageSite& site) {
  const BlockSpec raw = raw_block(setup.acquisition);
  const BlockSpec samples = site.backend == BackendKind::cuda ? device_rows(raw, setup.gate).spec : gated(raw, setup.gate).spec;
  return setup.tables_bytes + recipe_memory(setup.recipe, samples, setup.acquisition.frame_bytes(), site).host(slots);
}

std::size_t grouped_memory(const ImagingSetup& setup, std::size_t read_ahead, std::size_t threads) {
  const auto group = setup.groups->setup(0);
  std::size_t bytes = host_memory(*group, 1, {BackendKind::cpu, threads});
  for (const RecipeOutput& output : group->recipe.outputs) bytes += output.description.grid.pixels() * bytes_of_summed_pixel;
  return bytes + (read_ahead - 1) * group->acquisition.frame_bytes();
}

}  // namespace echoform
