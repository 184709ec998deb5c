// The grid in time that the spherical model spreads impulses on, and what it does to their spectrum.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "operators/spherical_model.hpp"

namespace echoform {

struct SphericalTimeGrid {
  std::size_t period = 0;   ///< samples of the record's rate; even
  std::size_t finer = 1;    ///< samples of the grid for one of those
  std::size_t before = 0;   ///< samples of the period before the record
  std::size_t bands = 0;    ///< frequencies 1 .. bands of rate / period
  double fine_rate = 0.0;   ///< of the grid, Hz
  std::size_t transit = 0;  ///< from the middle of an element to its corners at most, samples of the grid
};

/// Throws InputError, naming `where`, for options that make_spherical_model() refuses. Of a geometry that passes validate().
[[nodiscard]] SphericalTimeGrid spherical_time_grid(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                    const char* where);

/// Spectrum of a sphere of pressure 6 / pi and diameter `spacing`, at distance d times d exp(j 2 pi f d / c); seconds times
/// metres. By its series where T cos wT - sin(wT) / w would cancel. frequency >= 0; 0 at 0.
[[nodiscard]] std::complex<double> spherical_voxel_spectrum(Hertz frequency, Metres spacing, MetresPerSecond velocity);

/// Responses at frequencies 1 .. bands: the product of voxel, impulse response and the scale of the inverse transform,
/// integrated `integrals` times.
[[nodiscard]] std::vector<std::complex<double>> spherical_responses(const ModelGeometry& geometry,
                                                                    const SphericalModelOptions& options,
                                                                    const SphericalTimeGrid& grid, int integrals);

/// Factors of the grid's spectrum at frequencies 1 .. bands, if its impulses are to be integrated `integrals` times:
/// spherical_responses() divided by the transform of the spreading kernel.
[[nodiscard]] std::vector<std::complex<float>> spherical_factors(const ModelGeometry& geometry,
                                                                 const SphericalModelOptions& options,
                                                                 const SphericalTimeGrid& grid, int integrals);

}  // namespace echoform
