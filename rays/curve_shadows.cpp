// Decides which places of a curve's search are rays: those out of shadows and, out of the plane, those that keep to their
// segment.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "rays/curve_search.hpp"

namespace echoform::rays {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void CurveSearch::ask_solver() {
  for (std::size_t row = 0; row < unsure_.size(); row += points_.size()) {
    std::unique_ptr<RaySolver> solver;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      if (unsure_[row + k] == 0) continue;
      if (solver == nullptr)
        solver = std::make_unique<RaySolver>(rays_.path, rays_.sources[first_source_ + row / points_.size()]);
      const double time = solver->time_to(points_[k]);
      double& least = seconds_[row + k];
      if (!(least <= time)) least = std::isnan(time) ? least : time;
    }
  }
}

void CurveSearch::check_across() {
  constexpr double same = 1e-6;  // m
  for (std::size_t k = 0; k < batch_->count; ++k) {
    const std::size_t ray = ray_[k];
    if (ray != told_ray_) told_.clear();
    told_ray_ = ray;
    const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
    const bool twice = std::any_of(told_.begin(), told_.end(), [&](Vector2 other) { return length(at - other) < same; });
    told_.push_back(at);
    const bool touches = rays_.touches[first_source_ + ray / points_.size()] != 0;
    if (!(batch_->seconds[k] > 0.0) || !keeps_to_segment(k)) batch_->seconds[k] = none;
    if (std::isnan(batch_->seconds[k]) || touches || twice) unsure_[ray] = 1;
  }
}

bool CurveSearch::keeps_to_segment(std::size_t k) {
  const double t = batch_->found_t[k];
  own_[k] = node_[k];
  if (t >= 0.0 && t <= 1.0) return true;
  const SurfacePlace place = rays_.surface.place_on_piece(node_[k], t);
  if (!(place.t >= 0.0 && place.t <= 1.0)) return false;
  const auto& nodes = rays_.surface.nodes();
  std::size_t node = node_[k];
  while (nodes[node].place.t > place.t) --node;
  while (nodes[node + 1].place.t < place.t) ++node;
  own_[k] = node;
  return true;
}

bool CurveSearch::in_shadow(std::size_t k) const {
  const Vector2 from = rays_.beginnings[first_source_ + ray_[k] / points_.size()];
  const Vector2 to{batch_->point_x[k], batch_->point_z[k]};
  const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
  const std::size_t own = across_ ? own_[k] : node_[k];
  if (!comes_near(from, at, own) && !comes_near(to, at, own)) return false;
  // A shadow depends on the exact place; the time does not.
  const CurvePiece& piece = rays_.nodes.pieces[node_[k]];
  const Vector2 source{batch_->source_x[k], batch_->source_z[k]};
  const double found = batch_->found_t[k];
  const double t = across_ ? found : place_crossing(piece, {source, to, rays_.before, rays_.after}, found);
  const Vector2 there = point_of(piece, t).at;
  const SurfacePlace place = rays_.surface.place_on_piece(node_[k], across_ ? t : std::clamp(t, 0.0, 1.0));
  return rays_.surface.crosses(from, there, nullptr, &place) || rays_.surface.crosses(to, there, nullptr, &place);
}

bool CurveSearch::comes_near(Vector2 from, Vector2 at, std::size_t own) const {
  const CurveNodes& nodes = rays_.nodes;
  const Vector2 along = at - from;
  if (rays_.surface.meets_once(along)) return false;
  const double far = length(along);
  const double rises = std::abs(cross(along, nodes.places[own + 1] - nodes.places[own]));
  if (!(rises > steepest_over_sag * far * rays_.surface.sag(own))) return true;
  const CurveBox way = box_of_way(from, along, nodes.box);
  const Vector2 begin = from - nodes.middle;
  // Single precision rounds places to 6e-8 of their distance from the middle, and products likewise. Found places are off by less
  // than 1e-6 of the shorter leg: Newton's last step was at most 1e-3 of it, and the error is of the order of the step's square.
  const auto margin = static_cast<float>(far * (nodes.sag + 5e-7 * (length(begin) + nodes.reach) + 1e-5 * far));
  for (std::size_t word = 0; word < words(); ++word) {
    if (!way.meets(nodes.boxes[word])) continue;
    std::uint64_t near =
        rays_.kernels.parted(nodes.row(nodes.x, nodes.z), word, static_cast<float>(begin.x), static_cast<float>(begin.z),
                             static_cast<float>(along.x), static_cast<float>(along.z), margin) &
        nodes.joined[word];
    if (own / 64 == word) near &= ~(std::uint64_t{1} << (own % 64));
    for (; near != 0; near &= near - 1) {
      // The infinite line through the path may meet the piece beyond the ends of the path.
      const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(near));
      const double a = dot(nodes.places[node] - from, along);
      const double b = dot(nodes.places[node + 1] - from, along);
      const double slack = 2.0 * static_cast<double>(margin);
      if (std::max(a, b) > -slack && std::min(a, b) < far * far + slack) return true;
    }
  }
  return false;
}

}  // namespace echoform::rays
