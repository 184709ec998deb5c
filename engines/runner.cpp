#include "engines/runner.hpp"

#include <algorithm>

#include "base/planning.hpp"

namespace echoform {

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
  inputs_.reserve(most_inputs);
  result_.assign(specs_.size(), false);
  for (const RecipeOutput& output : recipe_.outputs) result_.at(output.block) = true;
  places_.assign(specs_.size(), nullptr);
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

}  // namespace echoform
