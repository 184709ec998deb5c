// The kinds of fields. Each returns null for paths that are not its own; ray_field.cpp has the order in which they are asked.
#pragma once

#include <memory>
#include <vector>

#include "rays/field_kernels.hpp"
#include "rays/ray_field.hpp"

namespace echoform::rays {

/// Planes that are parallel to each other, refracting or reflecting: one unknown a ray, whatever their number (layer_math.hpp).
[[nodiscard]] std::unique_ptr<RayField> make_layer_field(const RayPath& path, const std::vector<Point>& sources,
                                                         const FieldKernels& kernels);

/// One surface of any shape (crossing_math.hpp).
[[nodiscard]] std::unique_ptr<RayField> make_curve_field(const RayPath& path, const std::vector<Point>& sources,
                                                         const FieldKernels& kernels);

/// Any path, ray by ray.
[[nodiscard]] std::unique_ptr<RayField> make_general_field(const RayPath& path, const std::vector<Point>& sources);

}  // namespace echoform::rays
