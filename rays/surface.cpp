#include "rays/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "base/errors.hpp"
#include "rays/piece_math.hpp"

namespace echoform {
namespace {

constexpr double gap_limit = 1e-6;
constexpr double least_length = 1e-9;
/// Tangents that differ by less count as equal: about a hundredth of a degree.
constexpr double smooth_turn = 2e-4;
/// A surface that bends to both sides by more than this casts shadows. Flatter bends are rounding of its points.
constexpr double shadow_turn = 1e-5;
constexpr std::uint32_t group_size = 16;
constexpr std::size_t most_nodes = 1u << 13;

std::string in_mm(Vector2 place) {
  return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * place.x, 1e3 * place.z);
}

double angle_between(Vector2 a, Vector2 b) {
  return std::atan2(cross(a, b), dot(a, b));
}

/// The angle by which the tangent rotates over a segment, as the sum over all bends.
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

/// The nearest place within one line or arc, where a formula gives it; nothing beyond the ends, and nothing near the middle of a
/// circle.
std::optional<SurfaceFoot> foot_within(const Segment& segment, Vector2 from) {
  // The middle of an arc of a huge circle is too far away to separate its places.
  constexpr double largest = 10.0;  // m
  if (segment.straight()) {
    const double t = dot(from - segment.a, segment.b) / dot(segment.b, segment.b);
    if (!(t > 0.0 && t < 1.0)) return std::nullopt;
    return SurfaceFoot{{0, t}, segment.a + t * segment.b, cross(segment.b, from - segment.a) / length(segment.b)};
  }
  if (segment.kind != SegmentKind::arc || segment.radius > largest) return std::nullopt;
  const Vector2 out = from - segment.a;
  const double far = length(out);
  if (!(far > 1e-6 * segment.radius)) return std::nullopt;
  constexpr double around = 2.0 * std::numbers::pi;
  const double turned = (std::atan2(out.z, out.x) - segment.from) * (segment.turn > 0.0 ? 1.0 : -1.0);
  const double t = (turned - around * std::floor(turned / around)) / std::abs(segment.turn);
  if (!(t > 0.0 && t < 1.0)) return std::nullopt;
  return SurfaceFoot{
      {0, t}, segment.a + (segment.radius / far) * out, segment.turn > 0.0 ? segment.radius - far : far - segment.radius};
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
  // A curve that bends to one side crosses itself only if it rotates by more than half a revolution.
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
  surface.find_pieces();
  surface.find_turns();
  return surface;
}

double Surface::find_nodes() {
  double whole = 0.0;
  for (const Segment& segment : segments_) whole += length(segment.point(1.0).at - segment.point(0.0).at);
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& segment = segments_[k];
    // The number follows from the bends, and no piece is longer than a 128th of the surface, so that the time between two nodes
    // has one minimum.
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
  find_pieces();
  find_turns();
  find_directions();
  double left = 0.0;
  double right = 0.0;
  Vector2 before;
  for (std::size_t k = 1; k < nodes_.size(); ++k) {
    const Vector2 now = nodes_[k].at - nodes_[k - 1].at;
    // Where segments join, two nodes are one place; the angle there counts all the same.
    if (length(now) < least_length) continue;
    const double turn = before == Vector2{} ? 0.0 : angle_between(before, now);
    before = now;
    (turn > 0.0 ? right : left) += std::abs(turn);
  }
  // A line meets a surface at most twice if it bends to one side and by no more than one revolution.
  const double turned = std::abs(right - left);
  shadows_ = (left > shadow_turn && right > shadow_turn) || turned > 6.3;
  return turned;
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

void Surface::find_pieces() {
  pieces_.resize(nodes_.size());
  sags_.assign(nodes_.size(), 0.0);
  for (std::size_t k = 0; k + 1 < nodes_.size(); ++k) {
    if (!chord(k)) continue;
    const Vector2 along = nodes_[k + 1].at - nodes_[k].at;
    const SurfacePlace from = nodes_[k].place;
    rays::CurvePiece& piece = pieces_[k];
    if (sampled_) {
      piece = rays::piece_of(line_segment(nodes_[k].at, nodes_[k + 1].at), 0.0, 1.0);
    } else {
      const Segment& segment = segments_[from.segment];
      piece = rays::piece_of(segment, from.t, nodes_[k + 1].place.t);
      // The curve lies within the polygon of its four control points.
      const Vector2 second = (1.0 / 3.0) * piece.b;
      const Vector2 third = (1.0 / 3.0) * (2.0 * piece.b + piece.c);
      if (!segment.straight()) sags_[k] = std::max(std::abs(cross(along, second)), std::abs(cross(along, third))) / length(along);
    }
    longest_chord_ = std::max(longest_chord_, length(along));
    if (chords_.size() % group_size == 0) {
      const auto first = static_cast<std::uint32_t>(chords_.size());
      groups_.push_back({first, first, nodes_[k].at, nodes_[k].at});
    }
    chords_.push_back({nodes_[k].at, along, sags_[k], static_cast<std::uint32_t>(k)});
    Group& group = groups_.back();
    ++group.last;
    for (const Vector2 at : {nodes_[k].at, nodes_[k + 1].at}) {
      group.low = {std::min(group.low.x, at.x - sags_[k]), std::min(group.low.z, at.z - sags_[k])};
      group.high = {std::max(group.high.x, at.x + sags_[k]), std::max(group.high.z, at.z + sags_[k])};
    }
  }
}

void Surface::find_turns() {
  const auto direction = [this](std::size_t piece, std::size_t node) {
    if (!sampled_) return nodes_[node].tangent;
    const Vector2 along = nodes_[piece + 1].at - nodes_[piece].at;
    return (1.0 / length(along)) * along;
  };
  turns_.assign(nodes_.size(), {});
  if (chords_.empty()) return;
  const bool around = length(nodes_.back().at - nodes_.front().at) < gap_limit;
  // Nodes that coincide share the pieces before and after all of them.
  Vector2 before = around ? direction(chords_.back().node, chords_.back().node + 1) : Vector2{};
  Vector2 after = around ? direction(chords_.front().node, chords_.front().node) : Vector2{};
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    turns_[k] = before;
    if (k + 1 < nodes_.size() && chord(k)) before = direction(k, k + 1);
  }
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    if (k + 1 < nodes_.size() && chord(k)) after = direction(k, k);
    turns_[k] = turns_[k] + after;
  }
}

