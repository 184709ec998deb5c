#include "rays/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/errors.hpp"

namespace echoform {
namespace {

constexpr double gap_limit = 1e-6;
constexpr double least_length = 1e-9;
/// Tangents that differ by less count as one: about a hundredth of a degree.
constexpr double smooth_turn = 2e-4;
constexpr std::size_t most_nodes = 1u << 13;

std::string in_mm(Vector2 place) {
  return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * place.x, 1e3 * place.z);
}

double angle_between(Vector2 a, Vector2 b) {
  return std::atan2(cross(a, b), dot(a, b));
}

/// How far the tangent turns over a segment, all bends counted.
double total_turn(const Segment& segment) {
  if (segment.straight()) return 0.0;
  if (segment.kind == SegmentKind::arc) return std::abs(segment.turn);
  constexpr int steps = 32;
  double turn = 0.0;
  Vector2 before = segment.point(0.0).first;
  for (int k = 1; k <= steps; ++k) {
    const Vector2 now = segment.point(static_cast<double>(k) / steps).first;
    turn += std::abs(angle_between(before, now));
    before = now;
  }
  return turn;
}

/// Whether segments a-b and c-d cross inside of both.
bool segments_cross(Vector2 a, Vector2 b, Vector2 c, Vector2 d) {
  const double ac = cross(b - a, c - a);
  const double ad = cross(b - a, d - a);
  const double ca = cross(d - c, a - c);
  const double cb = cross(d - c, b - c);
  return ac * ad < 0.0 && ca * cb < 0.0;
}

bool finite(Vector2 v) {
  return std::isfinite(v.x) && std::isfinite(v.z);
}

}  // namespace

Surface::Surface(std::string name, std::vector<Segment> segments) : name_(std::move(name)), segments_(std::move(segments)) {
  if (segments_.empty()) throw InputError(name_, "no points", "at least one segment");
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& segment = segments_[k];
    const CurvePoint begin = segment.point(0.0);
    const CurvePoint middle = segment.point(0.5);
    const CurvePoint end = segment.point(1.0);
    if (!finite(begin.at) || !finite(middle.at) || !finite(end.at) || !finite(begin.first) || !finite(end.first)) {
      throw InputError(fmt::format("{}, segment {}", name_, k), "a number that is not finite", "finite coordinates");
    }
    if (length(middle.at - begin.at) + length(end.at - middle.at) < least_length) {
      throw InputError(fmt::format("{}, segment {}", name_, k), fmt::format("no length at {}", in_mm(begin.at)),
                       "points that differ");
    }
    if (k > 0) {
      const Vector2 before = segments_[k - 1].point(1.0).at;
      if (length(begin.at - before) > gap_limit) {
        throw InputError(fmt::format("{}, segment {}", name_, k),
                         fmt::format("a beginning at {} after an end at {}", in_mm(begin.at), in_mm(before)),
                         "segments that join");
      }
    }
  }
  closed_ = length(segments_.back().point(1.0).at - segments_.front().point(0.0).at) < gap_limit;
  const auto joins = [this](std::size_t k, std::size_t next) {
    return std::abs(angle_between(segments_[k].point(1.0).first, segments_[next].point(0.0).first)) < smooth_turn;
  };
  smooth_.resize(segments_.size(), false);
  for (std::size_t k = 0; k + 1 < segments_.size(); ++k) smooth_[k] = joins(k, k + 1);
  if (closed_) smooth_.back() = joins(segments_.size() - 1, 0);
  // A curve bent one way crosses itself only if it turns by more than half around.
  if (const double turned = find_nodes(); shadows_ || turned > 3.2) check_crossing();
}

Surface Surface::sampled(std::string name, std::vector<Vector2> points) {
  Surface surface;
  surface.name_ = std::move(name);
  surface.sampled_ = true;
  if (points.size() < 2) throw InputError(surface.name_, fmt::format("{} points", points.size()), "at least two");
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!finite(points[k])) {
      throw InputError(fmt::format("{}, point {}", surface.name_, k), "a number that is not finite", "finite coordinates");
    }
    if (k > 0) surface.segments_.push_back(line_segment(points[k - 1], points[k]));
    const bool last = k + 1 == points.size();
    surface.nodes_.push_back({{static_cast<std::uint32_t>(last ? k - 1 : k), last ? 1.0 : 0.0}, points[k], {}});
  }
  surface.smooth_.resize(surface.segments_.size(), false);
  surface.find_turns();
  return surface;
}

double Surface::find_nodes() {
  double whole = 0.0;
  for (const Segment& segment : segments_) whole += length(segment.point(1.0).at - segment.point(0.0).at);
  int left = 0;
  int right = 0;
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& segment = segments_[k];
    // By bends, and no longer than a 128th of the surface, so that the least time between two nodes has one minimum.
    const double chord = length(segment.point(1.0).at - segment.point(0.0).at);
    const double pieces = std::ceil(std::max({1.0, total_turn(segment) / node_turn, 128.0 * chord / std::max(whole, 1e-12)}));
    if (nodes_.size() + static_cast<std::size_t>(pieces) > most_nodes) {
      throw InputError(name_, "more bends than can be followed", "a smoother surface");
    }
    const auto count = static_cast<std::size_t>(pieces);
    for (std::size_t i = 0; i <= count; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(count);
      nodes_.push_back({{static_cast<std::uint32_t>(k), t}, segment.point(t).at, {}});
    }
  }
  find_tangents();
  find_turns();
  double turned = 0.0;
  Vector2 before;
  for (std::size_t k = 1; k < nodes_.size(); ++k) {
    const Vector2 now = nodes_[k].at - nodes_[k - 1].at;
    // Where segments join, two nodes are one place; the turn there counts all the same.
    if (length(now) < least_length) continue;
    const double turn = before == Vector2{} ? 0.0 : angle_between(before, now);
    before = now;
    turned += turn;
    if (turn > smooth_turn) ++right;
    if (turn < -smooth_turn) ++left;
  }
  // Bent one way and by no more than once around, a line meets it at most twice.
  shadows_ = (left > 0 && right > 0) || std::abs(turned) > 6.3;
  return std::abs(turned);
}

