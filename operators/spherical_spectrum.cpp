#include "operators/spherical_spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "operators/real_transform.hpp"
#include "operators/spreading_kernel.hpp"

namespace echoform {
namespace {

// Below this wT the bracket is computed by four terms of its series, to 1e-11; above it, cancellation costs less than 1e-12.
constexpr double small_angle = 0.1;

/// cos x - sin(x) / x.
double bracket(double x) {
  const double square = x * x;
  if (x < small_angle) return -square / 3.0 * (1.0 - square / 10.0 * (1.0 - square / 28.0 * (1.0 - square / 54.0)));
  return std::cos(x) - std::sin(x) / x;
}

double tail_of(const SphericalModelOptions& options) {
  return options.impulse_response.empty() ? 0.0 : static_cast<double>(options.impulse_response.size() - 1);
}

}  // namespace

SphericalTimeGrid spherical_time_grid(const ModelGeometry& geometry, const SphericalModelOptions& options, const char* where) {
  const auto in_mhz = [](double hertz) { return fmt::format("{:.6g} MHz", 1e-6 * hertz); };
  const double rate = geometry.sample_rate.value;
  const double stated = options.highest_frequency.value;
  if (!(stated >= 0.0) || stated > 0.5 * rate) {
    throw InputError(fmt::format("{}, highest frequency", where), in_mhz(stated),
                     fmt::format("above 0 and at most {}, half of the sample rate", in_mhz(0.5 * rate)));
  }
  for (const float value : options.impulse_response) {
    if (!std::isfinite(value)) throw InputError(fmt::format("{}, impulse response", where), fmt::format("{}", value), "numbers");
  }
  for (std::size_t q = 0; options.rectangular_elements && q < geometry.detectors.size(); ++q) {
    const Detector& detector = geometry.detectors[q];
    if (detector.dead) continue;
    const double width = detector.width.value;
    const double length = detector.length.value;
    if (!(width >= 0.0) || !(length >= 0.0) || !(width + length > 0.0)) {
      throw InputError(fmt::format("{}, detector {}", where, q), fmt::format("{:.4g} x {:.4g} mm", 1e3 * width, 1e3 * length),
                       "a size, for rectangular elements");
    }
  }
  const double transit =  // m
      options.rectangular_elements ? std::max(options.largest_half_diagonal, largest_half_diagonal(geometry.detectors)).value
                                   : 0.0;
  const double highest = stated > 0.0 ? stated : 0.25 * rate;
  SphericalTimeGrid grid;
  grid.finer = highest > 0.25 * rate ? 2 : 1;
  grid.fine_rate = rate * static_cast<double>(grid.finer);
  const double transit_samples = transit / geometry.velocity.value * grid.fine_rate;
  constexpr double most = 1 << 24;  // samples
  const double longest = 2.0 * static_cast<double>(geometry.samples) + tail_of(options) + 2.0 * transit_samples;
  if (longest > most) {
    throw InputError(fmt::format("{}, record", where), fmt::format("{:.0f} samples with its guards", longest),
                     fmt::format("at most {:.0f}", most));
  }
  grid.transit = transit > 0.0 ? static_cast<std::size_t>(std::ceil(transit_samples)) + 1 : 0;
  const auto tail = static_cast<std::size_t>(tail_of(options));
  // Sound that arrives before the record and extends into it belongs to it.
  grid.period = quick_transform_length(2 * geometry.samples + tail + 2 * grid.transit);
  grid.before = (grid.period - geometry.samples - tail) / 2 + tail;
  const double bands = std::floor(highest / rate * static_cast<double>(grid.period) * (1.0 + 1e-12));
  grid.bands = std::min(static_cast<std::size_t>(bands), grid.period / 2 - 1);
  if (grid.bands == 0) {
    throw InputError(fmt::format("{}, highest frequency", where), in_mhz(highest),
                     fmt::format("at least {}, one wave in the grid's period", in_mhz(rate / static_cast<double>(grid.period))));
  }
  return grid;
}

std::complex<double> spherical_voxel_spectrum(Hertz frequency, Metres spacing, MetresPerSecond velocity) {
  const double half = 0.5 * (spacing / velocity).value;
  const double angular = 2.0 * std::numbers::pi * frequency.value;
  if (!(angular > 0.0)) return 0.0;
  constexpr double fill = 6.0 / std::numbers::pi;
  return {0.0, -fill * velocity.value / angular * half * bracket(angular * half)};
}

std::vector<std::complex<double>> spherical_responses(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                      const SphericalTimeGrid& grid, int integrals) {
  const double rate = geometry.sample_rate.value;
  const double step = rate / static_cast<double>(grid.period);
  // The unit of distance is the path of sound in one sample of the grid.
  const double scale = step * grid.fine_rate / geometry.velocity.value;
  std::vector<std::complex<double>> responses(grid.bands);
  for (std::size_t band = 1; band <= grid.bands; ++band) {
    const double frequency = static_cast<double>(band) * step;
    const double turn = -2.0 * std::numbers::pi * frequency / rate;
    std::complex<double> response = options.impulse_response.empty() ? 1.0 : 0.0;
    for (std::size_t k = 0; k < options.impulse_response.size(); ++k) {
      response += static_cast<double>(options.impulse_response[k]) * std::polar(1.0, turn * static_cast<double>(k));
    }
    response *= scale * spherical_voxel_spectrum(Hertz(frequency), voxel_spacing(geometry.grid), geometry.velocity);
    const double cycles = frequency / grid.fine_rate;
    for (int n = 0; n < integrals; ++n) response /= std::complex<double>(0.0, 2.0 * std::numbers::pi * cycles);
    responses[band - 1] = response;
  }
  return responses;
}

std::vector<std::complex<float>> spherical_factors(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                   const SphericalTimeGrid& grid, int integrals) {
  const std::vector<std::complex<double>> responses = spherical_responses(geometry, options, grid, integrals);
  std::vector<std::complex<float>> factors(grid.bands);
  const double step = geometry.sample_rate.value / static_cast<double>(grid.period);
  for (std::size_t band = 1; band <= grid.bands; ++band) {
    const double cycles = static_cast<double>(band) * step / grid.fine_rate;
    factors[band - 1] = std::complex<float>(responses[band - 1] / spreading::kernel_transform(cycles));
  }
  return factors;
}

}  // namespace echoform
