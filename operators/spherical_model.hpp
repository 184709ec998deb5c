// Optoacoustic data of spherical voxels in the frequency domain (Wang and others 2013, "spherical-voxel-based imaging model",
// with corrections: docs/tomography_operators.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "operators/element_parts.hpp"
#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"
#include "operators/operator_site.hpp"

namespace echoform {

struct SphericalModelOptions {
  /// Frequencies above are left out of data; at most half of the sample rate. 0: a quarter of the sample rate.
  Hertz highest_frequency;
  /// Impulse response of the detectors, with which the pressure is convolved: sample k is the response k samples after an
  /// impulse whose sum over samples is 1. The sample rate is the acquisition's; empty: no convolution.
  std::vector<float> impulse_response;
  /// Pressure is averaged over each element (width x length), part by part, each part in its far field. Otherwise detectors are
  /// points.
  bool rectangular_elements = false;
  /// Parts of rectangular elements; absent: parts_for_far_field() of the geometry. They must be stated if the elements are
  /// shared among several processes and the geometry has some of them, so that all processes use the same parts.
  std::optional<ElementParts> element_parts{};
  /// largest_half_diagonal() of the elements of all processes, if the geometry has some of them: the grid in time is then
  /// the same in each process. If it is 0 or less than the geometry's own, the geometry's own counts.
  Metres largest_half_diagonal;
};

/// Image: p0 [z, y, x], the mean of each cubic voxel: it is held by the sphere in it, of the voxels' spacing in
/// diameter, with 6 / pi of that pressure, so images compare with those of other models as they are (the paper's, whose values
/// are the sphere's, times pi / 6). Data: pressure [detector, sample] in the unit of p0, at frequencies above 0 up to the highest
/// one:
///   u_q(f) = h(f) s(f) SUM over n of p0_n a_qn(f) exp(-j 2 pi f d_qn / c) / d_qn,
///   s(f) = (6 / pi) (-j c / (2 pi f)) (T cos wT - sin(wT) / w), T = spacing / (2 c),
/// h the impulse response and a_qn = sinc sinc of a rectangle, or the mean of such over an element's parts, each with its d_qn.
/// The sum is done in time: impulses are spread on a grid of the sample rate (twice that where the highest frequency is above a
/// quarter of it), and transformed; within 3e-5 of it. The grid's period is at least two records and the impulse response long.
/// Sound that would arrive more than about half a record before or after it is left out. Rows of dead detectors are 0, and
/// nothing is taken from them. Keep the highest frequency below velocity / spacing, where the lattice of voxels sends tones of
/// its own.
///
/// The adjoint is the exact transpose; both give the same bits for any number of threads. On CUDA impulses become moments of the
/// grid's cells instead (spherical_moments.hpp), within 2e-5 of the sum; the same bits on every run on devices of one kind.
/// Throws InputError as validate(ModelGeometry) does; for a highest frequency out of its range; an impulse response with values
/// that are not finite; rectangular elements without sizes; and on CUDA voxels so far apart, or elements so large, that 16 voxels
/// and an element last more samples than a block's memory holds. On CUDA RuntimeFault where there is no device, no cuFFT, or too
/// little of the device's memory.
[[nodiscard]] std::unique_ptr<LinearOperator> make_spherical_model(const ModelGeometry& geometry,
                                                                   const SphericalModelOptions& options,
                                                                   const OperatorSite& site);

/// Bytes of the host that it holds: to be asked before it is made. Throws as that does, of a geometry that passes validate().
[[nodiscard]] std::size_t spherical_model_bytes(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                const OperatorSite& site);

}  // namespace echoform
