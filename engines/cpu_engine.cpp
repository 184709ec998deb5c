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
  CpuEngine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice, const EngineOptions& options)
      : plan_(std::move(plan)),
        options_(options),
        backend_(make_cpu_backend(choice.threads, choice.pin)),
        queue_(backend_->make_queue()) {
    validate(*plan_, "imaging plan");
    // With a gate, rows are the gate's columns of the rows in the slot.
    BlockSpec samples = raw_block(plan_->acquisition);
    const SampleGate gate = plan_->imaged_samples();
    samples.columns = gate.count;
    first_byte_ = raw_bytes(samples.type, gate.first);
    half_matrix_ = add_step("pairing", 0, samples, true);
    analytic_signal_ = add_step("analytic-signal", 0, half_matrix_.output, true);
    for (std::size_t view = 0; view < plan_->laws.size(); ++view) {
      ViewChain chain;
      chain.beamform = add_step("beamform", view, analytic_signal_.output, !options_.keep_analytic);
      chain.envelope = add_step("envelope", view, chain.beamform.output, false);
      if (options_.display) {
        chain.compression = add_step("compression", view, chain.envelope.output, plan_->display_grid.has_value());
        if (plan_->display_grid) chain.scan_conversion = add_step("scan-conversion", view, chain.compression.output, false);
      }
      views_.push_back(std::move(chain));
    }
    references_.assign(views_.size(), 0.0F);
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingPlan& plan() const noexcept override { return *plan_; }
  [[nodiscard]] std::string describe() const override {
    const std::size_t threads = team_size(*backend_);
    return fmt::format("cpu, {}, {} thread{}", to_string(simd_level()), threads, threads == 1 ? "" : "s");
  }

  void equip(FrameSlot& slot) override {
    slot.samples = backend_->allocate(plan_->acquisition.frame_bytes(), MemoryUse::staging);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    slot.images.clear();
    for (const ViewChain& chain : views_) {
      ImageOutput output;
      if (options_.keep_analytic) output.analytic = backend_->allocate(chain.beamform.output.bytes(), MemoryUse::readback);
      output.envelope = backend_->allocate(chain.envelope.output.bytes(), MemoryUse::readback);
      if (options_.display) output.display = backend_->allocate(chain.display().output.bytes(), MemoryUse::readback);
      slot.images.push_back(std::move(output));
    }
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    slot.timing_count = 0;
    run(half_matrix_, {slot.samples.bytes_begin() + first_byte_}, {half_matrix_.block.data()}, slot);
    run(analytic_signal_, {half_matrix_.block.data()}, {analytic_signal_.block.data()}, slot);
    for (std::size_t view = 0; view < views_.size(); ++view) image_view(views_[view], slot.images[view], slot);
    if (const auto quality = half_matrix_.stage->facts().quality) {
      slot.clipped_samples = quality->clipped;
      slot.invalid_samples = quality->invalid;
    }
    done(slot, true);
  }

  [[nodiscard]] float reference(std::size_t view) const noexcept override {
    return view < references_.size() ? references_[view] : 0.0F;
  }
  void resume(std::size_t view, float reference) noexcept override {
    if (view >= views_.size()) return;
    if (!views_[view].compression.stage) return;
    views_[view].compression.stage->resume({.quality = {}, .reference = ShownReference{reference, reference}});
  }

  void set_compression(const Compression& compression) override {
    // The first refuses what all would refuse.
    for (ViewChain& chain : views_) {
      if (chain.compression.stage && chain.compression.stage->accepts(compression))
        chain.compression.stage->retune(compression, *queue_);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }

 private:
  Step add_step(std::string_view name, std::size_t view, const BlockSpec& input, bool owns_output) {
    Step step = make_step(name, *plan_, view, *backend_, input);
    if (owns_output) {
      step.block = backend_->allocate(step.output.bytes(), MemoryUse::working);
      bytes_ += step.block.size();
    }
    bytes_ += step.stage->bytes();
    return step;
  }

  void image_view(ViewChain& chain, ImageOutput& output, FrameSlot& slot) noexcept {
    void* const image = options_.keep_analytic ? output.analytic.data() : chain.beamform.block.data();
    run(chain.beamform, {analytic_signal_.block.data()}, {image}, slot);
    run(chain.envelope, {image}, {output.envelope.data()}, slot);
    if (!options_.display) return;
    void* const compressed = chain.scan_conversion.stage ? chain.compression.block.data() : output.display.data();
    run(chain.compression, {output.envelope.data()}, {compressed}, slot);
    if (const auto reference = chain.compression.stage->facts().reference) {
      output.reference = reference->shown;
      references_[static_cast<std::size_t>(&chain - views_.data())] = reference->known;
    }
    if (chain.scan_conversion.stage) run(chain.scan_conversion, {compressed}, {output.display.data()}, slot);
  }

  void run(Step& step, ConstBlock input, Block output, FrameSlot& slot) noexcept {
    const auto begin = std::chrono::steady_clock::now();
    step.stage->process(input, output, *queue_);
    add_timing(slot, step.name, std::chrono::steady_clock::now() - begin);
  }

  std::shared_ptr<const ImagingPlan> plan_;
  EngineOptions options_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
  Step half_matrix_;
  Step analytic_signal_;
  std::vector<ViewChain> views_;
  std::vector<float> references_;  // by view, of the last frame; 0 before the first
  std::size_t first_byte_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice,
                                        const EngineOptions& options) {
  return std::make_unique<CpuEngine>(std::move(plan), choice, options);
}

}  // namespace echoform
