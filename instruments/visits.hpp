// What sources that connect to an instrument, over and over, have in common.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/wake_bell.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform {

struct VisitPauses {
  std::chrono::milliseconds first{500};  ///< before it is connected to again; twice as long each time in a row
  std::chrono::milliseconds longest{30000};
};

/// Visits the instrument until it is to stop, with pauses between. What a visit throws is said. One during which `frames` has
/// moved on is followed by the first pause again.
void visit_until_stopped(const VisitPauses& pauses, const WakeBell& bell, const std::atomic<bool>& stopping,
                         const std::function<std::uint64_t()>& frames, const std::function<void()>& visit,
                         const std::function<void(const std::string&)>& say);

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
