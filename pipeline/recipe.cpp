#include "pipeline/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"

namespace echoform {

std::size_t OutputDescription::bytes() const {
  switch (kind) {
    case OutputKind::complex_image:
      return grid.pixels() * 2 * sizeof(float);
    case OutputKind::envelope:
      return grid.pixels() * sizeof(float);
    case OutputKind::display:
      break;
  }
  return grid.pixels();
}

std::size_t Recipe::add(const StageKind& stage, StageOptions options, std::vector<std::size_t> inputs) {
  Step step{&stage, std::move(options), std::move(inputs)};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] == step) return k + 1;
  }
  steps.push_back(std::move(step));
  return steps.size();
}

std::optional<std::size_t> Recipe::find(std::string_view view, OutputKind kind) const {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const OutputDescription& description = outputs[k].description;
    if (description.kind == kind && description.view == view) return k;
  }
  return std::nullopt;
}

void validate(const Recipe& recipe, std::string_view where) {
  const auto require_block = [&](std::size_t block, std::size_t first, std::size_t last, std::string_view what) {
    if (block >= first && block <= last) return;
    throw InputError(fmt::format("{} recipe, {}", where, what), fmt::format("block {}", block),
                     fmt::format("{} to {}", first, last));
  };
  for (std::size_t step = 0; step < recipe.steps.size(); ++step) {
    if (recipe.steps[step].stage == nullptr || recipe.steps[step].inputs.empty()) {
      throw InputError(fmt::format("{} recipe, step {}", where, step), "no stage, or no input", "a stage and its inputs");
    }
    for (const std::size_t block : recipe.steps[step].inputs) require_block(block, 0, step, "input of a step");
  }
  if (recipe.outputs.empty()) throw InputError(fmt::format("{} recipe, outputs", where), "none", "at least one");
  for (const RecipeOutput& output : recipe.outputs) {
    require_block(output.block, 1, recipe.steps.size(), "output");
    require_block(output.reference_block, 0, recipe.steps.size(), "reference of an output");
  }
}

std::vector<std::string_view> Recipe::views() const {
  std::vector<std::string_view> names;
  for (const RecipeOutput& output : outputs) {
    if (std::find(names.begin(), names.end(), output.description.view) == names.end()) names.push_back(output.description.view);
  }
  return names;
}

}  // namespace echoform
