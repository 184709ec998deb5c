// Arithmetic of spectral unmixing that host and device share.
#pragma once

#include <cstddef>

#include "gpu/host_device.hpp"

namespace echoform {

inline constexpr std::size_t most_unmixed_components = 4;
inline constexpr std::size_t most_unmixed_wavelengths = 32;

/// Tables of a fit, in host or device memory: [wavelength, component] absorption, and [set, component, wavelength] weights,
/// by which the values of a pixel become the least-squares concentrations of the components in the set, and 0 for the
/// others. Set s holds component m where bit m of s is set; set 0 holds none.
struct UnmixingTables {
  const float* absorption = nullptr;
  const float* weights = nullptr;
  std::size_t wavelengths = 0;
  std::size_t components = 0;
};

/// The least-squares concentrations of the components in `set`; 0 for the others.
ECHOFORM_HOST_DEVICE void unmix_set(const UnmixingTables& tables, std::size_t set, const float* values, float* concentrations) {
  const float* weights = tables.weights + set * tables.components * tables.wavelengths;
  for (std::size_t m = 0; m < tables.components; ++m, weights += tables.wavelengths) {
    float sum = 0.0F;
    for (std::size_t n = 0; n < tables.wavelengths; ++n) sum += weights[n] * values[n];
    concentrations[m] = sum;
  }
}

/// Sum of the squared residuals of a fit.
ECHOFORM_HOST_DEVICE float unmixing_residual(const UnmixingTables& tables, const float* values, const float* concentrations) {
  float sum = 0.0F;
  for (std::size_t n = 0; n < tables.wavelengths; ++n) {
    float left = values[n];
    for (std::size_t m = 0; m < tables.components; ++m) left -= tables.absorption[n * tables.components + m] * concentrations[m];
    sum += left * left;
  }
  return sum;
}

ECHOFORM_HOST_DEVICE bool all_at_least_zero(const float* numbers, std::size_t count) {
  for (std::size_t m = 0; m < count; ++m) {
    if (!(numbers[m] >= 0.0F)) return false;
  }
  return true;
}

/// The least-squares concentrations that are at least 0. The best fit is the unconstrained fit of those components that are
/// above 0 in it. Since there are few components, every set is tried.
ECHOFORM_HOST_DEVICE void unmix_non_negative(const UnmixingTables& tables, const float* values, float* concentrations) {
  const std::size_t all = (std::size_t{1} << tables.components) - 1;
  unmix_set(tables, all, values, concentrations);
  if (all_at_least_zero(concentrations, tables.components)) return;
  for (std::size_t m = 0; m < tables.components; ++m) concentrations[m] = 0.0F;
  float least = unmixing_residual(tables, values, concentrations);
  float tried[most_unmixed_components];
  for (std::size_t set = 1; set < all; ++set) {
    unmix_set(tables, set, values, tried);
    if (!all_at_least_zero(tried, tables.components)) continue;
    const float residual = unmixing_residual(tables, values, tried);
    if (!(residual < least)) continue;
    least = residual;
    for (std::size_t m = 0; m < tables.components; ++m) concentrations[m] = tried[m];
  }
}

}  // namespace echoform
