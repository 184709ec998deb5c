#include "apps/soak/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "methods/registry.hpp"

namespace echoform::soak {
namespace {

constexpr std::size_t cycle_frames = 8;

WallTime now() {
  return std::chrono::duration_cast<WallTime>(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

void Stream::open(std::size_t part, std::size_t connections) {
  part_ = part;
  options_.connections = connections;
  expectations_.add(counter::accepted, connections);
  sender_ = std::make_unique<AcquisitionSender>(acquisition(), options_);
}

void Stream::finish() {
  if (sender_) sender_->finish();
  sender_.reset();
}

void Stream::kill() {
  expectations_.add(counter::lost, options_.connections);
  sender_.reset();
}

std::span<const std::byte> Stream::samples() {
  FrameCycle& cycle = *parts_[part_].frames;
  return cycle.frame(sequence_ % cycle.frames());
}

std::span<const std::byte> Stream::shot_samples(std::size_t transmit) {
  const ByteRange bytes = FrameLayout(acquisition()).shot_bytes(transmit);
  return samples().subspan(bytes.first, bytes.count);
}

void Stream::send_frame() {
  send_frame(samples());
}

AcquisitionSender& Stream::sender() {
  // A fault that runs when the run is about to end leaves no sender behind.
  if (!sender_) throw RuntimeFault("the run ends: no sender is connected");
  return *sender_;
}

void Stream::send_frame(std::span<const std::byte> frame) {
  AcquisitionSender& to = sender();
  expectations_.add(counter::received);
  expectations_.add(counter::published);
  to.send_frame({sequence_++, now()}, frame);
}

void Stream::send_shots(std::span<const std::size_t> transmits) {
  AcquisitionSender& to = sender();
  for (const std::size_t transmit : transmits) {
    to.send_shot(0, {sequence_, static_cast<std::uint32_t>(transmit), now()}, shot_samples(transmit));
  }
}

Traffic::Traffic(Stream stream, double rate, Verdict& verdict)
    : stream_(std::move(stream)),
      interval_(static_cast<std::int64_t>(1e9 / rate)),
      verdict_(verdict),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Traffic::~Traffic() = default;

bool Traffic::perform(const Task& task) {
  std::unique_lock lock(mutex_);
  if (ended_) return false;
  task_ = &task;
  changed_.notify_all();
  changed_.wait(lock, [&] { return task_ == nullptr || ended_; });
  const bool done = task_ == nullptr;
  task_ = nullptr;
  return done && !verdict_.failure();
}

void Traffic::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Traffic::run(const std::stop_token& stop) {
  try {
    stream_.open(0, 1);
    auto next = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto due = std::max(next, std::chrono::steady_clock::now());
      if (changed_.wait_until(lock, stop, next, [&] { return task_ != nullptr; })) {
        lock.unlock();
        (*task_)(stream_);
        lock.lock();
        task_ = nullptr;
        changed_.notify_all();
        next = std::chrono::steady_clock::now();
        continue;
      }
      if (stop.stop_requested()) break;
      lock.unlock();
      const std::chrono::nanoseconds late = std::chrono::steady_clock::now() - due;
      if (late.count() > lateness_.load()) lateness_.store(late.count());
      stream_.send_frame();
      // After a delay, the schedule continues from there: a soak needs steady pressure, without bursts that it did not request.
      next = std::max(next + interval_, std::chrono::steady_clock::now() - interval_);
      lock.lock();
    }
    lock.unlock();
    stream_.finish();
  } catch (const std::exception& fault) {
    verdict_.fail(fmt::format("sender: {}", fault.what()));
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::vector<Part> make_parts(const Configuration& configuration) {
  SimulatorConfiguration plain = simulated_source(configuration);
  // The number of saturated samples is predicted. If packed to 12 bits, saturated samples of the part itself would count, too.
  if (plain.encoding == SampleEncoding::packed12) plain.encoding = SampleEncoding::int16;
  plain.cycle_frames = std::min(plain.cycle_frames, cycle_frames);
  SimulatorConfiguration floats = plain;
  // The waves and codes are defined for this number of elements.
  if (!plain.transmit.together()) floats.elements = std::max<std::size_t>(2, plain.elements * 3 / 4);
  floats.encoding = SampleEncoding::float32;
  for (auto* const list : {&floats.dead_elements, &floats.transmit.fire, &floats.transmit.receive}) {
    std::erase_if(*list, [&](std::size_t element) { return element >= floats.elements; });
  }
  // Faults leave out shots and send shots twice, which needs at least two.
  for (SimulatorConfiguration* const part : {&plain, &floats}) {
    const auto fires = [part](std::size_t element) {
      return std::find(part->dead_elements.begin(), part->dead_elements.end(), element) == part->dead_elements.end();
    };
    std::vector<std::size_t>& fire = part->transmit.fire;
    if (std::count_if(fire.begin(), fire.end(), fires) < 2) fire.clear();
  }
  SimulatorConfiguration packed = plain;
  packed.matrix = MatrixKind::half;
  packed.transmit = {};
  packed.encoding = SampleEncoding::packed12;
  packed.quantised = true;
  // The samples stay far below the converter's limits, so that only a requested fault saturates.
  packed.full_scale = 8.0 * plain.full_scale;
  std::vector<Part> parts;
  for (const SimulatorConfiguration& part : {plain, floats, packed}) {
    auto frames = std::make_unique<FrameCycle>(part);
    const auto setup = resolve_imaging({configuration, frames->acquisition(), {}, configuration.input.slots, ImagingUse::live});
    parts.push_back({std::move(frames), setup->gate});
  }
  return parts;
}

}  // namespace echoform::soak
