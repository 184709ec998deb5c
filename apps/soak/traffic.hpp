// The sender of a soak: frames at a rate over one to four connections, and between frames whatever a fault asks for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "apps/soak/judge.hpp"
#include "pipeline/sample_gate.hpp"
#include "simulators/frame_cycle.hpp"
#include "transport/acquisition/sender.hpp"

namespace echoform::soak {

/// What the sender can send, and which of its samples images are made of.
struct Part {
  std::unique_ptr<FrameCycle> frames;
  SampleGate gate;
};

/// What the sender does; used by its thread alone. Everything that will be counted is foretold.
class Stream {
 public:
  Stream(std::vector<Part> parts, const SenderOptions& options, Expectations& expectations)
      : parts_(std::move(parts)), options_(options), expectations_(expectations) {}

  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  [[nodiscard]] std::size_t part() const { return part_; }
  [[nodiscard]] std::size_t connections() const { return options_.connections; }
  [[nodiscard]] const Acquisition& acquisition() const { return parts_[part_].frames->acquisition(); }
  [[nodiscard]] const SampleGate& gate() const { return parts_[part_].gate; }
  [[nodiscard]] const SenderOptions& options() const { return options_; }

  /// Connects anew, sending part `part` over so many connections. Whoever was connected before has gone.
  void open(std::size_t part, std::size_t connections);
  void reopen() { open(part_, options_.connections); }
  /// Says End and waits until the server has read all.
  void finish();
  /// Is gone without an End, what was sent before excepted.
  void kill();

  /// A whole frame, in order. RuntimeFault, like send_shots(), where no sender is connected: then the run ends.
  void send_frame();
  /// The same with these samples.
  void send_frame(std::span<const std::byte> frame);
  /// Shots of the next frame over the first connection, in this order; the caller says what becomes of them.
  void send_shots(std::span<const std::size_t> transmits);
  /// The next frame's number.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  void go_on_with(std::uint64_t sequence) { sequence_ = sequence; }
  /// The samples of the next frame, and those of one of its shots.
  [[nodiscard]] std::span<const std::byte> samples();
  [[nodiscard]] std::span<const std::byte> shot_samples(std::size_t transmit);
  [[nodiscard]] Expectations& expectations() { return expectations_; }

 private:
  [[nodiscard]] AcquisitionSender& sender();

  std::vector<Part> parts_;
  SenderOptions options_;
  Expectations& expectations_;
  std::unique_ptr<AcquisitionSender> sender_;
  std::size_t part_ = 0;
  std::uint64_t sequence_ = 0;
};

class Traffic {
 public:
  Traffic(Stream stream, double rate, Verdict& verdict);
  ~Traffic();

  using Task = std::function<void(Stream&)>;
  /// Has `task` done between two frames and waits for it; the sending goes on afterwards. False if the run ended first. What goes
  /// wrong is a violation.
  bool perform(const Task& task);
  /// Says End, and waits until the server has read all.
  void finish();
  /// How much later than wanted it was woken for a frame at most since this was last asked: the machine's doing, not the
  /// server's.
  [[nodiscard]] std::chrono::nanoseconds take_lateness() { return std::chrono::nanoseconds(lateness_.exchange(0)); }

 private:
  void run(const std::stop_token& stop);

  Stream stream_;
  const std::chrono::nanoseconds interval_;
  Verdict& verdict_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  const Task* task_ = nullptr;
  bool ended_ = false;
  std::atomic<std::int64_t> lateness_{0};  // ns
  std::jthread thread_;
};

/// The configured simulator's frames; float32 from fewer elements; a half matrix packed to 12 bits. A
/// server has another plan for each. InputError where it cannot image one of them.
[[nodiscard]] std::vector<Part> make_parts(const Configuration& configuration);
inline constexpr std::size_t float_part = 1;
inline constexpr std::size_t packed_part = 2;

}  // namespace echoform::soak
