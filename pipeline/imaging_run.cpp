#include "pipeline/imaging_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "base/planning.hpp"

namespace echoform {
namespace {

constexpr std::chrono::microseconds housekeeping_interval{10'000};

std::vector<FrameSlot> equip_slots(Engine& engine, std::size_t count) {
  std::vector<FrameSlot> slots(count);
  for (std::size_t index = 0; index < count; ++index) {
    keep_planning();
    slots[index].index = index;
    engine.equip(slots[index]);
    const std::size_t needed = engine.setup().acquisition.frame_bytes();
    if (slots[index].samples.size() < needed) {
      throw RuntimeFault(fmt::format("engine: {} bytes in a slot where a frame has {}", slots[index].samples.size(), needed));
    }
  }
  return slots;
}

}  // namespace

ImagingRun::ImagingRun(const ImagingRunOptions& options, std::shared_ptr<const ImagingSetup> setup,
                       std::unique_ptr<Engine> engine, std::shared_ptr<FrameLedger> ledger, PipelineMetrics& metrics,
                       const std::vector<std::shared_ptr<ImageSink>>& sinks, const Clock& clock,
                       std::function<void()> housekeeping)
    : ledger_(std::move(ledger)),
      metrics_(metrics),
      sinks_(sinks),
      clock_(clock),
      housekeeping_(std::move(housekeeping)),
      slots_(std::make_shared<std::vector<FrameSlot>>(equip_slots(*engine, options.slots))),
      acquired_(options.slots),
      finished_(options.slots),
      setup_(std::move(setup)),
      engine_(std::move(engine)),
      receiving_(engine_.get()),
      done_([this](FrameSlot& slot, bool ok) { imaged(slot, ok); }) {
  measure();
  ledger_->reset_slots(options.slots);
  publish_worker_.emplace(WorkerOptions{"ef-publish", options.publish_processor},
                          [this](const std::stop_token& stop) { publish(stop); });
  compute_worker_.emplace(WorkerOptions{"ef-compute", options.compute_processor},
                          [this](const std::stop_token& stop) { compute(stop); });
}

ImagingRun::~ImagingRun() {
  stop(std::chrono::nanoseconds{0});
}

void ImagingRun::measure() {
  std::size_t sum = engine_->bytes();
  for (const FrameSlot& slot : *slots_) {
    sum += slot.samples.size();
    for (const SlotOutput& output : slot.outputs) sum += output.data.size();
  }
  bytes_.store(sum);
  host_bytes_.store(sum - engine_->device_bytes());
}

void ImagingRun::compute(const std::stop_token& stop) {
  while (wait_for_room(stop)) {
    const auto item = acquired_.take(stop);
    if (!item) return;
    FrameSlot& slot = **item;
    slot.envelope_wanted = envelope_wanted();
    slot.scan_cells.reset();
    for (int changes = changes_.load(); changes != 0; changes = changes_.load()) changes_.wait(changes);
    const std::lock_guard lock(engine_mutex_);
    slot.setup = setup_;
    {
      const std::lock_guard room(room_mutex_);
      ++under_way_;
    }
    ledger_->start_imaging(slot.index);
    engine_->submit(slot, done_);
  }
}

// Waits before a frame is taken: frames on the edge may be superseded, frames in the engine may not.
bool ImagingRun::wait_for_room(const std::stop_token& stop) {
  std::size_t most = 0;
  {
    const std::lock_guard lock(engine_mutex_);
    most = engine_->frames_at_once();
  }
  std::unique_lock lock(room_mutex_);
  return room_.wait(lock, stop, [&] { return under_way_ < most; });
}

bool ImagingRun::envelope_wanted() noexcept {
  bool wanted = false;
  for (const auto& sink : sinks_) wanted = sink->wants_envelope() || wanted;
  return wanted;
}

void ImagingRun::frame_opened(FrameSlot& slot) noexcept {
  const std::lock_guard lock(arrivals_mutex_);
  if (receiving_ != nullptr) receiving_->frame_opened(slot);
}

void ImagingRun::shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept {
  const std::lock_guard lock(arrivals_mutex_);
  if (receiving_ != nullptr) receiving_->shots_arrived(slot, first_row, rows);
}

// Called on the CPU from the compute worker, on a GPU from a thread of the engine; never from two at once, since an engine
// is exchanged only when it has no frame. So the finished edge has one producer at a time, ordered by the ledger's lock.
void ImagingRun::imaged(FrameSlot& slot, bool ok) {
  {
    const std::lock_guard lock(room_mutex_);
    --under_way_;
  }
  room_.notify_one();
  if (!ok || giving_up_.load()) {
    ledger_->drop(slot.index, ok ? DropReason::stopped : DropReason::failed);
    return;
  }
  ledger_->start_publishing(slot.index);
  if (!finished_.offer(&slot).on_edge()) ledger_->drop(slot.index, DropReason::failed);
}

void ImagingRun::publish(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (const auto item = finished_.take_for(housekeeping_interval)) publish_frame(**item);
    housekeeping_();
  }
}

void ImagingRun::publish_frame(FrameSlot& slot) {
  ledger_->count_samples(slot.clipped_samples, slot.invalid_samples);
  const FinishedFrame frame{slot, *slot.setup, ledger_->snapshot_with_published(slot.index), clock_.wall(), clock_.steady()};
  for (const auto& sink : sinks_) sink->publish(frame);
  metrics_.record_published(slot, clock_.steady());
  ledger_->publish(slot.index);
}

void ImagingRun::exchange_engine(std::shared_ptr<const ImagingSetup> setup, std::unique_ptr<Engine> engine,
                                 std::chrono::nanoseconds limit, const std::function<void()>& between) {
  // The new slots are equipped separately. The samples of the slots in use stay where lanes write them; only the outputs are
  // exchanged.
  std::vector<FrameSlot> fresh(slots_->size());
  for (std::size_t index = 0; index < fresh.size(); ++index) {
    keep_planning();
    fresh[index].index = index;
    engine->equip_outputs(fresh[index]);
  }
  const Change turn(*this);
  const std::lock_guard lock(engine_mutex_);
  if (!ledger_->wait_until_idle(limit, false)) {
    throw RuntimeFault("the frame in work did not finish in time; the imaging stays as it was");
  }
  for (std::size_t index = 0; index < fresh.size(); ++index) {
    std::swap((*slots_)[index].outputs, fresh[index].outputs);
    std::swap((*slots_)[index].timings, fresh[index].timings);
    (*slots_)[index].setup.reset();  // its resources are freed now, not with the slot's next frame
  }
  // Outputs keep the value that they show as 0 dB.
  const Recipe& after = setup->recipe;
  for (std::size_t output = 0; output < after.outputs.size(); ++output) {
    const OutputDescription& description = after.outputs[output].description;
    if (const auto old = setup_->recipe.find(description.view, description.kind)) {
      engine->resume(output, engine_->reference(*old));
    }
  }
  // The previous outputs are destroyed with `fresh`, the previous engine with `engine`.
  std::swap(engine_, engine);
  std::swap(setup_, setup);
  {
    // Afterwards no arrival reaches the previous engine. The new engine was not notified of the shots that arrived until now,
    // so it takes them from the slot when the frame is submitted.
    const std::lock_guard arrivals(arrivals_mutex_);
    receiving_ = engine_.get();
  }
  measure();
  between();
}

bool ImagingRun::retune(std::shared_ptr<const ImagingSetup> setup) {
  const Change turn(*this);
  const std::lock_guard lock(engine_mutex_);
  if (!engine_->retune(*setup)) return false;
  setup_ = std::move(setup);
  return true;
}

void ImagingRun::stop(std::chrono::nanoseconds limit) {
  if (!compute_worker_ && !publish_worker_) return;
  static_cast<void>(ledger_->wait_until_idle(limit));
  giving_up_.store(true);
  if (compute_worker_) compute_worker_->request_stop();
  compute_worker_.reset();
  if (publish_worker_) publish_worker_->request_stop();
  publish_worker_.reset();
  {
    const std::lock_guard arrivals(arrivals_mutex_);
    receiving_ = nullptr;
  }
  // After its destructor an engine makes no more callbacks; its unfinished frames are still in the ledger.
  engine_.reset();
  ledger_->drop_unpublished(DropReason::stopped);
}

}  // namespace echoform
