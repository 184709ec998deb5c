#include "pipeline/recipe.hpp"

#include <utility>

namespace echoform {

std::size_t Recipe::add(const StageKind& stage, StageOptions options, std::vector<std::size_t> inputs) {
  Step step{&stage, std::move(options), std::move(inputs)};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] == step) return k + 1;
  }
  steps.push_back(std::move(step));
  return steps.size();
}

}  // namespace echoform
