// Travel times through surfaces in three dimensions by brute force, sharing nothing with the fields but the numbers that describe
// a geometry: the surface is a function of two parameters, sampled on a square lattice; around every node from which the time
// grows to all eight neighbours it is narrowed down by ever finer lattices, and the least of those that go through from outside
// into the part counts.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace echoform::brute {

struct Spot {
  double x = 0, y = 0, z = 0;
};
inline Spot operator-(const Spot& a, const Spot& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline double inner(const Spot& a, const Spot& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline double apart(const Spot& a, const Spot& b) {
  return std::sqrt(inner(a - b, a - b));
}

/// A place, and the way into the part there, of any length.
struct Skin {
  Spot at;
  Spot inwards;
};
/// u and v in -1 .. 1.
using Patch = std::function<Skin(double u, double v)>;

struct LeastTime {
  double time = std::numeric_limits<double>::infinity();
  double u = 0, v = 0;
  [[nodiscard]] bool found() const { return time < std::numeric_limits<double>::infinity(); }
};

inline LeastTime least_time(const Spot& from, const Spot& to, const Patch& patch, double c1, double c2, int samples) {
  const auto time = [&](double u, double v) {
    const Spot at = patch(u, v).at;
    return apart(from, at) / c1 + apart(at, to) / c2;
  };
  const auto place = [&](int k) { return -1.0 + 2.0 * k / samples; };
  const auto row = static_cast<std::size_t>(samples + 1);
  std::vector<double> times(row * row);
  for (int i = 0; i <= samples; ++i) {
    for (int j = 0; j <= samples; ++j)
      times[static_cast<std::size_t>(i) * row + static_cast<std::size_t>(j)] = time(place(i), place(j));
  }
  LeastTime best;
  for (std::size_t i = 1; i + 1 < row; ++i) {
    for (std::size_t j = 1; j + 1 < row; ++j) {
      const double here = times[i * row + j];
      bool least = true;
      for (std::size_t a = i - 1; a <= i + 1; ++a) {
        for (std::size_t b = j - 1; b <= j + 1; ++b) least = least && here <= times[a * row + b];
      }
      if (!least) continue;
      LeastTime local{here, place(static_cast<int>(i)), place(static_cast<int>(j))};
      // Halving 45 times leaves 1e-13 of the patch.
      double step = 2.0 / samples;
      for (int halving = 0; halving < 45; ++halving) {
        step *= 0.5;
        bool moved = true;
        for (int again = 0; moved && again < 20; ++again) {
          const LeastTime centre = local;
          for (int a = -1; a <= 1; ++a) {
            for (int b = -1; b <= 1; ++b) {
              const double u = centre.u + a * step, v = centre.v + b * step;
              if (const double there = time(u, v); there < local.time) local = {there, u, v};
            }
          }
          moved = local.time < centre.time;
        }
      }
      // A minimum at the patch's end is no ray.
      if (local.time >= best.time || std::abs(local.u) > 1.0 - 1e-4 || std::abs(local.v) > 1.0 - 1e-4) continue;
      const Skin skin = patch(local.u, local.v);
      if (inner(skin.at - from, skin.inwards) > 0.0 && inner(to - skin.at, skin.inwards) > 0.0) best = local;
    }
  }
  return best;
}

}  // namespace echoform::brute
