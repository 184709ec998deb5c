#include "operators/spherical_moments.hpp"

#include <cmath>
#include <numbers>

namespace echoform {

std::array<std::complex<double>, spherical::moments> moment_series(double w) {
  static_assert(spherical::moments == 6);
  // exp(-jzv) = J0(z) + 2 SUM (-j)^k Jk(z) Tk(v), v = 2u, z = w / 2.
  std::array<std::complex<double>, spherical::moments> chebyshev;
  const double z = std::abs(0.5 * w);
  std::complex<double> turn = 1.0;
  for (unsigned k = 0; k < chebyshev.size(); ++k) {
    chebyshev[k] = (k == 0 ? 1.0 : 2.0) * turn * std::cyl_bessel_j(static_cast<double>(k), z);
    turn *= std::complex<double>(0.0, w < 0.0 ? 1.0 : -1.0);
  }
  const auto& c = chebyshev;
  std::array<std::complex<double>, spherical::moments> series{
      c[0] - c[2] + c[4], c[1] - 3.0 * c[3] + 5.0 * c[5], 2.0 * c[2] - 8.0 * c[4], 4.0 * c[3] - 20.0 * c[5], 8.0 * c[4],
      16.0 * c[5]};
  const std::complex<double> to_middle = std::polar(1.0, -0.5 * w);
  double power = 1.0;
  for (std::complex<double>& value : series) {
    value *= to_middle * power;
    power *= 2.0;
  }
  return series;
}

std::vector<std::complex<float>> moment_factors(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                const SphericalTimeGrid& grid, int integrals) {
  const std::vector<std::complex<double>> responses = spherical_responses(geometry, options, grid, integrals);
  std::vector<std::complex<float>> factors(spherical::moments * grid.bands);
  const double step = geometry.sample_rate.value / static_cast<double>(grid.period) / grid.fine_rate;
  for (std::size_t band = 1; band <= grid.bands; ++band) {
    const auto series = moment_series(2.0 * std::numbers::pi * static_cast<double>(band) * step);
    for (std::size_t k = 0; k < series.size(); ++k) {
      factors[k * grid.bands + band - 1] = std::complex<float>(responses[band - 1] * series[k]);
    }
  }
  return factors;
}

}  // namespace echoform
