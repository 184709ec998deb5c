#include "engines/cpu_engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "cpu/thread_team.hpp"
#include "engines/runner.hpp"
#include "engines/stage_timing.hpp"
#include "pipeline/raw_samples.hpp"

namespace echoform {
namespace {

class CpuEngine final : public Engine {
 public:
  CpuEngine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::function<void()> beside)
      : setup_(std::move(setup)),
        backend_(make_cpu_backend(choice.threads, choice.pin)),
        queue_(backend_->make_queue()),
        // Rows are the gate's columns of the rows in the slot.
        samples_(gated(raw_block(setup_->acquisition), setup_->gate)),
        runner_(setup_->recipe, samples_.spec, *backend_) {
    team_of(*queue_).set_beside(std::move(beside));
    runner_.allocate_blocks();
    places_ = runner_.places();
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override {
    const std::size_t threads = team_size(*backend_);
    return fmt::format("cpu, {}, {} thread{}", to_string(simd_level()), threads, threads == 1 ? "" : "s");
  }

  void equip(FrameSlot& slot) override {
    slot.samples = backend_->allocate(setup_->acquisition.frame_bytes(), MemoryUse::staging);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    slot.outputs.clear();
    for (const RecipeOutput& output : outputs()) {
      slot.outputs.push_back({backend_->allocate(runner_.spec(output.block).bytes(), MemoryUse::readback)});
    }
    slot.timings.reserve(runner_.steps());
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    places_[0] = slot.samples.bytes_begin() + samples_.first_byte;
    // If several outputs share a block, the first is written and the others are copies.
    for (std::size_t k = outputs().size(); k-- > 0;) places_[outputs()[k].block] = slot.outputs[k].data.data();
    slot.timings.clear();
    runner_.run(places_, *queue_, [&](std::size_t step, const auto& work) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      add_timing(slot, runner_.name(step), std::chrono::steady_clock::now() - begin);
    });
    for (std::size_t k = 0; k < outputs().size(); ++k) {
      SlotOutput& output = slot.outputs[k];
      const void* const made = places_[outputs()[k].block];
      if (made != output.data.data()) std::memcpy(output.data.data(), made, output.data.size());
    }
    runner_.note_facts(slot);
    done(slot, true);
  }

  [[nodiscard]] float reference(std::size_t output) const noexcept override { return runner_.reference(output); }
  void resume(std::size_t output, float known) noexcept override { runner_.resume(output, known); }
  [[nodiscard]] bool retune(const ImagingSetup& wanted) override {
    return same_frames(*setup_, wanted) && runner_.retune(wanted.recipe, *queue_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return runner_.bytes(); }

 private:
  [[nodiscard]] const std::vector<RecipeOutput>& outputs() const noexcept { return setup_->recipe.outputs; }

  const std::shared_ptr<const ImagingSetup> setup_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
  const GatedSamples samples_;
  Runner runner_;
  std::vector<void*> places_;  // [block], for the current frame
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                        const EngineOptions& /*options*/) {
  return make_cpu_engine(std::move(setup), choice, std::function<void()>());
}

std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                        std::function<void()> beside) {
  validate(*setup, "imaging setup");
  return std::make_unique<CpuEngine>(std::move(setup), choice, std::move(beside));
}

}  // namespace echoform
