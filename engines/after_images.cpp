#include "engines/after_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "engines/runner.hpp"

namespace echoform {
namespace {

constexpr std::size_t none = SIZE_MAX;

/// A placeholder for an image that exists already.
struct GivenImage {
  std::size_t number = 0;
  BlockSpec block;

  [[nodiscard]] friend bool operator==(const GivenImage&, const GivenImage&) = default;
};

class GivenImageStage final : public Stage {
 public:
  explicit GivenImageStage(GivenImage image) : image_(image) {}
  [[nodiscard]] BlockSpec prepare(const InputSpecs& /*inputs*/) override { return image_.block; }
  void process(const InputBlocks& /*inputs*/, Block /*output*/, ExecutionQueue& /*queue*/) noexcept override {}

 private:
  GivenImage image_;
};

constexpr StageKind given_image_stage{
    .name = "given-image",
    .cpu = [](const StageOptions& options, Backend& /*backend*/) -> std::unique_ptr<Stage> {
      return std::make_unique<GivenImageStage>(options.as<GivenImage>());
    },
};

const RecipeOutput& envelope_of(const Recipe& recipe, std::string_view view) {
  return recipe.outputs[recipe.find(view, OutputKind::envelope).value()];
}

/// For each block of a recipe, the number of the image in it. Views may share an envelope; that of `view` is its own.
std::vector<std::size_t> images_by_block(const Recipe& recipe, const std::vector<std::string>& given, std::string_view view) {
  std::vector<std::size_t> images(recipe.steps.size() + 1, none);
  for (std::size_t k = 0; k < given.size(); ++k) {
    std::size_t& image = images[envelope_of(recipe, given[k]).block];
    if (image == none || given[k] == view) image = k;
  }
  return images;
}

}  // namespace

AfterImages after_images(const Recipe& recipe, const std::vector<std::string>& given, std::string_view view, bool displays) {
  const std::vector<std::size_t> image = images_by_block(recipe, given, view);
  const bool is_given = std::ranges::find(given, view) != given.end();
  AfterImages after;
  std::vector<bool> needed(recipe.steps.size() + 1, false);
  for (std::size_t k = 0; k < recipe.outputs.size(); ++k) {
    const OutputDescription& output = recipe.outputs[k].description;
    const bool made = output.kind == OutputKind::display ? displays : output.kind == OutputKind::envelope && !is_given;
    if (output.view != view || !made) continue;
    after.outputs.push_back(k);
    needed[recipe.outputs[k].block] = true;
  }
  std::vector<std::size_t> renamed(recipe.steps.size() + 1, none);
  // Steps use only blocks of earlier steps.
  for (std::size_t block = recipe.steps.size(); block > 0; --block) {
    if (!needed[block]) continue;
    if (image[block] == none) {
      for (const std::size_t input : recipe.steps[block - 1].inputs) needed[input] = true;
      continue;
    }
    const OutputDescription& output = envelope_of(recipe, given[image[block]]).description;
    after.recipe.steps.push_back(
        {&given_image_stage, GivenImage{image[block], image_block(ElementType::float32, output.grid)}, {0}});
    renamed[block] = after.recipe.steps.size();
    after.recipe.outputs.push_back({output, renamed[block], 0});
    after.images.push_back(image[block]);
  }
  if (needed[0]) {
    throw std::logic_error(
        fmt::format("image {}: found stages that take more than envelopes; expected stages of the images that are there", view));
  }
  for (std::size_t block = 1; block <= recipe.steps.size(); ++block) {
    if (!needed[block] || renamed[block] != none) continue;
    Step step = recipe.steps[block - 1];
    for (std::size_t& input : step.inputs) input = renamed[input];
    after.recipe.steps.push_back(std::move(step));
    renamed[block] = after.recipe.steps.size();
  }
  for (const std::size_t k : after.outputs) {
    RecipeOutput output = recipe.outputs[k];
    output.block = renamed[output.block];
    // If the step that gives its reference is not part of these steps, there is no reference.
    output.reference_block = renamed[output.reference_block] == none ? 0 : renamed[output.reference_block];
    after.recipe.outputs.push_back(std::move(output));
  }
  return after;
}

}  // namespace echoform
