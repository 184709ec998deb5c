#include "methods/beams/aperture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "acquisition/probe_frame.hpp"
#include "base/planning.hpp"

namespace echoform {
namespace {

using Place = std::array<double, 2>;  // along the probe's x and across it, from the line's origin

/// Extent of the receivers along one of the two axes: their middle, and how far they reach to either side.
struct Extent {
  double middle = 0.0;
  double reach = 0.0;        // from the middle, with half a pitch
  double from_origin = 0.0;  // from the origin
};

Extent extent_of(const std::vector<Place>& places, std::size_t axis) {
  std::vector<double> along;
  for (const Place& place : places) along.push_back(place[axis]);
  std::ranges::sort(along);
  const double span = along.back() - along.front();
  std::size_t distinct = 1;
  for (std::size_t k = 1; k < along.size(); ++k) {
    if (along[k] - along[k - 1] > 1e-6 * span) ++distinct;
  }
  const double half_pitch = distinct > 1 ? 0.5 * span / static_cast<double>(distinct - 1) : 0.0;
  return {0.5 * (along.front() + along.back()), 0.5 * span + half_pitch,
          std::max(std::abs(along.front()), std::abs(along.back())) + half_pitch};
}

/// The values that determine the weights of a receiver, in nanometres: receivers with equal keys have equal weights.
using WeightKey = std::tuple<long, long, long, long>;
long rounded(double metres) {
  return std::lround(metres * 1e9);
}

}  // namespace

void weigh_receivers(LineSet& set, const Probe& probe, const Window& window, std::optional<double> f_number,
                     const std::function<void(double)>& may_take) {
  const ProbeFrame frame = frame_of(probe);
  const std::size_t ranges = set.ranges.count;
  std::map<WeightKey, std::uint32_t> tables;
  set.weights.clear();
  set.weight_tables.clear();
  // The weight at `place` of an aperture that reaches by `half` to either side of 0.
  const auto weight = [&](double place, double half) {
    if (!(std::abs(place) <= half)) return 0.0;
    return half > 0.0 ? window_at(window, 0.5 + 0.5 * place / half) : 1.0;
  };
  for (const ImageLine& line : set.lines) {
    keep_planning();
    const LineEvent& event = set.events[line.event];
    const Point origin = frame.to_probe(line.origin);
    std::vector<Place> places;
    for (const std::uint32_t element : event.receivers) {
      const Point at = frame.to_probe(set.elements[element]);
      const double x = (at.x - origin.x).value;
      places.push_back({std::copysign(std::hypot(x, (at.z - origin.z).value), x), (at.y - origin.y).value});
    }
    if (places.empty()) continue;
    const std::array<Extent, 2> extents{extent_of(places, 0), extent_of(places, 1)};
    for (std::size_t row = 0; row < places.size(); ++row) {
      if (probe.elements[event.receivers[row]].dead) {
        set.weight_tables.push_back(LineSet::unheard);
        continue;
      }
      const Place from{f_number ? places[row][0] : places[row][0] - extents[0].middle,
                       f_number ? places[row][1] : places[row][1] - extents[1].middle};
      const Place reach{f_number ? extents[0].from_origin : extents[0].reach,
                        f_number ? extents[1].from_origin : extents[1].reach};
      const WeightKey key{std::abs(rounded(from[0])), std::abs(rounded(from[1])), rounded(reach[0]), rounded(reach[1])};
      const auto [entry, fresh] = tables.emplace(key, static_cast<std::uint32_t>(tables.size()));
      set.weight_tables.push_back(entry->second);
      if (!fresh) continue;
      may_take(static_cast<double>((set.weights.size() + ranges) * sizeof(float)));
      for (std::size_t k = 0; k < ranges; ++k) {
        const double half = f_number ? set.ranges.at(k).value / (2.0 * *f_number) : std::max(reach[0], reach[1]);
        double w = 1.0;
        // Along an axis with a single row there is nothing to choose.
        for (std::size_t axis = 0; axis < 2; ++axis) {
          if (extents[axis].reach > 0.0) w *= weight(from[axis], std::min(half, reach[axis]));
        }
        set.weights.push_back(static_cast<float>(w));
      }
    }
  }
}

}  // namespace echoform
