// Surfaces in space that have files of their own: profiles revolved about an axis, and parts of triangles.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "simulators/sampled_shape.hpp"

namespace echoform::simulated {

[[nodiscard]] inline Spot outer(const Spot& a, const Spot& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline Spot unit(const Spot& a) {
  return (1.0 / std::sqrt(inner(a, a))) * a;
}
/// A vector of length 1 at right angles to `a`, which has length 1.
[[nodiscard]] inline Spot square_to(const Spot& a) {
  return unit(outer(std::abs(a.y) < 0.9 ? Spot{0.0, 1.0, 0.0} : Spot{1.0, 0.0, 0.0}, a));
}

/// `count` numbers, at least two.
[[nodiscard]] std::vector<double> evenly(double first, double last, std::size_t count);

/// CurveKind::revolved; as sample_shape() has it. Lines and arcs are exact, a spline is taken by its chords: 1/64 of the way
/// between two knots of a radius R and a distance d lies off by (d / 64)^2 / 8 R, 40 nm of knots 5 mm apart at 20 mm.
[[nodiscard]] std::unique_ptr<const SampledShape> sample_revolved(const CurveShape& shape, std::span<const Spot> places,
                                                                  const Spot& probe, std::size_t count);

/// CurveKind::mesh: what one sees of it from the probe's middle, by parallel lines of sight towards its triangle that is the
/// least detour on the way to the middle of the places. Where they meet nothing there is no place (its numbers are none).
[[nodiscard]] std::unique_ptr<const SampledShape> sample_mesh(const CurveShape& shape, std::span<const Spot> places,
                                                              const Spot& probe, std::size_t count);

}  // namespace echoform::simulated
