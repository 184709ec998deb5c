// Positions in the coordinates of medical viewers, for every output that states such coordinates.
//
// Echoform's x runs along the array, y across it and z into the part. Viewers of medical images count to the right (R), to the
// front (A) and upwards (S) of a patient, in mm:
//
//     R = -x      A = y      S = -z
//
// This is a rotation by 180 degrees about y, so that axes stay right-handed. A coronal slice shows an image as it lies: x to
// the right, where such viewers have the patient's left, and z downwards. DICOM counts L = -R, P = -A and S.
#pragma once

#include <array>
#include <optional>

#include "base/grid.hpp"
#include "base/meaning.hpp"

namespace echoform {

using AnatomicalVector = std::array<double, 3>;

/// (R, A, S) of a direction, or of a place, in the unit of x, y and z. A 0 is never -0.
[[nodiscard]] constexpr AnatomicalVector ras(double x, double y, double z) {
  return {0.0 - x, y + 0.0, 0.0 - z};
}
/// (L, P, S) of the same.
[[nodiscard]] constexpr AnatomicalVector lps(double x, double y, double z) {
  return {x + 0.0, 0.0 - y, 0.0 - z};
}

/// Extent of a pixel along an axis of the grid: the distance of centres. If the axis has a single pixel, it is the smallest
/// extent along the other axes, or 1 mm if those have one pixel too.
[[nodiscard]] Metres pixel_extent(const Axis& axis, const Grid& grid);

/// Where the pixels of an image lie, in metres of x, y and z: the centre of pixel (0, 0, 0), and the step from a pixel to
/// the next along the grid's x, y and z. Steps are right-handed.
struct PixelPlaces {
  std::array<double, 3> first{};
  std::array<std::array<double, 3>, 3> steps{};
};

/// Empty unless the axes are positions in metres: the grid's z must be called z, and its x must be called x or, in a plane
/// across the array, y. In such a plane the axis of one pixel runs along -x, at x = 0.
[[nodiscard]] std::optional<PixelPlaces> pixel_places(const Grid& grid, const Meaning& x, const Meaning& y, const Meaning& z);

/// The rows of an affine matrix, which maps (i, j, k, 1), the indices of a pixel along the grid's x, y and z, to (R, A, S,
/// 1) in mm.
using RasMatrix = std::array<std::array<double, 4>, 4>;
[[nodiscard]] RasMatrix ras_of_pixels(const PixelPlaces& places);

}  // namespace echoform