void Surface::find_tangents() {
  const auto unit = [&](SurfacePlace place) {
    const Vector2 first = point(place).first;
    return (1.0 / std::max(length(first), 1e-300)) * first;
  };
  const auto last = static_cast<std::uint32_t>(segments_.size() - 1);
  for (SurfaceNode& node : nodes_) {
    node.tangent = unit(node.place);
    const std::uint32_t segment = node.place.segment;
    const std::uint32_t before = segment == 0 ? last : segment - 1;
    SurfacePlace other;
    if (node.place.t == 1.0 && smooth_[segment]) {
      other = {segment == last ? 0 : segment + 1, 0.0};
    } else if (node.place.t == 0.0 && smooth_[before]) {
      other = {before, 1.0};
    } else {
      continue;
    }
    const Vector2 both = node.tangent + unit(other);
    node.tangent = (1.0 / length(both)) * both;
  }
}

void Surface::check_crossing() const {
  for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
    for (std::size_t j = i + 2; j + 1 < nodes_.size(); ++j) {
      // Neighbours share an end, and joints are listed twice.
      if (length(nodes_[j].at - nodes_[i + 1].at) < gap_limit || length(nodes_[j + 1].at - nodes_[i].at) < gap_limit) continue;
      if (!segments_cross(nodes_[i].at, nodes_[i + 1].at, nodes_[j].at, nodes_[j + 1].at)) continue;
      throw InputError(name_, fmt::format("a curve that crosses itself near {}", in_mm(nodes_[i].at)), "one that does not");
    }
  }
}

bool Surface::chord(std::size_t node) const {
  if (!sampled_ && nodes_[node].place.segment != nodes_[node + 1].place.segment) return false;
  return length(nodes_[node + 1].at - nodes_[node].at) >= least_length;
}

void Surface::find_turns() {
  const auto direction = [this](std::size_t k) {
    const Vector2 along = nodes_[k + 1].at - nodes_[k].at;
    return (1.0 / length(along)) * along;
  };
  for (std::size_t k = 0; k + 1 < nodes_.size(); ++k) {
    if (chord(k)) chords_.push_back(static_cast<std::uint32_t>(k));
  }
  turns_.assign(nodes_.size(), {});
  if (chords_.empty()) return;
  const bool around = length(nodes_.back().at - nodes_.front().at) < gap_limit;
  // Nodes that are one place have the chords before and after all of them.
  Vector2 before = around ? direction(chords_.back()) : Vector2{};
  Vector2 after = around ? direction(chords_.front()) : Vector2{};
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    turns_[k] = before;
    if (k + 1 < nodes_.size() && chord(k)) before = direction(k);
  }
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    if (k + 1 < nodes_.size() && chord(k)) after = direction(k);
    turns_[k] = turns_[k] + after;
  }
}

double Surface::signed_distance(Vector2 from) const {
  double best = std::numeric_limits<double>::infinity();
  std::size_t nearest = 0;
  double at = 0.0;
  for (const std::uint32_t k : chords_) {
    const Vector2 along = nodes_[k + 1].at - nodes_[k].at;
    const double t = std::clamp(dot(from - nodes_[k].at, along) / dot(along, along), 0.0, 1.0);
    const Vector2 way = from - (nodes_[k].at + t * along);
    const double distance = dot(way, way);
    if (distance < best) {
      best = distance;
      nearest = k;
      at = t;
    }
  }
  // Nearest to a node, each of its chords alone would tell a side, and where they turn by more than a right angle not the same
  // one. The sum of their directions tells it for any corner (Baerentzen and Aanaes 2005, IEEE Transactions on Visualization
  // and Computer Graphics 11, 243-253). At the ends of the surface it is the one chord's.
  const Vector2 a = nodes_[nearest].at;
  Vector2 along = nodes_[nearest + 1].at - a;
  const Vector2 way = from - (a + at * along);
  if (at == 0.0) along = turns_[nearest];
  if (at == 1.0) along = turns_[nearest + 1];
  return (cross(along, way) < 0.0 ? -1.0 : 1.0) * std::sqrt(best);
}

bool Surface::crosses(Vector2 from, Vector2 to) const {
  for (std::size_t k = 0; k + 1 < nodes_.size(); ++k) {
    if (crosses_chord(k, from, to)) return true;
  }
  return false;
}

bool Surface::crosses_chord(std::size_t node, Vector2 from, Vector2 to) const {
  const Vector2 a = nodes_[node].at;
  const Vector2 b = nodes_[node + 1].at;
  const Vector2 along = b - a;
  const double squared = dot(along, along);
  const auto near = [&](Vector2 place) {
    if (squared == 0.0) return true;
    const double t = std::clamp(dot(place - a, along) / squared, 0.0, 1.0);
    const Vector2 way = place - (a + t * along);
    return dot(way, way) < 0.02 * 0.02 * squared;
  };
  return segments_cross(from, to, a, b) && !near(from) && !near(to);
}

}  // namespace echoform
