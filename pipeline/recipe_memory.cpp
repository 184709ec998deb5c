#include "pipeline/recipe_memory.hpp"

#include <vector>

namespace echoform {

RecipeMemory recipe_memory(const Recipe& recipe, const BlockSpec& samples, std::size_t frame_bytes, const StageSite& site) {
  const bool on_device = site.backend == BackendKind::cuda;
  RecipeMemory memory;
  memory.host_of_slot = frame_bytes;
  if (on_device) memory.device_of_slot = samples.bytes();

  std::vector<BlockSpec> specs{samples};
  std::vector<BlockSpec> inputs;
  for (const Step& step : recipe.steps) {
    inputs.clear();
    for (const std::size_t block : step.inputs) inputs.push_back(specs.at(block));
    const StageStatement statement = step.stage->state(step.options, InputSpecs(inputs), site);
    memory.host_shared += statement.memory.host;
    memory.device_stages += statement.memory.device;
    memory.pixels_shared += statement.memory.of_pixels;
    specs.push_back(statement.output);
  }

  std::vector<bool> result(specs.size(), false);
  for (const RecipeOutput& output : recipe.outputs) {
    const std::size_t bytes = specs.at(output.block).bytes();
    memory.host_of_slot += bytes;
    if (!on_device || result[output.block]) continue;
    memory.device_of_slot += bytes;
    memory.pixels_of_slot += bytes;
    result[output.block] = true;
  }
  for (const RecipeOutput& output : recipe.outputs) result[output.block] = true;
  const auto is_image = [&](const BlockSpec& spec) {
    for (const RecipeOutput& output : recipe.outputs) {
      const Grid& grid = output.description.grid;
      if (spec.rows == grid.z.count * grid.y.count && spec.columns == grid.x.count) return true;
    }
    return false;
  };
  for (std::size_t block = 1; block < specs.size(); ++block) {
    if (result[block]) continue;
    (on_device ? memory.device_blocks : memory.host_shared) += specs[block].bytes();
    if (is_image(specs[block])) memory.pixels_shared += specs[block].bytes();
  }
  return memory;
}

}  // namespace echoform
