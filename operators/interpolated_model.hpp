// Optoacoustic data as the time derivative of integrals over spheres about the detectors, of images that are interpolated between
// voxels (Wang and others 2013, "interpolation-based imaging model", with corrections: docs/tomography_operators.md).
#pragma once

#include <cstddef>
#include <memory>

#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"
#include "operators/operator_site.hpp"

namespace echoform {

/// Image: p0 [z, y, x] at the voxels' centres, linear between them and falling to 0 one voxel outside of the grid
/// (their equation 10), so an axis of one voxel is a layer two voxels thick. Data: pressure [detector, sample] in the unit of p0,
///   p(t) = d/dt ( t / (4 pi) INTEGRAL p0 over directions ),
/// of point detectors (normals and sizes do not matter); rows of dead ones are 0, and nothing is taken from them. The derivative
/// is the difference of two spheres half a sample before and after, for every sample alike; spheres at t <= 0 are 0.
///
/// The adjoint is the exact transpose; both give the same bits for any number of threads, on CUDA on every run on devices of one
/// kind. Data that are not finite leave voxels that are not: on the CPU those that take of them, on CUDA those of the bricks in
/// which some do. Throws InputError as validate(ModelGeometry) does; on CUDA RuntimeFault where there is no device, or too little
/// of its memory.
[[nodiscard]] std::unique_ptr<LinearOperator> make_interpolated_model(const ModelGeometry& geometry, const OperatorSite& site);

/// Bytes of host memory that the model holds, for a check before it is made. `geometry` must pass validate().
[[nodiscard]] std::size_t interpolated_model_bytes(const ModelGeometry& geometry, const OperatorSite& site);

}  // namespace echoform
