#include "stages/unmixing/unmixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

// A component whose spectrum is this close to a mixture of the others, as a share of its own length, cannot be distinguished
// from them.
constexpr double least_apart = 1e-6;

std::size_t wavelengths_of(const UnmixingOptions& options) {
  return options.absorption.size() / options.components;
}

/// The rows of the pseudo-inverse, [component of the set, wavelength]: the part of each spectrum that is orthogonal to the
/// others, divided by the square of its length. `apart` is the minimum ratio of the lengths of these parts to those of their
/// spectra.
std::vector<double> pseudo_inverse(const UnmixingOptions& options, std::size_t set, double& apart) {
  const std::size_t n = wavelengths_of(options);
  const std::size_t all = options.components;
  std::vector<double> rows(all * n, 0.0);
  apart = 1.0;
  for (std::size_t m = 0; m < all; ++m) {
    if ((set >> m & 1U) == 0) continue;
    const auto spectrum = [&](std::size_t of) {
      std::vector<double> values(n);
      for (std::size_t k = 0; k < n; ++k) values[k] = options.absorption[k * all + of];
      return values;
    };
    const auto dot = [n](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
      return sum;
    };
    // The subtraction is done twice, so that rounding of nearly parallel spectra does not stay (W. Kahan's "twice is enough").
    std::vector<std::vector<double>> basis;
    const auto orthogonal = [&](std::vector<double> values) {
      for (int turn = 0; turn < 2; ++turn) {
        for (const std::vector<double>& along : basis) {
          const double part = dot(values, along);
          for (std::size_t k = 0; k < n; ++k) values[k] -= part * along[k];
        }
      }
      return values;
    };
    for (std::size_t other = 0; other < all; ++other) {
      if (other == m || (set >> other & 1U) == 0) continue;
      std::vector<double> left = orthogonal(spectrum(other));
      const double length = std::sqrt(dot(left, left));
      if (!(length > 0.0)) continue;
      for (double& value : left) value /= length;
      basis.push_back(std::move(left));
    }
    const std::vector<double> own = spectrum(m);
    const std::vector<double> left = orthogonal(own);
    const double square = dot(left, left);
    const double whole = dot(own, own);
    apart = std::min(apart, whole > 0.0 ? std::sqrt(square / whole) : 0.0);
    if (!(square > 0.0)) continue;
    for (std::size_t k = 0; k < n; ++k) rows[m * n + k] = left[k] / square;
  }
  return rows;
}

}  // namespace

void check_unmixing(const UnmixingOptions& options) {
  if (options.components < 1 || options.components > most_unmixed_components) {
    throw InputError("unmixing stage, components", fmt::format("{}", options.components),
                     fmt::format("1 to {}", most_unmixed_components));
  }
  const std::size_t wavelengths = wavelengths_of(options);
  if (options.absorption.size() != wavelengths * options.components || wavelengths < options.components ||
      wavelengths > most_unmixed_wavelengths) {
    throw InputError("unmixing stage, absorption",
                     fmt::format("{} numbers of {} components", options.absorption.size(), options.components),
                     fmt::format("a number of each component at each wavelength: as many wavelengths as components at least, and "
                                 "at most {}",
                                 most_unmixed_wavelengths));
  }
  if (!std::ranges::all_of(options.absorption, [](double value) { return std::isfinite(value) && value >= 0.0; })) {
    throw InputError("unmixing stage, absorption", "a number below 0 or none", "finite numbers, 0 at least");
  }
  double apart = 0.0;
  static_cast<void>(pseudo_inverse(options, (std::size_t{1} << options.components) - 1, apart));
  if (!(apart > least_apart)) {
    throw InputError("unmixing stage, absorption", "a component that is a mixture of the others at these wavelengths",
                     "spectra that these wavelengths tell apart");
  }
}

BlockSpec unmixing_output(const UnmixingOptions& options, const InputSpecs& inputs) {
  check_unmixing(options);
  if (inputs.size() != wavelengths_of(options)) {
    throw InputError("unmixing stage, inputs", fmt::format("{}", inputs.size()),
                     fmt::format("{}, an image a wavelength", wavelengths_of(options)));
  }
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    require_block(inputs[n], "unmixing", {ElementType::float32});
    if (inputs[n].rows != inputs[0].rows || inputs[n].columns != inputs[0].columns) {
      throw InputError(
          "unmixing stage, inputs",
          fmt::format("{} x {} beside {} x {}", inputs[n].columns, inputs[n].rows, inputs[0].columns, inputs[0].rows),
          "images of one size");
    }
  }
  BlockSpec output;
  output.type = ElementType::float32;
  output.rows = inputs[0].rows * options.components;
  output.columns = inputs[0].columns;
  output.row_stride = output.columns;
  output.sub_blocks = inputs[0].sub_blocks;
  return output;
}

bool accepts_unmixing(const StageOptions& options, const UnmixingOptions& before) {
  UnmixingOptions wanted = options.as<UnmixingOptions>();
  check_unmixing(wanted);
  wanted.non_negative = before.non_negative;
  return wanted == before;
}

std::vector<float> unmixing_weights(const UnmixingOptions& options) {
  const std::size_t sets = std::size_t{1} << options.components;
  std::vector<float> weights;
  weights.reserve(sets * options.absorption.size());
  for (std::size_t set = 0; set < sets; ++set) {
    double apart = 0.0;
    for (const double weight : pseudo_inverse(options, set, apart)) weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

}  // namespace echoform
