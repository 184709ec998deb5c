#include "rays/curve_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "rays/near_turns.hpp"

namespace echoform::rays {

CurveSearch::CurveSearch(const CurveRays& rays, std::span<const Point> points, std::span<double> seconds,
                         std::span<RayTrace> traces, std::size_t first_source)
    : rays_(rays),
      points_(points),
      seconds_(seconds),
      traces_(traces),
      ways_(traces.size()),
      first_source_(first_source),
      x_(64 * words()),
      z_(64 * words()),
      rows_(scanned_points * 64 * words()),
      negative_(scanned_points * words()),
      batch_(std::make_unique<CrossingBatch>()),
      unsure_(traces.empty() ? seconds.size() : 0) {
  const CrossingSides sides = rays.sides();
  batch_->before = rays.before;
  batch_->after = rays.after;
  batch_->source_side = sides.source;
  batch_->point_side = sides.point;
}

[[gnu::always_inline]] inline void CurveSearch::add(std::size_t source, std::size_t point, std::size_t node, double start) {
  const double across = traces_.empty() ? points_[point].y.value - rays_.sources[source].y.value : 0.0;
  if ((across != 0.0) != across_) {
    finish();
    across_ = across != 0.0;
  }
  CrossingBatch& batch = *batch_;
  const std::size_t k = batch.count;
  const CurvePiece& piece = rays_.nodes.pieces[node];
  batch.at_x[k] = piece.at.x;
  batch.at_z[k] = piece.at.z;
  batch.b_x[k] = piece.b.x;
  batch.b_z[k] = piece.b.z;
  batch.c_x[k] = piece.c.x;
  batch.c_z[k] = piece.c.z;
  batch.d_x[k] = piece.d.x;
  batch.d_z[k] = piece.d.z;
  batch.q[k] = piece.q;
  const Vector2 from = place_in_plane(rays_.sources[source]);
  batch.source_x[k] = from.x;
  batch.source_z[k] = from.z;
  const Vector2 to = place_in_plane(points_[point]);
  batch.point_x[k] = to.x;
  batch.point_z[k] = to.z;
  batch.start[k] = start;
  batch.across[k] = across;
  node_[k] = node;
  ray_[k] = (source - first_source_) * points_.size() + point;
  if (++batch.count == CrossingBatch::capacity) finish();
}

void CurveSearch::take_points(std::size_t first, std::size_t last) {
  first_ = first;
  last_ = last;
  const Vector2 origin = place_in_plane(points_[first]);
  rays_.nodes.center(origin, x_, z_);
  for (std::size_t point = first; point < last; ++point) {
    const Vector2 at = place_in_plane(points_[point]) - origin;
    rays_.kernels.node_slopes(rays_.nodes.row(x_, z_), rays_.after_slope, static_cast<float>(at.x), static_cast<float>(at.z),
                              rows_.data() + (point - first) * 64 * words());
    find_near(point);
  }
}

void CurveSearch::scan(std::size_t source) {
  const std::size_t count = words();
  const std::uint64_t* const joined = rays_.nodes.joined.data();
  const float* const slopes = rays_.slopes.data() + source * 64 * count;
  rays_.kernels.scan(slopes, rows_.data(), count, negative_.data());
  for (std::size_t point = first_; point < last_; ++point) {
    const std::uint64_t* const negative = negative_.data() + (point - first_) * count;
    if (!traces_.empty()) find_ways(source, point, negative);
    std::uint64_t here = negative[0];
    for (std::size_t word = 0; word < count; ++word) {
      const std::uint64_t after = word + 1 < count ? negative[word + 1] : 0;
      std::uint64_t turns = here & ~((here >> 1U) | (after << 63U)) & joined[word];
      here = after;
      for (; turns != 0; turns &= turns - 1) {
        const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(turns));
        add_turn(source, point, slopes, node);
      }
    }
    if (!near_[point - first_].empty()) add_near(source, point);
  }
}

void CurveSearch::finish() {
  if (across_) {
    rays_.kernels.across(*batch_);
    check_across();
  } else {
    (rays_.touching ? rays_.kernels.touching_crossings : rays_.kernels.crossings)(*batch_);
  }
  for (std::size_t k = 0; k < batch_->count; ++k) {
    double& least = seconds_[ray_[k]];
    const double time = batch_->seconds[k];
    if (!(std::isnan(least) ? time > 0.0 : time < least)) continue;
    if (rays_.surface.shadows() && in_shadow(k)) continue;
    least = time;
    if (!traces_.empty()) trace_ray(k);
  }
  batch_->count = 0;
}

void CurveSearch::find_near(std::size_t point) {
  std::vector<std::size_t>& near = near_[point - first_];
  near.clear();
  const Surface& surface = rays_.surface;
  if (!surface.shadows()) return;
  const CurveNodes& nodes = rays_.nodes;
  const Vector2 at = place_in_plane(points_[point]);
  const double reach = near_piece * surface.longest_chord();
  for (std::size_t word = 0; word < words(); ++word) {
    CurveBox around;
    around.hold(at);
    around.widen(reach);
    if (!around.meets(nodes.boxes[word])) continue;
    const std::size_t end = std::min(nodes.places.size() - 1, 64 * (word + 1));
    for (std::size_t node = 64 * word; node < end; ++node) {
      const bool joined = (nodes.joined[word] >> (node % 64) & 1U) != 0;
      if (joined && lies_near(at, nodes.places[node], nodes.places[node + 1])) near.push_back(node);
    }
  }
}

void CurveSearch::add_near(std::size_t source, std::size_t point) {
  for (const std::size_t node : near_[point - first_]) add_near(source, point, node);
}

void CurveSearch::add_near(std::size_t source, std::size_t point, std::size_t node) {
  const CrossingEnds ends{place_in_plane(rays_.sources[source]), place_in_plane(points_[point]), rays_.before, rays_.after};
  const CurvePiece& piece = rays_.nodes.pieces[node];
  const NearTurns turns = near_turns(piece, ends);
  for (std::size_t k = 0; k < turns.count; ++k) {
    const double middle = 0.5 * (turns.low[k] + turns.high[k]);
    const FoundCrossing found =
        find_crossing_between(piece, ends, rays_.sides(), turns.low[k], turns.high[k], middle, most_crossing_steps);
    add(source, point, node, found.t);
  }
}

void CurveSearch::add_turn(std::size_t source, std::size_t point, const float* slopes, std::size_t node) {
  const std::vector<std::size_t>& near = near_[point - first_];
  if (std::find(near.begin(), near.end(), node) != near.end()) return;
  const float* row = rows_.data() + (point - first_) * 64 * words();
  const float low = slopes[node] + row[node];
  const float high = slopes[node + 1] + row[node + 1];
  add(source, point, node, static_cast<double>(low / (low - high)));
}

}  // namespace echoform::rays
