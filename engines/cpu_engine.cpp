#include "engines/cpu_engine.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cpu/cpu_backend.hpp"
#include "engines/chain.hpp"
#include "pipeline/raw_samples.hpp"
#include "stages/compression/compression.hpp"

namespace echoform {
namespace {

class CpuEngine final : public Engine {
 public:
  CpuEngine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice)
      : setup_(std::move(setup)),
        plan_(checked_plan(*setup_)),
        outputs_(outputs_by_view(*setup_)),
        backend_(make_cpu_backend(choice.threads, choice.pin)),
        queue_(backend_->make_queue()) {
    // With a gate, rows are the gate's columns of the rows in the slot.
    BlockSpec samples = raw_block(plan_->acquisition);
    const SampleGate gate = plan_->imaged_samples();
    samples.columns = gate.count;
    first_byte_ = raw_bytes(samples.type, gate.first);
    half_matrix_ = add_step("pairing", 0, samples, true);
    analytic_signal_ = add_step("analytic-signal", 0, half_matrix_.output, true);
    for (std::size_t view = 0; view < plan_->laws.size(); ++view) {
      ViewChain chain;
      chain.beamform = add_step("beamform", view, analytic_signal_.output, !outputs_[view].complex_image);
      chain.envelope = add_step("envelope", view, chain.beamform.output, !outputs_[view].envelope);
      if (outputs_[view].display) {
        chain.compression = add_step("compression", view, chain.envelope.output, plan_->display_grid.has_value());
        if (plan_->display_grid) chain.scan_conversion = add_step("scan-conversion", view, chain.compression.output, false);
      }
      views_.push_back(std::move(chain));
    }
    references_.assign(views_.size(), 0.0F);
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override {
    const std::size_t threads = team_size(*backend_);
    return fmt::format("cpu, {}, {} thread{}", to_string(simd_level()), threads, threads == 1 ? "" : "s");
  }

  void equip(FrameSlot& slot) override {
    slot.samples = backend_->allocate(plan_->acquisition.frame_bytes(), MemoryUse::staging);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    slot.timings.reserve(most_timings);
    slot.outputs.clear();
    slot.outputs.resize(setup_->recipe.outputs.size());
    const auto take = [&](std::optional<std::size_t> output, const PreparedStep& step) {
      if (output) slot.outputs[*output].data = backend_->allocate(step.output.bytes(), MemoryUse::readback);
    };
    for (std::size_t view = 0; view < views_.size(); ++view) {
      take(outputs_[view].complex_image, views_[view].beamform);
      take(outputs_[view].envelope, views_[view].envelope);
      take(outputs_[view].display, views_[view].display());
    }
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    slot.timings.clear();
    run(half_matrix_, {slot.samples.bytes_begin() + first_byte_}, {half_matrix_.block.data()}, slot);
    run(analytic_signal_, {half_matrix_.block.data()}, {analytic_signal_.block.data()}, slot);
    for (std::size_t view = 0; view < views_.size(); ++view) image_view(view, slot);
    if (const auto quality = half_matrix_.stage->facts().quality) {
      slot.clipped_samples = quality->clipped;
      slot.invalid_samples = quality->invalid;
    }
    done(slot, true);
  }

  [[nodiscard]] float reference(std::size_t output) const noexcept override {
    for (std::size_t view = 0; view < views_.size(); ++view) {
      if (outputs_[view].display == output) return references_[view];
    }
    return 0.0F;
  }
  void resume(std::size_t output, float known) noexcept override {
    for (std::size_t view = 0; view < views_.size(); ++view) {
      if (outputs_[view].display != output) continue;
      views_[view].compression.stage->resume({.quality = {}, .reference = ShownReference{known, known}});
    }
  }

  [[nodiscard]] bool retune(const ImagingSetup& wanted) override {
    if (!wanted.plan || !alike_but_compression(*plan_, *wanted.plan)) return false;
    const StageOptions options = wanted.plan->compression;
    for (const ViewChain& chain : views_) {
      if (chain.compression.stage && !chain.compression.stage->accepts(options)) return false;
    }
    for (ViewChain& chain : views_) {
      if (chain.compression.stage) chain.compression.stage->retune(options, *queue_);
    }
    return true;
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }

 private:
  PreparedStep add_step(std::string_view name, std::size_t view, const BlockSpec& input, bool owns_output) {
    PreparedStep step = make_step(name, *plan_, view, *backend_, input);
    if (owns_output) {
      step.block = backend_->allocate(step.output.bytes(), MemoryUse::working);
      bytes_ += step.block.size();
    }
    bytes_ += step.stage->bytes();
    return step;
  }

  void image_view(std::size_t view, FrameSlot& slot) noexcept {
    ViewChain& chain = views_[view];
    const ViewOutputs& outputs = outputs_[view];
    const auto place = [&](std::optional<std::size_t> output, const PreparedStep& step) {
      return output ? slot.outputs[*output].data.data() : step.block.data();
    };
    void* const image = place(outputs.complex_image, chain.beamform);
    void* const envelope = place(outputs.envelope, chain.envelope);
    run(chain.beamform, {analytic_signal_.block.data()}, {image}, slot);
    run(chain.envelope, {image}, {envelope}, slot);
    if (!outputs.display) return;
    void* const display = slot.outputs[*outputs.display].data.data();
    void* const compressed = chain.scan_conversion.stage ? chain.compression.block.data() : display;
    run(chain.compression, {envelope}, {compressed}, slot);
    if (const auto reference = chain.compression.stage->facts().reference) {
      set_reference(outputs, slot, reference->shown);
      references_[view] = reference->known;
    }
    if (chain.scan_conversion.stage) run(chain.scan_conversion, {compressed}, {display}, slot);
  }

  void run(PreparedStep& step, ConstBlock input, Block output, FrameSlot& slot) noexcept {
    const auto begin = std::chrono::steady_clock::now();
    step.stage->process(input, output, *queue_);
    add_timing(slot, step.name, std::chrono::steady_clock::now() - begin);
  }

  const std::shared_ptr<const ImagingSetup> setup_;
  const std::shared_ptr<const ImagingPlan> plan_;
  const std::vector<ViewOutputs> outputs_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
  PreparedStep half_matrix_;
  PreparedStep analytic_signal_;
  std::vector<ViewChain> views_;
  std::vector<float> references_;  // by view, of the last frame; 0 before the first
  std::size_t first_byte_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                        const EngineOptions& /*options*/) {
  return std::make_unique<CpuEngine>(std::move(setup), choice);
}

}  // namespace echoform
