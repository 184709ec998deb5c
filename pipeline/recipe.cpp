#include "pipeline/recipe.hpp"

#include <algorithm>
#include <utility>

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

std::vector<std::string_view> Recipe::views() const {
  std::vector<std::string_view> names;
  for (const RecipeOutput& output : outputs) {
    if (std::find(names.begin(), names.end(), output.description.view) == names.end()) names.push_back(output.description.view);
  }
  return names;
}

}  // namespace echoform