void Surface::find_directions() {
  double angle = 0.0;
  double least = 0.0;
  double greatest = 0.0;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (k > 0) angle += angle_between(nodes_[k - 1].tangent, nodes_[k].tangent);
    // Between nodes a cubic's direction may go beyond the directions at them, and back.
    const double sag = std::max(sags_[k], k > 0 ? sags_[k - 1] : 0.0);
    const double chord = std::min(k > 0 && sags_[k - 1] > 0.0 ? length(nodes_[k].at - nodes_[k - 1].at) : 1e300,
                                  k + 1 < nodes_.size() && sags_[k] > 0.0 ? length(nodes_[k + 1].at - nodes_[k].at) : 1e300);
    const double beyond = 1e-6 + steepest_over_sag * sag / chord;
    least = std::min(least, angle - beyond);
    greatest = std::max(greatest, angle + beyond);
  }
  directions_.narrow = greatest - least < 3.1;
  const Vector2 begin = nodes_.front().tangent;
  const auto turned = [begin](double by) {
    return Vector2{begin.x * std::cos(by) - begin.z * std::sin(by), begin.x * std::sin(by) + begin.z * std::cos(by)};
  };
  directions_.least = turned(least);
  directions_.greatest = turned(greatest);
}

double Surface::Chord::part_at(Vector2 place) const {
  return std::clamp(dot(place - from, along) / dot(along, along), 0.0, 1.0);
}

double Surface::Chord::squared_distance(Vector2 place) const {
  const Vector2 way = place - (from + part_at(place) * along);
  return dot(way, way);
}

void Surface::look_at(const Chord& chord, Vector2 from, Nearest& nearest) const {
  const double reach = nearest.distance + chord.sag;
  double squared = chord.squared_distance(from);
  if (!(squared < reach * reach)) return;
  double t = chord.part_at(from);
  CurvePoint place{chord.from + t * chord.along, chord.along, {}};
  if (chord.sag > 0.0) {
    t = rays::nearest_place(pieces_[chord.node], from, t);
    place = rays::point_of(pieces_[chord.node], t);
    squared = dot(from - place.at, from - place.at);
    if (!(squared < nearest.squared)) return;
  }
  nearest = {std::sqrt(squared), squared, chord.node, t, place.at, place.first};
}

