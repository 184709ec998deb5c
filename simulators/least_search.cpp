#include "simulators/least_search.hpp"

#include <algorithm>
#include <limits>

#include "simulators/earliest_way.hpp"

namespace echoform::simulated {
namespace {

constexpr std::size_t places_a_curve = 5;
constexpr std::size_t middle = places_a_curve / 2;
constexpr int halvings = 10;
/// Steps that do not halve move on towards earlier times; from a sample near by only a few are needed.
constexpr int most_steps = 200;

/// Places on a curve: their parameters, the places, and the least time to each, with the place on the previous curve that gives
/// it.
struct Row {
  static constexpr std::array<std::size_t, places_a_curve> in_turn{0, 1, 2, 3, 4};

  std::array<double, places_a_curve> u{};
  std::array<Place, places_a_curve> at{};
  std::array<double, places_a_curve> time{};
  std::array<std::size_t, places_a_curve> before{};
};

using Rows = std::array<Row, most_curves>;

/// Spreads places about `at`, and computes the least time to each of them.
void reach(const Polyline& way, const Parameters& at, const Parameters& step, Rows& rows) {
  for (std::size_t k = 0; k < way.curves.size(); ++k) {
    const SampledCurve& curve = *way.curves[k];
    Row& row = rows[k];
    for (std::size_t j = 0; j < places_a_curve; ++j) {
      const double offset = (static_cast<double>(j) - static_cast<double>(middle)) * step[k];
      row.u[j] = std::clamp(at[k] + offset, curve.parameters().front(), curve.parameters().back());
      row.at[j] = curve.at(row.u[j]);
      row.time[j] = k == 0 ? distance(way.from, row.at[j]) * way.slowness[0]
                           : earliest(rows[k - 1], row.at[j], way.slowness[k], row.before[j]);
    }
  }
}

}  // namespace

std::vector<std::size_t> local_minima(const std::vector<double>& times) {
  std::vector<std::size_t> minima;
  for (std::size_t k = 1; k + 1 < times.size(); ++k) {
    if (times[k] <= times[k - 1] && times[k] < times[k + 1]) minima.push_back(k);
  }
  std::sort(minima.begin(), minima.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  return minima;
}

double narrow_down(const Polyline& way, Parameters& at, const Parameters& width) {
  const std::size_t count = way.curves.size();
  Parameters step = width;
  Rows rows;
  double least = std::numeric_limits<double>::infinity();
  int halved = 0;
  for (int steps = 0; steps < most_steps && halved <= halvings; ++steps) {
    reach(way, at, step, rows);
    std::size_t chosen = middle;
    least = earliest(rows[count - 1], way.to, way.slowness[count], chosen);
    bool within = true;
    for (std::size_t k = count; k-- > 0;) {
      // Beyond the outermost place there may be a still earlier one, unless the curve ends there.
      const auto& u = rows[k].u;
      within = within && (u[chosen] != u.front() || u.front() == u[1]) && (u[chosen] != u.back() || u.back() == u[3]);
      at[k] = u[chosen];
      chosen = rows[k].before[chosen];
    }
    if (!within) continue;
    for (double& one : step) one *= 0.5;
    ++halved;
  }
  return halved > halvings ? least : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace echoform::simulated
