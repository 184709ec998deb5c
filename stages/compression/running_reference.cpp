#include "stages/compression/running_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/errors.hpp"

namespace echoform {
namespace {

// Keeps the reference a normal number while frames without signal pull it down.
constexpr double smallest_reference = std::numeric_limits<float>::min();

void require(bool right, const char* option, double found, const char* expected) {
  if (!right) throw InputError(fmt::format("compression stage, {}", option), fmt::format("{}", found), expected);
}

}  // namespace

RunningReference::RunningReference(const Compression& options) : options_(options) {
  require(options.dynamic_range_db > 0.0 && options.dynamic_range_db <= 200.0, "dynamic range", options.dynamic_range_db,
          "above 0 dB, at most 200 dB");
  require(std::abs(options.gain_db) <= 200.0, "gain", options.gain_db, "-200 to 200 dB");
  require(options.running_fraction > 0.0 && options.running_fraction <= 1.0, "running fraction", options.running_fraction,
          "above 0, at most 1");
  require(options.reference_value >= smallest_reference && options.reference_value <= std::numeric_limits<float>::max(),
          "reference value", options.reference_value, "a positive number that single precision can hold");
  if (!follows_peaks()) reference_ = options.reference_value;
}

void RunningReference::follow(float peak) noexcept {
  if (!follows_peaks()) return;
  const double target = peak;
  if (target >= reference_) {
    reference_ = target;
  } else {
    reference_ = std::max(smallest_reference, reference_ + options_.running_fraction * (target - reference_));
  }
}

void RunningReference::resume(float reference) noexcept {
  if (follows_peaks() && std::isfinite(reference) && reference >= static_cast<float>(smallest_reference)) reference_ = reference;
}

float RunningReference::value() const noexcept {
  return static_cast<float>(reference_ > 0.0 ? reference_ : options_.reference_value);
}

CompressionCurve RunningReference::curve() const noexcept {
  // 255 (1 + (20 log10(e / reference) + gain) / range), with 20 log10(e) = 20 log10(2) log2(e).
  const double slope = 255.0 * 20.0 * std::log10(2.0) / options_.dynamic_range_db;
  const double offset =
      255.0 * (1.0 + options_.gain_db / options_.dynamic_range_db) - slope * std::log2(static_cast<double>(value()));
  return {static_cast<float>(slope), static_cast<float>(offset)};
}

}  // namespace echoform
