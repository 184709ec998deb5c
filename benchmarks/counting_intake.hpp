// An intake that only counts: the minimum cost of any intake. Measurements of several sources share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/frame_intake.hpp"

namespace echoform::benchmarks {

/// Elements of the frames that are sent, and number of slots that take the frames in rotation.
inline constexpr std::size_t ingest_elements = 32;
inline constexpr std::size_t ingest_slots = 4;

/// Gives every shot its place in one of a few slots, and counts the shots.
class CountingIntake : public FrameIntake {
 public:
  CountingIntake(Acquisition acquisition, std::vector<std::byte>& memory)
      : acquisition_(std::move(acquisition)), memory_(memory) {}
  const Acquisition& acquisition() const noexcept override { return acquisition_; }
  LaneId open_lane(std::function<void()>) override { return lanes_++; }
  void close_lane(LaneId) override {}
  ShotPlace begin_shot(LaneId, const ShotHeader& header, std::size_t payload_bytes) override {
    const std::size_t shot = header.sequence % ingest_slots * acquisition_.event_count() + header.transmit;
    return {.verdict = ShotVerdict::accepted,
            .place = std::span(memory_).subspan(shot * payload_bytes, payload_bytes),
            .ticket = shot};
  }
  void finish_shot(LaneId, std::uint64_t) override { shots.fetch_add(1, std::memory_order_relaxed); }
  void abandon_shot(LaneId, std::uint64_t) override {}
  void expire() override {}

  std::atomic<std::uint64_t> shots{0};

 private:
  const Acquisition acquisition_;
  std::vector<std::byte>& memory_;
  std::atomic<LaneId> lanes_{0};
};

class CountingHost final : public StreamHost {
 public:
  explicit CountingHost(std::vector<std::byte>& memory) : memory_(memory) {}
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    if (!intake) intake = std::make_shared<CountingIntake>(acquisition, memory_);
    return intake;
  }
  std::shared_ptr<CountingIntake> intake;

 private:
  std::vector<std::byte>& memory_;
};

}  // namespace echoform::benchmarks
