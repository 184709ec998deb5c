// The directions of the rays of a curve's search, and their leads.
#include <algorithm>
#include <bit>
#include <cmath>

#include "rays/curve_search.hpp"

namespace echoform::rays {

void CurveSearch::find_ways(std::size_t source, std::size_t point, const std::uint64_t* negative) {
  Ways& ways = ways_[(source - first_source_) * points_.size() + point];
  const Vector2 from = place_in_plane(rays_.sources[source]);
  const Vector2 to = place_in_plane(points_[point]);
  const auto& places = rays_.nodes.places;
  const auto time = [&](std::size_t node) {
    return rays_.before * length(places[node] - from) + rays_.after * length(to - places[node]);
  };
  const auto add_way = [&](std::size_t node, double least) {
    if (least < ways.least) {
      ways = {least, ways.least, node};
    } else {
      ways.next = std::min(ways.next, least);
    }
  };
  if ((negative[0] & 1U) == 0) add_way(places.size(), time(0));
  for (std::size_t word = 0; word < words(); ++word) {
    const std::uint64_t next = word + 1 < words() ? negative[word + 1] << 63U : 0;
    for (std::uint64_t turns = negative[word] & ~((negative[word] >> 1U) | next); turns != 0; turns &= turns - 1) {
      const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(turns));
      double falls = 0.0;
      if ((rays_.nodes.joined[word] >> (node % 64) & 1U) != 0) {
        const float* slopes = rays_.slopes.data() + source * 64 * words();
        const float* row = rows_.data() + (point - first_) * 64 * words();
        falls = std::max(rays_.before, rays_.after) * static_cast<double>(-(slopes[node] + row[node])) *
                length(places[node + 1] - places[node]);
      }
      add_way(node, time(node) - falls);
    }
  }
}

void CurveSearch::trace_ray(std::size_t k) {
  const Ways& ways = ways_[ray_[k]];
  RayTrace& trace = traces_[ray_[k]];
  trace.crossings[0] = crossing(k);
  trace.lead = (ways.node == node_[k] ? ways.next : ways.least) - batch_->seconds[k];
}

RayCrossing CurveSearch::crossing(std::size_t k) const {
  const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
  const SurfaceNode& from = rays_.surface.nodes()[node_[k]];
  const SurfaceNode& to = rays_.surface.nodes()[node_[k] + 1];
  const Vector2 chord = to.at - from.at;
  const double part = std::clamp(dot(at - from.at, chord) / std::max(dot(chord, chord), 1e-300), 0.0, 1.0);
  return {at, from.place.segment + from.place.t + part * (to.place.t - from.place.t)};
}

}  // namespace echoform::rays
