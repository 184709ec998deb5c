// The search for turns of the time over a piece that lies near to a point: for host and device.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"
#include "rays/crossing_math.hpp"
#include "rays/near_turns.hpp"
#include "rays/piece_math.hpp"

namespace echoform::rays {

/// Keeps the last three slopes of a walk along the piece, and the turns.
class NearWalk {
 public:
  ECHOFORM_HOST_DEVICE NearWalk(const CurvePiece& piece, const CrossingEnds& ends) : piece_(piece), ends_(ends) {}

  ECHOFORM_HOST_DEVICE void step(double t) {
    const Slope now = at(t);
    if (steps_ >= 2) look_between(before_, last_, now);
    if (steps_ >= 1 && last_.value < 0.0 && !(now.value < 0.0)) add(last_.t, now.t);
    before_ = last_;
    last_ = now;
    ++steps_;
  }

  [[nodiscard]] ECHOFORM_HOST_DEVICE const NearTurns& turns() const { return turns_; }

 private:
  struct Slope {
    double t;
    double value;
  };

  [[nodiscard]] ECHOFORM_HOST_DEVICE Slope at(double t) const { return {t, crossing_at(piece_, ends_, t).slope}; }

  /// Where b comes nearer to 0 than its neighbours, on one side of it: whether the slope goes beyond 0 between them.
  ECHOFORM_HOST_DEVICE void look_between(Slope left, Slope b, Slope right) {
    const double sign = b.value < 0.0 ? -1.0 : 1.0;
    if (!(sign * left.value >= sign * b.value && sign * right.value >= sign * b.value)) return;
    double low = left.t;
    double high = right.t;
    for (int step = 0; step < 6; ++step) {
      // The lowest place of the parabola through three.
      const double p = (b.t - left.t) * (b.value - right.value);
      const double q = (b.t - right.t) * (b.value - left.value);
      const double lowest = b.t - 0.5 * ((b.t - left.t) * p - (b.t - right.t) * q) / (p - q);
      if (!(lowest > low && lowest < high) || lowest == b.t) return;
      const Slope found = at(lowest);
      if (sign * found.value < 0.0) {
        // Found beyond 0: the turn from below 0 lies behind it for a slope above, before it for one below.
        if (sign > 0.0) {
          add(found.t, found.t < b.t ? b.t : right.t);
        } else {
          add(found.t < b.t ? left.t : b.t, found.t);
        }
        return;
      }
      if (!(sign * found.value < sign * b.value)) return;
      (found.t < b.t ? right : left) = b;
      b = found;
      low = left.t;
      high = right.t;
    }
  }

  ECHOFORM_HOST_DEVICE void add(double low, double high) {
    if (turns_.count == NearTurns::most) return;
    turns_.low[turns_.count] = low;
    turns_.high[turns_.count] = high;
    ++turns_.count;
  }

  const CurvePiece& piece_;
  const CrossingEnds& ends_;
  Slope before_{};
  Slope last_{};
  int steps_ = 0;
  NearTurns turns_;
};

/// The next one of a walk's ways from the foot.
ECHOFORM_HOST_DEVICE double wider_way(double way) {
  constexpr double widening = 3.0;
  constexpr double widest = 0.2;
  const double wider = widening * way;
  const double further = way + widest;
  return further < wider ? further : wider;
}

/// near_turns() of near_turns.hpp.
ECHOFORM_HOST_DEVICE NearTurns find_near_turns(const CurvePiece& piece, const CrossingEnds& ends) {
  const double foot = nearest_on(piece, ends.point, 0.5);
  const CurvePoint place = place_of(piece, foot);
  const double pace = length(place.first);
  const double per_metre = 1.0 / (pace < 1e-300 ? 1e-300 : pace);
  const double away = length(ends.point - place.at);
  const double depth = (away < 1e-9 ? 1e-9 : away) * per_metre;
  constexpr int most_steps = 64;
  int count = 0;
  for (double way = 0.5 * depth; way < 1.0 && count < most_steps; way = wider_way(way)) ++count;
  // The walk goes from one end to the other, by ever smaller steps to the foot and ever larger ones away from it.
  NearWalk walk(piece, ends);
  for (int k = -count - 1; k <= count + 1; ++k) {
    const bool at_end = k < -count || k > count;
    double t = k < 0 ? -piece_overlap : 1.0 + piece_overlap;
    if (!at_end && k != 0) {
      // Reckoned anew each time: on the device a table of them would be memory of every thread.
      double way = 0.5 * depth;
      for (int n = 1; n < (k < 0 ? -k : k); ++n) way = wider_way(way);
      t = k < 0 ? foot - way : foot + way;
    } else if (k == 0) {
      t = foot;
    }
    if (at_end || ((k > 0 || t > 0.0) && (k < 0 || t < 1.0))) walk.step(t);
  }
  return walk.turns();
}

}  // namespace echoform::rays
