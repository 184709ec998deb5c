#include "stages/beamform/pixel_columns.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "base/planning.hpp"
#include "cpu/for_each_or_throw.hpp"
#include "stages/beamform/apodization.hpp"
#include "stages/beamform/law_checks.hpp"

namespace echoform::beamform {

std::size_t leg_columns_bytes(const Grid& grid, std::size_t sources) {
  return sources * (grid.pixels() * 2 * sizeof(float) + grid.x.count * grid.y.count * sizeof(double));
}

LegColumns make_leg_columns(const BeamformOptions& options, BeamformSide side, ThreadTeam& team) {
  const Leg& leg = side == BeamformSide::transmit ? *options.law.transmit : *options.law.receive;
  const Grid& grid = options.grid;
  const std::size_t columns = grid.x.count * grid.y.count;
  LegColumns all;
  all.sources = leg.sources();
  all.points = grid.z.count;
  all.base.resize(columns * all.sources);
  all.offset.resize(columns * all.sources * all.points);
  all.weight.resize(all.offset.size());
  const std::vector<double> window = source_window(options.aperture, side, all.sources);
  const double later = half_delay_offset(options);
  std::atomic<std::size_t> bad{0};
  std::atomic<std::size_t> far{0};
  for_each_or_throw(team, columns, 1, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<Point> points(all.points);
    std::vector<double> times(all.points);
    for (std::size_t column = first; column < last; ++column) {
      for (std::size_t k = 0; k < all.points; ++k) points[k] = grid.at(k * columns + column);
      for (std::size_t source = 0; source < all.sources; ++source) {
        const std::size_t entry = column * all.sources + source;
        const std::span<float> weights(all.weight.data() + entry * all.points, all.points);
        leg.travel_times(source, points, times);
        std::ranges::fill(weights, 1.0F);
        if (!window.empty()) element_weights(options.aperture, side, leg, source, window[source], points, weights);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < all.points; ++k) {
          if (std::isnan(times[k])) {
            weights[k] = 0.0F;
            continue;
          }
          if (!(std::abs(times[k]) < 1.0)) bad = source + 1;
          times[k] = times[k] * options.sample_rate.value + later;
          if (!(std::abs(times[k]) < delay_limit)) far = source + 1;
          least = std::min(least, times[k]);
        }
        all.base[entry] = std::isfinite(least) ? std::floor(least) : 0.0;
        for (std::size_t k = 0; k < all.points; ++k) {
          all.offset[entry * all.points + k] = weights[k] != 0.0F ? static_cast<float>(times[k] - all.base[entry]) : 0.0F;
        }
      }
    }
  });
  if (bad != 0) refuse_times(options.law, bad - 1);
  if (far != 0) refuse_distance(options.law, far - 1);
  return all;
}

}  // namespace echoform::beamform
