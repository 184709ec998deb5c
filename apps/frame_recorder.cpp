#include "apps/frame_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "formats/atomic_file.hpp"

namespace echoform {
namespace {

class RecordingEngine final : public Engine {
 public:
  RecordingEngine(FrameRecorder& recorder, std::shared_ptr<const ImagingSetup> setup)
      : recorder_(recorder), setup_(std::move(setup)), backend_(make_cpu_backend(1)) {}

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return "none: frames are recorded"; }
  void equip(FrameSlot& slot) override {
    slot.samples = backend_->allocate(setup_->acquisition.frame_bytes(), MemoryUse::staging);
  }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    slot.timings.clear();
    done(slot, recorder_.write(setup_->acquisition, slot));
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }

 private:
  FrameRecorder& recorder_;
  std::shared_ptr<const ImagingSetup> setup_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace

FrameRecorder::FrameRecorder(FrameRecorderOptions options) : options_(std::move(options)) {
  const std::string name = options_.output.string();
  check_frame_file_name(options_.output, "--output");
  check_frame_file_states(options_.output, options_.material);
  // The maximum of a file limits the number of frames as --frames does.
  const std::uint64_t most = most_frames_of_file(options_.output);
  if (most > 0) options_.frames = std::min(options_.frames.value_or(most), most);
  check_output_place(options_.output);
  require_absent(options_.output, name);
}

std::shared_ptr<const ImagingSetup> FrameRecorder::setup(const Acquisition& acquisition) {
  check_frame_file_holds(options_.output, acquisition, "acquisition");
  const std::lock_guard lock(mutex_);
  if (acquisition_ && *acquisition_ != acquisition) {
    throw InputError("acquisition", "another than that of the recording so far", "the same: one recording holds one acquisition");
  }
  auto setup = std::make_shared<ImagingSetup>();
  setup->acquisition = acquisition;
  setup->material = options_.material;
  setup->gate = {0, acquisition.samples};
  return setup;
}

SetupFactory FrameRecorder::setup_factory() {
  return [this](const Acquisition& acquisition) { return setup(acquisition); };
}

EngineFactory FrameRecorder::engine_factory() {
  return
      [this](std::shared_ptr<const ImagingSetup> setup, const BackendChoice&, const EngineOptions&) -> std::unique_ptr<Engine> {
        return std::make_unique<RecordingEngine>(*this, std::move(setup));
      };
}

bool FrameRecorder::write(const Acquisition& acquisition, const FrameSlot& slot) noexcept {
  bool ended = false;
  bool written = true;
  {
    const std::lock_guard lock(mutex_);
    if (!progress_.fault.empty()) return false;
    if (options_.frames && progress_.frames >= *options_.frames) {
      ++progress_.left_out;
      return true;
    }
    try {
      if (!writer_) {
        const WallTime now = slot.acquisition_time.count() > 0 ? slot.acquisition_time : SystemClock().wall();
        writer_ = make_frame_writer(
            options_.output, acquisition,
            {.material = options_.material, .recorded = now, .pose = options_.pose ? options_.pose(acquisition) : nullptr});
        acquisition_ = acquisition;
      }
      writer_->append({slot.samples.bytes_begin(), acquisition.frame_bytes()},
                      {slot.sequence, slot.acquisition_time, slot.position});
      progress_.frames = writer_->frames();
      progress_.bytes = writer_->bytes();
      ended = options_.frames && progress_.frames == *options_.frames;
    } catch (const std::exception& fault) {
      progress_.fault = fault.what();
      written = false;
      ended = true;
    }
  }
  if (ended && options_.ended) options_.ended();
  return written;
}

void FrameRecorder::close() {
  const std::lock_guard lock(mutex_);
  if (writer_) writer_->close();
}

bool FrameRecorder::complete() const {
  const std::lock_guard lock(mutex_);
  return options_.frames && progress_.frames == *options_.frames;
}

RecordingProgress FrameRecorder::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

}  // namespace echoform
