// The loop of projection_kernels.hpp over the lanes of an instruction set, included by the sources that are built for one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "stages/back_projection/projection_kernels.hpp"

namespace echoform::projection {
namespace {

/// The ratio of the travel time of sound, where part of the path lies in the inclusion, to the time without the inclusion.
template <class L>
typename L::Real slowed(const FlatInclusion& inclusion, const FlatDetector& detector, typename L::Real along, float second,
                        float third) {
  using Real = typename L::Real;
  const auto unit = [&](int axis, float place) { return (place - inclusion.centre[axis]) * inclusion.inverse_radius[axis]; };
  const float s0 = unit(0, detector.place[0]);
  const float s1 = unit(1, detector.place[1]);
  const float s2 = unit(2, detector.place[2]);
  const float e1 = second * inclusion.inverse_radius[1];
  const float e2 = third * inclusion.inverse_radius[2];
  const Real e0 = L::multiply(along, L::all(inclusion.inverse_radius[0]));
  const Real ee = L::multiply_add(e0, e0, L::all(e1 * e1 + e2 * e2));
  const Real se = L::multiply_add(e0, L::all(s0), L::all(s1 * e1 + s2 * e2));
  const float ss = s0 * s0 + s1 * s1 + s2 * s2;
  return L::multiply_add(L::inside(ee, se, ss), L::all(inclusion.excess), L::all(1.0F));
}

template <class L, ProjectionLaw law, bool plain, auto window>
void project_rows(const Call& call, Tile& tile) {
  using Real = typename L::Real;
  // These are copies, since the compiler assumes that storing sums may change what `call` refers to, and would read it again
  // for every row.
  const typename L::Lookup lookup(call);
  const std::size_t rows = tile.rows;
  const unsigned cosine_power = call.cosine_power;
  const Real least_cosine = L::all(call.least_cosine);
  const bool normalise = call.normalise;
  const bool slows = call.inclusion != nullptr;
  const FlatInclusion inclusion = slows ? *call.inclusion : FlatInclusion{};
  const float start = call.start;
  const Real lane = L::load(tile.lane);
  for (std::size_t row = 0; row < rows; ++row) L::store(tile.sums + row * L::lanes, L::all(0.0F));
  if constexpr (!plain) {
    for (std::size_t row = 0; row < rows; ++row) L::store(tile.weights + row * L::lanes, L::all(0.0F));
  }
  const bool turned = !plain && (cosine_power != 0 || call.least_cosine > -1.0F);
  for (std::size_t q = 0; q < call.count; ++q) {
    const FlatDetector detector = call.detectors[q];
    const float* const samples = call.samples + detector.row * call.stride;
    const Real along = L::subtract(lane, L::all(detector.place[0]));
    const typename L::Nearest nearest(along);
    const Real along_squared = L::multiply(along, along);
    const Real along_normal = L::multiply(along, L::all(detector.normal[0]));
    for (std::size_t row = 0; row < rows; ++row) {
      const float second = tile.second[row] - detector.place[1];
      const float third = tile.third[row] - detector.place[2];
      const Real squared = L::add(along_squared, L::all(second * second + third * third));
      const Real inverse = L::inverse_root(squared);
      Real way = L::multiply(squared, inverse);
      Real weight = L::all(detector.weight);
      if (law != ProjectionLaw::constant || turned) {
        const Real facing =
            L::greater(L::add(along_normal, L::all(detector.normal[1] * second + detector.normal[2] * third)), L::all(0.0F));
        if constexpr (law != ProjectionLaw::constant) {
          const Real inverse_squared = L::multiply(inverse, inverse);
          weight = L::multiply(L::multiply(weight, facing), inverse_squared);
          if constexpr (law == ProjectionLaw::inverse_cube) weight = L::multiply(weight, inverse);
        }
        if (turned) {
          const Real cosine = L::multiply(facing, inverse);
          for (unsigned power = 0; power < cosine_power; ++power) weight = L::multiply(weight, cosine);
          weight = L::where_at_least(cosine, least_cosine, weight);
        }
      }
      if constexpr (!plain) {
        if (slows) way = L::multiply(way, slowed<L>(inclusion, detector, along, second, third));
      }
      const Real u = L::subtract(way, L::all(start));
      const Real sample = L::template sample<window>(samples, u, lookup, nearest);
      float* const sum = tile.sums + row * L::lanes;
      L::store(sum, L::multiply_add(weight, sample, L::load(sum)));
      if constexpr (!plain) {
        if (normalise) {
          float* const weights = tile.weights + row * L::lanes;
          L::store(weights, L::add(weight, L::load(weights)));
        }
      }
    }
  }
}

template <class L, bool plain, auto window>
void project_by_law(const Call& call, Tile& tile) {
  switch (call.law) {
    case ProjectionLaw::constant:
      return project_rows<L, ProjectionLaw::constant, plain, window>(call, tile);
    case ProjectionLaw::inverse_cube:
      return project_rows<L, ProjectionLaw::inverse_cube, plain, window>(call, tile);
    case ProjectionLaw::inverse_square:
      return project_rows<L, ProjectionLaw::inverse_square, plain, window>(call, tile);
  }
}

}  // namespace
}  // namespace echoform::projection
