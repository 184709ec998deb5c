// Rays through layers between parallel planes, one unknown a ray; for host and device, one call or one GPU thread a ray.
//
// Off a plane a ray goes on as through the plane into its mirror image, so refracting and reflecting paths are both a stack of
// layers of thickness h_i and velocity c_i. With u the tangent of the ray's angle in the fastest layer (velocity c) and
// k_i = c_i / c, Snell's law gives the other angles, and the lateral way from end to end is
//
//   X(u) = sum of h_i k_i u / sqrt(1 + (1 - k_i^2) u^2),
//
// which grows with u and is concave: every chord's end lies below its tangents. So Newton's method for X(u) = lateral never
// passes the root, from any start below it, and needs no bracket. X(u) <= u sum(h_i k_i), and X(u) <= u h_fast + the ways at the
// critical angles: the greater of both starts lies below the root, and near it. By Fermat the time is a maximum over the ray
// parameter p = u / (c sqrt(1 + u^2)) of
//
//   T = p * lateral + sum of h_i sqrt(1 / c_i^2 - p^2),
//
// so what a root still lacks enters squared; with that term added, cubed.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform::rays {

/// Layers that are slower than the fastest: one for each leg but one of a path over four interfaces.
inline constexpr int most_slow_layers = 4;
/// Newton steps after which all rays but one in a thousand are done; the others take up to `most_layer_steps`.
inline constexpr int usual_layer_steps = 2;
inline constexpr int most_layer_steps = 60;

/// The layers of one source. The last leg's thickness is the pixel's distance from the last plane; `varies` is 1 in the layer
/// that it belongs to and 0 elsewhere, `fixed` the thickness besides, in metres.
struct LayerStack {
  double slowness = 0.0;  ///< of the fastest layer, s/m
  double fixed = 0.0;     ///< of all layers of that velocity
  double varies = 0.0;
  double ratio[most_slow_layers] = {};     ///< k_i < 1
  double bend[most_slow_layers] = {};      ///< 1 - k_i^2
  double critical[most_slow_layers] = {};  ///< k_i / sqrt(1 - k_i^2): tangent of the critical angle
  double slow_fixed[most_slow_layers] = {};
  double slow_varies[most_slow_layers] = {};
};

/// A stack's thicknesses for one pixel, m.
template <int slow>
struct LayerHeights {
  double fast;
  double slower[slow == 0 ? 1 : slow];
};

template <int slow>
ECHOFORM_HOST_DEVICE LayerHeights<slow> layer_heights(const LayerStack& stack, double last) {
  LayerHeights<slow> heights{};
  // A ray along the plane would have no finite tangent; a picometre is below 1e-15 s.
  heights.fast = stack.fixed + stack.varies * last + 1e-12;
  for (int i = 0; i < slow; ++i) heights.slower[i] = stack.slow_fixed[i] + stack.slow_varies[i] * last;
  return heights;
}

/// A tangent below that of the ray, and the ray's itself where there is one layer.
template <int slow>
ECHOFORM_HOST_DEVICE double layer_start(const LayerStack& stack, const LayerHeights<slow>& heights, double lateral) {
  double steep = heights.fast;
  double most = 0.0;
  for (int i = 0; i < slow; ++i) {
    steep += stack.ratio[i] * heights.slower[i];
    most += stack.critical[i] * heights.slower[i];
  }
  const double near = lateral / steep;
  const double far = (lateral - most) / heights.fast;
  return near > far ? near : far;
}

struct LayerMiss {
  double lacks;   ///< lateral - X(u), m
  double growth;  ///< dX/du, m
};

template <int slow>
ECHOFORM_HOST_DEVICE LayerMiss layer_miss(const LayerStack& stack, const LayerHeights<slow>& heights, double lateral, double u) {
  double way = heights.fast * u;
  double growth = heights.fast;
  for (int i = 0; i < slow; ++i) {
    const double root = 1.0 / sqrt(1.0 + stack.bend[i] * u * u);
    const double steep = stack.ratio[i] * heights.slower[i] * root;
    way += steep * u;
    growth += steep * root * root;
  }
  return {lateral - way, growth};
}

/// Time in seconds of the ray with tangent `u`, to third order in what `miss` says that it lacks.
template <int slow>
ECHOFORM_HOST_DEVICE double layer_time(const LayerStack& stack, const LayerHeights<slow>& heights, double lateral, double u,
                                       const LayerMiss& miss) {
  double sum = u * lateral + heights.fast;
  for (int i = 0; i < slow; ++i) sum += heights.slower[i] / stack.ratio[i] * sqrt(1.0 + stack.bend[i] * u * u);
  const double cosine = 1.0 / sqrt(1.0 + u * u);
  const double correction = 0.5 * cosine * cosine * cosine * miss.lacks * miss.lacks / miss.growth;
  return stack.slowness * (sum * cosine + correction);
}

/// Travel time in seconds over `lateral` metres along the planes, 0 or more, with the last leg `last` metres thick. `finished`
/// says whether `steps` steps sufficed for 1e-14 of the time; if not, ask again with more.
template <int slow>
ECHOFORM_HOST_DEVICE double layer_ray(const LayerStack& stack, double lateral, double last, int steps, bool& finished) {
  const LayerHeights<slow> heights = layer_heights<slow>(stack, last);
  double u = layer_start<slow>(stack, heights, lateral);
  LayerMiss miss = layer_miss<slow>(stack, heights, lateral, u);
  for (int step = 0; step < steps; ++step) {
    u += miss.lacks / miss.growth;
    miss = layer_miss<slow>(stack, heights, lateral, u);
  }
  finished = fabs(miss.lacks) <= 1e-3 * u * miss.growth;
  return layer_time<slow>(stack, heights, lateral, u, miss);
}

}  // namespace echoform::rays
