#include "rays/near_turns.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::rays {
namespace {

struct Slope {
  double t;
  double value;
};

/// Keeps the last three slopes of a walk along the piece, and the turns.
class Walk {
 public:
  Walk(const CurvePiece& piece, const CrossingEnds& ends) : piece_(piece), ends_(ends) {}

  void step(double t) {
    const Slope now = at(t);
    if (steps_ >= 2) look_between(last_[0], last_[1], now);
    if (steps_ >= 1 && last_[1].value < 0.0 && !(now.value < 0.0)) add(last_[1].t, now.t);
    last_ = {last_[1], now};
    ++steps_;
  }

  [[nodiscard]] const NearTurns& turns() const { return turns_; }

 private:
  [[nodiscard]] Slope at(double t) const { return {t, crossing_at(piece_, ends_, t).slope}; }

  /// Where b comes nearer to 0 than its neighbours, on one side of it: whether the slope goes beyond 0 between them.
  void look_between(const Slope& a, Slope b, const Slope& c) {
    const double sign = b.value < 0.0 ? -1.0 : 1.0;
    if (!(sign * a.value >= sign * b.value && sign * c.value >= sign * b.value)) return;
    double low = a.t;
    double high = c.t;
    Slope left = a;
    Slope right = c;
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

  void add(double low, double high) {
    if (turns_.count == NearTurns::most) return;
    turns_.low[turns_.count] = low;
    turns_.high[turns_.count] = high;
    ++turns_.count;
  }

  const CurvePiece& piece_;
  const CrossingEnds& ends_;
  std::array<Slope, 2> last_{};
  int steps_ = 0;
  NearTurns turns_;
};

}  // namespace

bool lies_near(Vector2 point, Vector2 from, Vector2 to) {
  const Vector2 along = to - from;
  const double squared = dot(along, along);
  const Vector2 way = point - from;
  const double limit = near_piece * squared;
  const double part = dot(way, along);
  return std::abs(cross(along, way)) < limit && part > -limit && part < squared + limit;
}

NearTurns near_turns(const CurvePiece& piece, const CrossingEnds& ends) {
  const double foot = nearest_place(piece, ends.point, 0.5);
  const CurvePoint place = point_of(piece, foot);
  const double per_metre = 1.0 / std::max(length(place.first), 1e-300);
  const double depth = std::max(length(ends.point - place.at), 1e-9) * per_metre;
  constexpr double widening = 3.0;
  constexpr double widest = 0.2;
  constexpr std::size_t most_steps = 64;
  std::array<double, most_steps> ways{};
  std::size_t count = 0;
  for (double way = 0.5 * depth; way < 1.0 && count < most_steps; way = std::min(widening * way, way + widest))
    ways[count++] = way;
  Walk walk(piece, ends);
  walk.step(-piece_overlap);
  for (std::size_t k = count; k-- > 0;) {
    if (foot - ways[k] > 0.0) walk.step(foot - ways[k]);
  }
  if (foot > 0.0 && foot < 1.0) walk.step(foot);
  for (std::size_t k = 0; k < count; ++k) {
    if (foot + ways[k] < 1.0) walk.step(foot + ways[k]);
  }
  walk.step(1.0 + piece_overlap);
  return walk.turns();
}

}  // namespace echoform::rays
