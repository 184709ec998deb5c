// Legs whose times are those of rays through and off surfaces.
#pragma once

#include <memory>
#include <string>

#include "cpu/cpu_backend.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/part_bounds.hpp"
#include "rays/ray_path.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// The scene's front surface, or the plane z = 0 where it has none; null where it is one in three dimensions.
[[nodiscard]] std::shared_ptr<const Surface> front_surface(const Scene& scene);

/// The legs in the part, with `modes` from the element to the pixel. They are reflected at the backwall after the first,
/// third ... leg, and at the front surface from below after the second. Throws InputError for a mode without velocity and
/// for several legs without a backwall.
[[nodiscard]] RayPath path_in_part(const std::string& modes, const Material& material, const Scene& scene);

/// A leg with one source per element: its times are those of the fastest ray from the element's centre along `path` to a
/// pixel, in seconds; NaN if there is no ray, and outside `bounds`. The plan computes them once, by tabulated(), with
/// instructions of `level`.
[[nodiscard]] std::shared_ptr<const Leg> make_ray_leg(const Probe& probe, RayPath path, PartBounds bounds,
                                                      SimdLevel level = simd_level());

}  // namespace echoform
