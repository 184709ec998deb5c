// The common part of sources that connect to an instrument again and again.
#pragma once

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/log_limit.hpp"
#include "base/wake_bell.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform {

struct VisitPauses {
  std::chrono::milliseconds first{500};  ///< before it is connected to again; twice as long each time in a row
  std::chrono::milliseconds longest{30000};
};

/// Calls `visit` until `stopping` is set, with pauses between the visits. Exceptions of a visit go to `say`. A visit during
/// which `frames` has grown is followed by the shortest pause again.
void visit_until_stopped(const VisitPauses& pauses, const WakeBell& bell, const std::atomic<bool>& stopping,
                         const std::function<std::uint64_t()>& frames, const std::function<void()>& visit,
                         const std::function<void(const std::exception&)>& say);

/// The thread of a source that visits an instrument, and its counters. `Base` is AcquisitionSource, or an interface derived
/// from it. Destructors of derived classes must call stop().
template <class Base>
class VisitingSource : public Base {
 public:
  /// `name` is the name of the source and of its thread, `owner` that of the bell.
  VisitingSource(std::string_view name, std::string_view owner, std::uint16_t port, const VisitPauses& pauses, const Clock& clock)
      : clock_(clock), bell_(owner), name_(name), port_(port), pauses_(pauses) {}
  VisitingSource(const VisitingSource&) = delete;
  VisitingSource& operator=(const VisitingSource&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint16_t port() const noexcept override { return port_; }
  [[nodiscard]] SourceCounters counters() const noexcept override { return counters_.read(); }
  [[nodiscard]] std::string last_rejection() const override { return counters_.last_rejection(); }

  void start(StreamHost& host) override {
    stopping_ = false;
    thread_ = std::thread([this, &host] {
      pthread_setname_np(pthread_self(), name_.c_str());
      visit_until_stopped(
          pauses_, bell_, stopping_, [this] { return frames(); }, [&] { visit(host); },
          [this](const std::exception& reason) { say(reason); });
    });
  }
  void stop() override {
    if (!thread_.joinable()) return;
    stopping_ = true;
    bell_.ring();
    thread_.join();
  }

 protected:
  /// One visit: connects, and works until the connection ends.
  virtual void visit(StreamHost& host) = 0;
  /// Number of frames received so far; it grows with each frame.
  [[nodiscard]] virtual std::uint64_t frames() const = 0;

  /// Into the log and telemetry.
  void say(const std::string& line) { say(line, line); }
  void say(const std::exception& reason) { say(reason.what(), line_for_others(reason)); }

 private:
  void say(const std::string& line, const std::string& for_others) {
    counters_.note_rejection(for_others);
    if (const auto left_out = lines_.admit(clock_.steady())) spdlog::warn("{}{}", line, left_out_text(*left_out));
  }

 protected:
  const Clock& clock_;
  const WakeBell bell_;
  LiveSourceCounters counters_;
  std::atomic<bool> stopping_{false};

 private:
  const std::string name_;
  const std::uint16_t port_;
  const VisitPauses pauses_;
  LogLimit lines_;
  std::thread thread_;
};

/// A lane that is open while it lives; the bell is rung where the intake has places again.
class OpenLane {
 public:
  OpenLane(FrameIntake& intake, const WakeBell& bell, LiveSourceCounters& counters)
      : intake_(intake), counters_(counters), id_(intake.open_lane([&bell] { bell.ring(); })) {
    counters_.open = 1;
  }
  ~OpenLane() {
    intake_.close_lane(id_);
    counters_.open = 0;
  }
  OpenLane(const OpenLane&) = delete;
  OpenLane& operator=(const OpenLane&) = delete;
  [[nodiscard]] LaneId id() const { return id_; }

 private:
  FrameIntake& intake_;
  LiveSourceCounters& counters_;
  LaneId id_;
};

}  // namespace echoform
