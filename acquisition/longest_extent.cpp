#include "acquisition/longest_extent.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

namespace echoform {
namespace {

/// Places form a line if their extent along it is this many times the extent across it.
constexpr double line_length_per_width = 1000.0;

}  // namespace

LongestExtent longest_extent(std::span<const double> u, std::span<const double> v) {
  const double share = 1.0 / static_cast<double>(u.size());
  const double mean_u = share * std::accumulate(u.begin(), u.end(), 0.0);
  const double mean_v = share * std::accumulate(v.begin(), v.end(), 0.0);
  double uu = 0.0;
  double uv = 0.0;
  double vv = 0.0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    uu += (u[k] - mean_u) * (u[k] - mean_u);
    uv += (u[k] - mean_u) * (v[k] - mean_v);
    vv += (v[k] - mean_v) * (v[k] - mean_v);
  }
  const double angle = 0.5 * std::atan2(2.0 * uv, uu - vv);
  const double middle = 0.5 * (uu + vv);
  const double half = std::hypot(0.5 * (uu - vv), uv);
  // Sums of squares of lengths: `middle` is the mean over all directions, and `half` is the largest difference from it.
  const bool alone = u.size() < 3 || middle - half <= (middle + half) / (line_length_per_width * line_length_per_width);
  return {std::cos(angle), std::sin(angle), alone};
}

}  // namespace echoform
