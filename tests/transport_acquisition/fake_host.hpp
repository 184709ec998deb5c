// A stream host that keeps frames in memory, and can be set to refuse, to discard and to block.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "pipeline/frame_intake.hpp"

namespace echoform::testing_support {

/// What test frames state: none, 0, and counts of either sign up to the greatest.
inline std::optional<EncoderCount> position_of(std::uint64_t sequence) {
  constexpr EncoderCount greatest = std::numeric_limits<EncoderCount>::max();
  const std::array<std::optional<EncoderCount>, 5> stated{std::nullopt, 0, -12'345, greatest, -greatest};
  return stated[sequence % stated.size()];
}

/// Frame `sequence` lives in slot sequence % slots, in memory made once.
class FakeIntake final : public FrameIntake {
 public:
  FakeIntake(Acquisition acquisition, std::size_t slots) : acquisition_(std::move(acquisition)), slots_(slots) {
    for (auto& slot : slots_) slot.samples.resize(acquisition_.frame_bytes());
  }

  const Acquisition& acquisition() const noexcept override { return acquisition_; }

  LaneId open_lane(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wakes_[next_lane_] = std::move(wake);
    return next_lane_++;
  }
  void close_lane(LaneId lane) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(wakes_.erase(lane), 1U);
    open_shots_.erase(lane);
  }

  ShotPlace begin_shot(LaneId lane, const ShotHeader& header, std::size_t payload_bytes) override {
    const std::lock_guard lock(mutex_);
    if (blocked_) {
      ++waits;
      return {.verdict = ShotVerdict::wait, .place = {}, .ticket = 0};
    }
    if (discarding) return {.verdict = ShotVerdict::discarded, .place = {}, .ticket = 0};
    const ByteRange bytes = FrameLayout(acquisition_).shot_bytes(header.transmit);
    EXPECT_EQ(bytes.count, payload_bytes);
    Slot& slot = slots_[header.sequence % slots_.size()];
    if (slot.sequence != header.sequence || !slot.used) {
      slot.used = true;
      slot.sequence = header.sequence;
      slot.shots = 0;
      slot.positions.clear();
      slot.transmits.clear();
    }
    if (!slot.transmits.insert(header.transmit).second) ++repeated;
    slot.time = header.acquisition_time;
    slot.positions.push_back(header.position);
    open_shots_.insert(lane);
    return {.verdict = ShotVerdict::accepted,
            .place = std::span(slot.samples).subspan(bytes.first, bytes.count),
            .ticket = header.sequence % slots_.size()};
  }
  void finish_shot(LaneId lane, std::uint64_t ticket) override {
    const std::lock_guard lock(mutex_);
    open_shots_.erase(lane);
    if (++slots_[ticket].shots == acquisition_.event_count()) ++frames;
  }
  void abandon_shot(LaneId lane, std::uint64_t /*ticket*/) override {
    const std::lock_guard lock(mutex_);
    open_shots_.erase(lane);
    ++abandoned;
  }
  void expire() override { ++expiries; }

  void block() {
    const std::lock_guard lock(mutex_);
    blocked_ = true;
  }
  void unblock() {
    std::vector<std::function<void()>> wakes;
    {
      const std::lock_guard lock(mutex_);
      blocked_ = false;
      for (const auto& [lane, wake] : wakes_) wakes.push_back(wake);
    }
    for (const auto& wake : wakes) wake();
  }
  [[nodiscard]] std::size_t lanes() const {
    const std::lock_guard lock(mutex_);
    return wakes_.size();
  }
  [[nodiscard]] std::size_t shots_open() const {
    const std::lock_guard lock(mutex_);
    return open_shots_.size();
  }
  [[nodiscard]] std::vector<std::byte> samples(std::uint64_t sequence) const {
    const std::lock_guard lock(mutex_);
    return slots_[sequence % slots_.size()].samples;
  }
  [[nodiscard]] WallTime time(std::uint64_t sequence) const {
    const std::lock_guard lock(mutex_);
    return slots_[sequence % slots_.size()].time;
  }
  /// What the frame's shots state, in the order in which they came.
  [[nodiscard]] std::vector<std::optional<EncoderCount>> positions(std::uint64_t sequence) const {
    const std::lock_guard lock(mutex_);
    return slots_[sequence % slots_.size()].positions;
  }

  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> abandoned{0};
  std::atomic<std::uint64_t> repeated{0};  // shots of the frame in a slot that had been there
  std::atomic<std::uint64_t> expiries{0};
  std::atomic<std::uint64_t> waits{0};
  std::atomic<bool> discarding{false};

 private:
  struct Slot {
    bool used = false;
    std::uint64_t sequence = 0;
    std::size_t shots = 0;
    WallTime time{0};
    std::vector<std::optional<EncoderCount>> positions;
    std::set<std::uint32_t> transmits;
    std::vector<std::byte> samples;
  };
  const Acquisition acquisition_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::map<LaneId, std::function<void()>> wakes_;
  std::multiset<LaneId> open_shots_;
  LaneId next_lane_ = 0;
  bool blocked_ = false;
};

class FakeHost final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override {
    const std::lock_guard lock(mutex_);
    if (single_sender && !intakes_.empty() && !intakes_.contains(session)) {
      throw InputError("stream: found a second sender; expected one at a time");
    }
    if (hidden_refusal) throw StreamRefused("/etc/server.toml: " + *hidden_refusal, "server.toml: " + *hidden_refusal);
    auto& intake = intakes_[session];
    if (!intake) intake = std::make_shared<FakeIntake>(acquisition, slots);
    return intake;
  }
  [[nodiscard]] bool is_busy_for(std::uint64_t session) const override {
    const std::lock_guard lock(mutex_);
    return busy && !intakes_.contains(session);
  }
  [[nodiscard]] std::shared_ptr<FakeIntake> intake(std::uint64_t session) const {
    const std::lock_guard lock(mutex_);
    const auto at = intakes_.find(session);
    return at == intakes_.end() ? nullptr : at->second;
  }

  std::size_t slots = 4;
  bool single_sender = false;
  bool busy = false;  ///< for every other session than those that are open
  std::optional<std::string> hidden_refusal;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<FakeIntake>> intakes_;
};

}  // namespace echoform::testing_support
