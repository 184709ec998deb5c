// Executes a recipe on a backend: prepares its steps, takes the memory between them, queues a frame, and notes what its
// stages found out.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/recipe.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// The block of an image on that grid: its pixels, rows without gaps and nothing before them.
[[nodiscard]] BlockSpec image_block(ElementType type, const Grid& grid);

class Runner {
 public:
  /// Makes and prepares every step for received samples that lie as `samples` says. The backend outlives the runner. Throws
  /// InputError or RuntimeFault as stages do, PlanningEnded between two steps.
  Runner(Recipe recipe, const BlockSpec& samples, Backend& backend);

  /// Takes the memory of blocks that are no output of the recipe: one set, since frames are computed one after the other.
  void allocate_blocks();
  /// Bytes that stages and blocks hold up to now.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] const Recipe& recipe() const noexcept { return recipe_; }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_.size(); }
  [[nodiscard]] std::string_view name(std::size_t step) const noexcept { return recipe_.steps[step].stage->name; }
  [[nodiscard]] Stage& stage(std::size_t step) const noexcept { return *steps_[step].stage; }
  /// Description of a block; 0 is that of the samples.
  [[nodiscard]] const BlockSpec& spec(std::size_t block) const noexcept { return specs_[block]; }
  /// Whether a block is an output of the recipe, whose memory belongs to the frame.
  [[nodiscard]] bool is_result(std::size_t block) const noexcept { return result_[block]; }

  /// The address of each block of a frame: set for blocks of the runner, null for blocks of the frame.
  [[nodiscard]] const std::vector<void*>& places() const noexcept { return places_; }

  /// Queues a frame whose blocks lie at `places`; `around(step, work)` is called for every step in order and calls work().
  /// Never allocates. One caller at a time.
  template <class Around>
  void run(std::span<void* const> places, ExecutionQueue& queue, const Around& around) noexcept {
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      around(step, [&]() noexcept { process(step, places, queue); });
    }
  }

  /// Steps in which `wanted` differs take their new options, for frames queued from now on. False, and nothing changed, unless it
  /// differs in options alone and every such stage accepts them. Throws InputError, and nothing changed, if an option is out of
  /// its range.
  [[nodiscard]] bool retune(const Recipe& wanted, ExecutionQueue& queue);

  /// Frames queued from now on know nothing of those before (Stage::restart()).
  void restart(ExecutionQueue& queue) noexcept {
    for (const PreparedStep& step : steps_) step.stage->restart(queue);
  }

  /// The first step that reports the quality of samples, or steps() where none does.
  [[nodiscard]] std::size_t quality_step() const noexcept { return quality_step_; }
  /// The stage that reports the value shown as 0 dB in an output of the recipe; null where none does.
  [[nodiscard]] Stage* reference_stage(std::size_t output) const noexcept;

  /// Called when a frame is finished: writes what the stages found out about it into its slot, and updates reference().
  /// Reads the facts from the stages themselves.
  void note_facts(FrameSlot& slot) noexcept;
  /// The same from copies of the facts to which device_facts() points; `references` has one value an output.
  void note_facts(FrameSlot& slot, const SampleQuality& quality, std::span<const ShownReference> references) noexcept;

  /// Called when a frame is finished whose slot belongs to another recipe: updates reference().
  void note_references() noexcept;

  /// As in Engine.
  [[nodiscard]] float reference(std::size_t output) const noexcept;
  void resume(std::size_t output, float reference) noexcept;

 private:
  struct PreparedStep {
    std::unique_ptr<Stage> stage;
    Buffer block;  // unless it is a result
  };
  void process(std::size_t step, std::span<void* const> places, ExecutionQueue& queue) noexcept;

  Recipe recipe_;
  Backend& backend_;
  std::vector<PreparedStep> steps_;
  std::vector<BlockSpec> specs_;    // by block
  std::vector<bool> result_;        // by block
  std::vector<void*> places_;       // by block
  std::vector<ConstBlock> inputs_;  // of the step that is being queued
  std::size_t quality_step_ = 0;
  std::vector<ShownReference> references_;  // by output, of the frame finished last
  std::size_t bytes_ = 0;
};

}  // namespace echoform