SurfaceFoot Surface::foot(Vector2 from) const {
  if (!sampled_ && segments_.size() == 1) {
    if (const auto found = foot_within(segments_.front(), from)) return *found;
  }
  const auto squared_distance = [from](const Group& group) {
    const double x = std::max({group.low.x - from.x, from.x - group.high.x, 0.0});
    const double z = std::max({group.low.z - from.z, from.z - group.high.z, 0.0});
    return x * x + z * z;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (chords_.empty()) return {{}, nodes_.front().at, infinity};  // all points coincide
  // Starting with the nearest chord of the nearest box, most other chords can be skipped.
  const auto nearer = [&](const auto& a, const auto& b) { return squared_distance(a) < squared_distance(b); };
  const Group& group = *std::min_element(groups_.begin(), groups_.end(), nearer);
  std::uint32_t first = group.first;
  double least = infinity;
  for (std::uint32_t k = group.first; k < group.last; ++k) {
    const double squared = chords_[k].squared_distance(from);
    if (!(squared < least)) continue;
    least = squared;
    first = k;
  }
  Nearest nearest{infinity, infinity, 0, 0.0, {}, {}};
  look_at(chords_[first], from, nearest);
  for (const Group& other : groups_) {
    if (!(squared_distance(other) < nearest.squared)) continue;
    for (std::uint32_t k = other.first; k < other.last; ++k) {
      if (k != first) look_at(chords_[k], from, nearest);
    }
  }
  // If a node is nearest, each of its pieces alone would give a side, and not the same one where they meet at more than a right
  // angle. The sum of their directions gives the side for any corner (Baerentzen and Aanaes 2005, IEEE Transactions on
  // Visualization and Computer Graphics 11, 243-253). At the ends of the surface the direction is that of the one piece.
  Vector2 along = nearest.along;
  if (nearest.t == 0.0) along = turns_[nearest.node];
  if (nearest.t == 1.0) along = turns_[nearest.node + 1];
  const double side = cross(along, from - nearest.at) < 0.0 ? -1.0 : 1.0;
  return {place_on_piece(nearest.node, nearest.t), nearest.at, side * nearest.distance};
}

SurfacePlace Surface::place_on_piece(std::size_t node, double t) const {
  const SurfacePlace from = nodes_[node].place;
  if (sampled_) return {from.segment, t};
  const Segment& segment = segments_[from.segment];
  const double step = nodes_[node + 1].place.t - from.t;
  // Pieces of arcs are parametrized by the tangent of half of the angle.
  if (segment.kind != SegmentKind::arc) return {from.segment, from.t + t * step};
  return {from.segment, from.t + 2.0 * std::atan(t * std::tan(0.5 * step * segment.turn)) / segment.turn};
}

rays::PieceReach Surface::segment_on_piece(std::size_t node) const {
  const SurfacePlace from = nodes_[node].place;
  const Segment& segment = segments_[from.segment];
  const double step = nodes_[node + 1].place.t - from.t;
  if (sampled_) return {0.0, 1.0};
  if (segment.kind != SegmentKind::arc) return {-from.t / step, (1.0 - from.t) / step};
  // No t leads to places half a revolution away or further.
  const double half = 0.5 * std::abs(segment.turn);
  const double scale = std::tan(half * step);
  const auto reach = [&](double part) {
    return half * part < 0.5 * std::numbers::pi ? std::tan(half * part) / scale : std::numeric_limits<double>::infinity();
  };
  return {-reach(from.t), reach(1.0 - from.t)};
}

double Surface::t_on_piece(const SurfacePlace* place, std::size_t node) const {
  const SurfacePlace from = nodes_[node].place;
  const SurfacePlace to = nodes_[node + 1].place;
  if (place == nullptr || place->segment != from.segment || !(place->t >= from.t && place->t <= to.t)) return rays::not_on_piece;
  const Segment& segment = segments_[from.segment];
  if (segment.kind != SegmentKind::arc) return (place->t - from.t) / (to.t - from.t);
  return std::tan(0.5 * (place->t - from.t) * segment.turn) / std::tan(0.5 * (to.t - from.t) * segment.turn);
}

bool Surface::crosses(Vector2 from, Vector2 to, const SurfacePlace* from_place, const SurfacePlace* to_place) const {
  const Vector2 low{std::min(from.x, to.x), std::min(from.z, to.z)};
  const Vector2 high{std::max(from.x, to.x), std::max(from.z, to.z)};
  for (const Group& group : groups_) {
    if (group.low.x > high.x || group.high.x < low.x || group.low.z > high.z || group.high.z < low.z) continue;
    for (std::uint32_t k = group.first; k < group.last; ++k) {
      const std::uint32_t node = chords_[k].node;
      if (crosses_piece(node, {from, to, t_on_piece(from_place, node), t_on_piece(to_place, node)})) return true;
    }
  }
  return false;
}

bool Surface::crosses_piece(std::size_t node, const rays::WayOverPiece& way) const {
  return rays::way_crosses(pieces_[node], nodes_[node].at, nodes_[node + 1].at, sags_[node], way);
}

}  // namespace echoform
