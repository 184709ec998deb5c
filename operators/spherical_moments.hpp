// Impulses between the samples of a grid in time, described by moments of its cells: exp(-jw(n + 1/2 + u)) is exp(-jwn)
// times a series in u (Jacobi and Anger's, of Chebyshev polynomials up to the fifth), so that the sum over impulses of a
// spectrum is one over moments' spectra. For |w| <= pi / 2 what is left out is 2 J6(pi / 4) = 1e-5 at most. No sample is
// shared by neighbouring cells: that is why the CUDA implementation has them in the place of the spreading kernel.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "operators/spherical_spectrum.hpp"
#include "operators/spherical_tile_math.hpp"

namespace echoform {

/// c with SUM c[k] u^k = exp(-jw (1/2 + u)); w in radians a sample, |w| <= pi / 2.
[[nodiscard]] std::array<std::complex<double>, spherical::moments> moment_series(double w);

/// [moment][band - 1]: by what moments' spectra at frequencies 1 .. bands are multiplied, where impulses are to be integrated
/// `integrals` times; spherical_responses() times the series.
[[nodiscard]] std::vector<std::complex<float>> moment_factors(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                              const SphericalTimeGrid& grid, int integrals);

}  // namespace echoform
