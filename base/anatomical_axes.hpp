// Places in the coordinates of medical viewers, for every output that states such coordinates.
//
// Echoform's x runs along the array, y across it and z into the part. Viewers of medical images count to the right (R), to the
// front (A) and upwards (S) of a patient, in mm:
//
//     R = -x      A = y      S = -z
//
// This is half a turn about y, so that directions keep their hand. A coronal slice shows an image as it lies: x to the right,
// where such viewers have the patient's left, and z downwards. DICOM counts L = -R, P = -A and S.
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

/// Extent of a pixel along an axis of the grid: the distance of centres; of a single pixel the smallest one of the other axes, or
/// 1 mm if those have one pixel too.
[[nodiscard]] Metres pixel_extent(const Axis& axis, const Grid& grid);

/// Where the pixels of an image lie, in metres of x, y and z: the centre of pixel (0, 0, 0), and the way from a pixel to the next
/// along the grid's x, y and z. Steps have the right hand.
struct PixelPlaces {
  std::array<double, 3> first{};
  std::array<std::array<double, 3>, 3> steps{};
};

/// Nothing unless the axes are places: in metres, the grid's z called z, its x called x or, of a plane across the array, y. What
/// such a plane has one pixel of goes along -x, at x = 0.
[[nodiscard]] std::optional<PixelPlaces> pixel_places(const Grid& grid, const Meaning& x, const Meaning& y, const Meaning& z);

/// The rows of an affine matrix, which maps (i, j, k, 1), the indices of a pixel along the grid's x, y and z, to (R, A, S,
/// 1) in mm.
using RasMatrix = std::array<std::array<double, 4>, 4>;
[[nodiscard]] RasMatrix ras_of_pixels(const PixelPlaces& places);

}  // namespace echoform
