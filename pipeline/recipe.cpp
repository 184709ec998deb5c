#include "pipeline/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
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

std::vector<std::string_view> views_of_their_own(const Recipe& recipe) {
  // [block], whether it is the envelope of a view.
  std::vector<bool> envelope(recipe.steps.size() + 1, false);
  for (const RecipeOutput& output : recipe.outputs) {
    if (output.description.kind == OutputKind::envelope) envelope[output.block] = true;
  }
  std::vector<bool> of_others(recipe.steps.size() + 1, false);
  for (std::size_t block = 1; block < of_others.size(); ++block) {
    of_others[block] = std::ranges::all_of(recipe.steps[block - 1].inputs,
                                           [&](std::size_t input) { return envelope[input] || of_others[input]; });
  }
  std::vector<std::string_view> views = recipe.views();
  std::erase_if(views, [&](std::string_view view) {
    const auto output = recipe.find(view, OutputKind::envelope);
    return !output || of_others[recipe.outputs[*output].block];
  });
  return views;
}

void add_image_like(Recipe& recipe, std::string_view model, std::string view, std::size_t envelope) {
  const auto like = recipe.find(model, OutputKind::envelope);
  if (!like) throw std::logic_error(fmt::format("found no envelope of {}; expected one to add an image like", model));
  // [block of the model], its counterpart; 0 where there is none.
  std::vector<std::size_t> other(recipe.steps.size() + 1, 0);
  const std::size_t from = recipe.outputs[*like].block;
  other[from] = envelope;
  const auto counterpart = [&](const auto& self, std::size_t block) -> std::size_t {
    if (block <= from || other[block] != 0) return block == 0 ? 0 : other[block];
    Step step = recipe.steps[block - 1];
    bool follows = false;
    for (std::size_t& input : step.inputs) {
      const std::size_t mapped = self(self, input);
      if (mapped == 0) continue;
      input = mapped;
      follows = true;
    }
    return follows ? other[block] = recipe.add(*step.stage, std::move(step.options), std::move(step.inputs)) : 0;
  };
  const std::vector<RecipeOutput> before = recipe.outputs;
  for (const RecipeOutput& output : before) {
    if (output.description.view != model) continue;
    const std::size_t block = counterpart(counterpart, output.block);
    if (block == 0) continue;  // a block before the envelope
    const std::size_t reference = counterpart(counterpart, output.reference_block);
    OutputDescription description = output.description;
    description.view = view;
    recipe.outputs.push_back({std::move(description), block, reference});
  }
}

namespace {

/// Streams and files are named by it, and ".display" may follow the name of a stream.
bool is_image_name(std::string_view name) {
  const auto digit = [&](std::size_t place) {
    return place < name.size() && std::isdigit(static_cast<unsigned char>(name[place])) != 0;
  };
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    const bool between_digits = c == '.' && k > 0 && digit(k - 1) && digit(k + 1);
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && !between_digits) return false;
  }
  return !name.empty();
}

}  // namespace

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
    const OutputDescription& image = output.description;
    const auto alike = [&](const RecipeOutput& other) {
      return other.description.view == image.view && other.description.kind == image.kind;
    };
    if (std::count_if(recipe.outputs.begin(), recipe.outputs.end(), alike) > 1) {
      throw InputError(fmt::format("{} recipe, outputs", where), fmt::format("two images of one kind called \"{}\"", image.view),
                       "a name of its own for each");
    }
    if (!is_image_name(image.view)) {
      throw InputError(fmt::format("{} recipe, outputs", where), fmt::format("an image called \"{}\"", image.view),
                       "letters, digits, - and _, and points between digits");
    }
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
