#include "engines/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/planning.hpp"

namespace echoform {

BlockSpec image_block(ElementType type, const Grid& grid) {
  BlockSpec spec;
  spec.type = type;
  spec.rows = grid.z.count * grid.y.count;
  spec.columns = grid.x.count;
  spec.row_stride = grid.x.count;
  spec.sub_blocks = grid.y.count;
  return spec;
}

Runner::Runner(Recipe recipe, const BlockSpec& samples, Backend& backend) : recipe_(std::move(recipe)), backend_(backend) {
  specs_.push_back(samples);
  std::size_t most_inputs = 0;
  std::vector<BlockSpec> inputs;
  for (const Step& step : recipe_.steps) {
    keep_planning();
    inputs.clear();
    for (const std::size_t block : step.inputs) inputs.push_back(specs_.at(block));
    most_inputs = std::max(most_inputs, inputs.size());
    PreparedStep prepared;
    prepared.stage = make_stage(*step.stage, step.options, backend_);
    specs_.push_back(prepared.stage->prepare(InputSpecs(inputs)));
    bytes_ += prepared.stage->bytes();
    steps_.push_back(std::move(prepared));
  }
  for (const RecipeOutput& output : recipe_.outputs) {
    const BlockSpec& block = specs_.at(output.block);
    // Readers of an image take its pixels one after the other.
    if (block.bytes() >= output.description.bytes() && block.lead == 0 && stride_of(block) == block.columns) continue;
    throw std::logic_error(fmt::format(
        "stage {}: found {} rows of {} columns, {} apart, as the image {}; expected the pixels of its grid, "
        "rows without gaps",
        recipe_.steps.at(output.block - 1).stage->name, block.rows, block.columns, stride_of(block), output.description.view));
  }
  inputs_.reserve(most_inputs);
  result_.assign(specs_.size(), false);
  for (const RecipeOutput& output : recipe_.outputs) result_.at(output.block) = true;
  places_.assign(specs_.size(), nullptr);
  references_.assign(recipe_.outputs.size(), {});
  while (quality_step_ < steps_.size() && !steps_[quality_step_].stage->facts().quality) ++quality_step_;
}

void Runner::allocate_blocks() {
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const std::size_t block = step + 1;
    if (result_[block]) continue;
    steps_[step].block = backend_.allocate(specs_[block].bytes(), MemoryUse::working);
    bytes_ += steps_[step].block.size();
    places_[block] = steps_[step].block.data();
  }
}

void Runner::process(std::size_t step, std::span<void* const> places, ExecutionQueue& queue) noexcept {
  inputs_.clear();
  for (const std::size_t block : recipe_.steps[step].inputs) inputs_.push_back({places[block]});
  steps_[step].stage->process(InputBlocks(inputs_), {places[step + 1]}, queue);
}

bool Runner::retune(const Recipe& wanted, ExecutionQueue& queue) {
  if (wanted.steps.size() != recipe_.steps.size() || wanted.outputs != recipe_.outputs) return false;
  const auto changes = [&](std::size_t step) { return !(wanted.steps[step].options == recipe_.steps[step].options); };
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    if (wanted.steps[step].stage != recipe_.steps[step].stage || wanted.steps[step].inputs != recipe_.steps[step].inputs)
      return false;
    if (changes(step) && !steps_[step].stage->accepts(wanted.steps[step].options)) return false;
  }
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    if (!changes(step)) continue;
    steps_[step].stage->retune(wanted.steps[step].options, queue);
    recipe_.steps[step].options = wanted.steps[step].options;
  }
  return true;
}

Stage* Runner::reference_stage(std::size_t output) const noexcept {
  if (output >= recipe_.outputs.size() || recipe_.outputs[output].reference_block == 0) return nullptr;
  return steps_[recipe_.outputs[output].reference_block - 1].stage.get();
}

void Runner::note_facts(FrameSlot& slot) noexcept {
  SampleQuality quality;
  if (quality_step_ < steps_.size()) quality = steps_[quality_step_].stage->facts().quality.value_or(quality);
  note_references();
  note_facts(slot, quality, references_);
}

void Runner::note_references() noexcept {
  for (std::size_t k = 0; k < references_.size(); ++k) {
    if (const Stage* const stage = reference_stage(k)) references_[k] = stage->facts().reference.value_or(ShownReference{});
  }
}

void Runner::note_facts(FrameSlot& slot, const SampleQuality& quality, std::span<const ShownReference> references) noexcept {
  slot.clipped_samples = quality.clipped;
  slot.invalid_samples = quality.invalid;
  for (std::size_t k = 0; k < references_.size(); ++k) {
    if (reference_stage(k) == nullptr) continue;
    references_[k] = references[k];
    slot.outputs[k].reference = references[k].shown;
  }
}

float Runner::reference(std::size_t output) const noexcept {
  return output < references_.size() ? references_[output].known : 0.0F;
}

void Runner::resume(std::size_t output, float reference) noexcept {
  Stage* const stage = reference_stage(output);
  if (stage == nullptr || !(reference > 0.0F)) return;
  stage->resume({.quality = {}, .reference = ShownReference{reference, reference}});
}

}  // namespace echoform
