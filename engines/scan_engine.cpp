#include "engines/scan_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "cpu/cpu_backend.hpp"
#include "engines/after_images.hpp"
#include "engines/runner.hpp"
#include "engines/stage_timing.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

/// Whether both recipes make their envelopes alike, except for envelopes made of other envelopes.
bool same_envelopes(const Recipe& one, const Recipe& other) {
  if (one.steps.size() != other.steps.size()) return false;
  std::vector<bool> needed(one.steps.size() + 1, false);
  for (const std::string_view view : views_of_their_own(one)) {
    needed[one.outputs[one.find(view, OutputKind::envelope).value()].block] = true;
  }
  // Steps use only blocks of earlier steps.
  for (std::size_t block = one.steps.size(); block > 0; --block) {
    if (!needed[block]) continue;
    if (one.steps[block - 1] != other.steps[block - 1]) return false;
    for (const std::size_t input : one.steps[block - 1].inputs) needed[input] = true;
  }
  return true;
}

class ScanEngine final : public Engine {
 public:
  ScanEngine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, const EngineOptions& options,
             PositionEngine make)
      : setup_(std::move(setup)),
        scan_(setup_->scan),
        choice_(choice),
        options_(options),
        make_(make),
        backend_(make_cpu_backend(choice.threads, false)),
        queue_(backend_->make_queue()),
        inner_(make_(scan_->model, choice_, options_)) {
    const BlockSpec image = image_block(ElementType::float32, scan_->grid);
    for (AfterImages& after : after_composition(setup_->recipe)) {
      ShownImage& shown = shown_.emplace_back();
      shown.images = std::move(after.images);
      shown.outputs = std::move(after.outputs);
      shown.runner = std::make_unique<Runner>(std::move(after.recipe), image, *backend_);
      shown.runner->allocate_blocks();
      shown.places = shown.runner->places();
      bytes_ += shown.runner->bytes();
    }
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return inner_->backend(); }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return inner_->describe(); }

  void equip(FrameSlot& slot) override {
    FrameSlot& own = position_slot(slot.index);
    inner_->equip(own);
    slot.samples = std::move(own.samples);
    equip_whole(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    FrameSlot& own = position_slot(slot.index);
    own.samples = std::move(slot.samples);
    inner_->equip_outputs(own);
    slot.samples = std::move(own.samples);
    equip_whole(slot);
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    slot.timings.clear();
    slot.clipped_samples = 0;
    slot.invalid_samples = 0;
    bool ok = true;
    try {
      scan_->record->begin_frame();
      ok = add(slot);
    } catch (const PlanningEnded&) {
      ok = false;  // the place is unknown
    } catch (const InputError& error) {
      scan_->record->refuse(error.what());  // no frame can be imaged from there
    } catch (const std::exception&) {
      // Without memory, or after a fault of the backend, the frame failed and its cell stays open.
      ok = false;
    }
    show(slot);
    done(slot, ok);
  }
  // Waiting frames may still be superseded by newer ones and be counted as dropped.
  [[nodiscard]] std::size_t frames_at_once() const noexcept override { return 1; }

  [[nodiscard]] float reference(std::size_t output) const noexcept override {
    for (const ShownImage& shown : shown_) {
      for (std::size_t k = 0; k < shown.outputs.size(); ++k) {
        if (shown.outputs[k] == output) return shown.runner->reference(shown.images.size() + k);
      }
    }
    return 0.0F;
  }
  void resume(std::size_t output, float known) noexcept override {
    for (const ShownImage& shown : shown_) {
      for (std::size_t k = 0; k < shown.outputs.size(); ++k) {
        if (shown.outputs[k] == output) shown.runner->resume(shown.images.size() + k, known);
      }
    }
  }

  /// The display of the image may change, but not what the image is made of.
  [[nodiscard]] bool retune(const ImagingSetup& wanted) override {
    if (wanted.scan != setup_->scan || !same_frames(*setup_, wanted)) return false;
    // The task of each position states what the position shows.
    if (!same_envelopes(setup_->recipe, wanted.recipe)) return false;
    const std::vector<AfterImages> all = after_composition(wanted.recipe);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!shown_[k].runner->retune(all[k].recipe, *queue_)) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes() + bytes_ + scan_->record->bytes(); }
  [[nodiscard]] std::size_t device_bytes() const noexcept override { return inner_->device_bytes(); }

 private:
  struct ShownImage {
    std::unique_ptr<Runner> runner;
    std::vector<std::size_t> images;   // of the record, for the runner's first steps
    std::vector<std::size_t> outputs;  // of the setup's recipe, for the runner's outputs after them
    std::vector<void*> places;
  };

  /// For each view, the steps that follow the composed images.
  [[nodiscard]] std::vector<AfterImages> after_composition(const Recipe& recipe) const {
    std::vector<std::string> composed;
    for (const ScanRecord::Image& image : scan_->record->images()) composed.push_back(image.view);
    std::vector<AfterImages> all;
    for (const std::string_view view : recipe.views()) all.push_back(after_images(recipe, composed, view, true));
    return all;
  }

  /// The slot of an index as the engine of a position has it; its outputs are those of one position.
  FrameSlot& position_slot(std::size_t index) {
    while (position_slots_.size() <= index) {
      position_slots_.emplace_back(std::make_unique<FrameSlot>());
      position_slots_.back()->index = position_slots_.size() - 1;
      equipped_.push_back(0);
    }
    equipped_[index] = engines_made_;
    return *position_slots_[index];
  }

  void equip_whole(FrameSlot& slot) {
    slot.outputs.clear();
    for (const RecipeOutput& output : setup_->recipe.outputs) {
      slot.outputs.push_back({backend_->allocate(output.description.bytes(), MemoryUse::readback)});
    }
    std::size_t steps = scan_->model->recipe.steps.size() + 2;
    for (const ShownImage& shown : shown_) steps += shown.runner->steps();
    slot.timings.reserve(steps);
  }

  template <class Work>
  void timed(FrameSlot& slot, std::string_view name, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    add_timing(slot, name, std::chrono::steady_clock::now() - begin);
  }

  /// Adds the frame. Returns false only if it had to be imaged and could not be.
  bool add(FrameSlot& slot) {
    ScanRecord& record = *scan_->record;
    if (!slot.position) {
      record.count_without_position();
      return true;
    }
    const Metres s = scan_->encoder.place(scan_->encoder.position(*slot.position));
    const std::int64_t cell = scan_->encoder.cell(s);
    if (record.has(cell)) {
      record.count_repeated();
      return true;
    }
    if (record.full()) throw InputError("scan", "one cell more", fmt::format("at most {} cells", most_scan_cells));
    ScanPosition position;
    timed(slot, "position", [&] { position = prepare(s); });
    if (position.setup == nullptr) {
      record.count_outside();
      return true;
    }
    if (!image(slot)) return false;
    const FrameSlot& own = *position_slots_[slot.index];
    const OutputKind kind = record.composition() == Composition::coherent ? OutputKind::complex_image : OutputKind::envelope;
    timed(slot, "composition", [&] {
      const auto whole = record.whole_frame();
      for (std::size_t k = 0; k < record.images().size(); ++k) {
        const std::size_t output = position.setup->recipe.find(record.images()[k].view, kind).value();
        record.add(k, position.setup->recipe.outputs[output].description.grid, position.places, own.outputs[output].data.data());
      }
      record.close(cell);
    });
    return true;
  }

  /// Makes the engine of `s` the current one.
  ScanPosition prepare(Metres s) {
    if (position_ && prepared_at_ == s) return *position_;
    ScanPosition position = scan_->position(s);
    if (position.setup == nullptr) return position;
    // As with live changes, the previous engine stays until the next one is ready.
    inner_ = make_(position.setup, choice_, options_);
    ++engines_made_;
    position_ = position;
    prepared_at_ = s;
    return position;
  }

  bool image(FrameSlot& slot) {
    FrameSlot& own = *position_slots_[slot.index];
    own.samples = std::move(slot.samples);
    bool ok = false;
    try {
      if (equipped_[slot.index] != engines_made_) {
        inner_->equip_outputs(own);
        equipped_[slot.index] = engines_made_;
      }
      own.sequence = slot.sequence;
      own.setup = position_->setup;
      own.envelope_wanted = true;
      ok = image_now(*inner_, own);
    } catch (...) {
      slot.samples = std::move(own.samples);
      throw;
    }
    slot.samples = std::move(own.samples);
    slot.clipped_samples = own.clipped_samples;
    slot.invalid_samples = own.invalid_samples;
    for (const StageTiming& timing : own.timings) add_timing(slot, timing.stage, timing.duration);
    return ok;
  }

  /// Writes the current image into the slot's outputs.
  void show(FrameSlot& slot) noexcept {
    const ScanRecord& record = *scan_->record;
    slot.scan_cells = record.counts().cells;
    for (ShownImage& shown : shown_) {
      const std::size_t given = shown.images.size();
      for (std::size_t i = 0; i < given; ++i) {
        // Stages only read their inputs.
        shown.places[i + 1] = const_cast<float*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
            record.images()[shown.images[i]].envelope.data());
      }
      const auto outputs = std::span(shown.runner->recipe().outputs).subspan(given);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        shown.places[outputs[i].block] = slot.outputs[shown.outputs[i]].data.data();
      }
      shown.runner->run(shown.places, *queue_, [&](std::size_t step, const auto& work) {
        if (step < given) return;
        const auto begin = std::chrono::steady_clock::now();
        work();
        add_timing(slot, shown.runner->name(step), std::chrono::steady_clock::now() - begin);
      });
      shown.runner->note_references();
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (const Stage* const stage = shown.runner->reference_stage(given + i)) {
          if (const auto reference = stage->facts().reference) slot.outputs[shown.outputs[i]].reference = reference->shown;
        }
      }
    }
    for (std::size_t k = 0; k < setup_->recipe.outputs.size(); ++k) {
      const OutputDescription& output = setup_->recipe.outputs[k].description;
      const auto of_view = std::find_if(record.images().begin(), record.images().end(),
                                        [&](const ScanRecord::Image& image) { return image.view == output.view; });
      if (of_view == record.images().end()) continue;  // made of other images, by a runner
      if (output.kind == OutputKind::envelope && slot.envelope_wanted) {
        std::memcpy(slot.outputs[k].data.data(), of_view->envelope.data(), output.bytes());
      }
      if (output.kind != OutputKind::complex_image) continue;
      auto* const to = static_cast<std::complex<float>*>(slot.outputs[k].data.data());
      for (std::size_t i = 0; i < of_view->sum.size(); ++i) to[i] = of_view->sum[i] / static_cast<float>(of_view->covered[i]);
    }
  }

  const std::shared_ptr<const ImagingSetup> setup_;
  const std::shared_ptr<const Scan> scan_;
  const BackendChoice choice_;
  const EngineOptions options_;
  const PositionEngine make_;
  std::unique_ptr<Backend> backend_;  // for the steps after the envelope
  std::unique_ptr<ExecutionQueue> queue_;
  std::unique_ptr<Engine> inner_;  // of the position imaged last, at first of the model
  std::uint64_t engines_made_ = 1;
  std::optional<ScanPosition> position_;  // the position of inner_
  Metres prepared_at_;
  std::vector<std::unique_ptr<FrameSlot>> position_slots_;  // [index]
  std::vector<std::uint64_t> equipped_;                     // number of the engine that equipped each slot
  std::vector<ShownImage> shown_;                           // [view]
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_scan_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                         const EngineOptions& options, PositionEngine make) {
  validate(*setup, "imaging setup");
  return std::make_unique<ScanEngine>(std::move(setup), choice, options, make);
}

}  // namespace echoform
