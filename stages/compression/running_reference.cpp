#include "stages/compression/running_reference.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/errors.hpp"

namespace echoform {
namespace {

// Keeps the reference a normal number while frames without signal pull it down.
constexpr double smallest_reference = std::numeric_limits<float>::min();

void require(bool right, const char* option, double found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("compression stage, {}", option), fmt::format("{}", found), expected);
}
void require(double found, const Interval& range, const char* option, const char* unit) {
  require(range.holds(found), option, found, fmt::format("{} to {}{}", range.least, range.most, unit));
}

}  // namespace

RunningReference::RunningReference(const Compression& options) : options_(options) {
  require(options.dynamic_range_db, Compression::dynamic_ranges, "dynamic range", " dB");
  require(options.gain_db, Compression::gains, "gain", " dB");
  require(options.running_fraction, Compression::running_fractions, "running fraction", "");
  require(options.reference_value >= smallest_reference && options.reference_value <= std::numeric_limits<float>::max(),
          "reference value", options.reference_value, "a positive number that single precision can hold");
  rule_.slope = 255.0 * 20.0 * std::log10(2.0) / options.dynamic_range_db;
  rule_.gain = 255.0 * (1.0 + options.gain_db / options.dynamic_range_db);
  rule_.fraction = options.running_fraction;
  rule_.smallest = smallest_reference;
  rule_.unset = options.reference_value;
  rule_.follows = follows_peaks();
  if (!follows_peaks()) reference_ = options.reference_value;
}

bool RunningReference::accepts(const StageOptions& options) {
  static_cast<void>(RunningReference(options.as<Compression>()));
  return true;
}

void RunningReference::change(const Compression& options) {
  RunningReference changed(options);
  changed.reference_ = reference_after_change(reference_, rule_, changed.rule_);
  *this = changed;
}

void RunningReference::follow(float peak) noexcept {
  if (follows_peaks()) reference_ = followed(reference_, peak, rule_);
}

void RunningReference::resume(float reference) noexcept {
  if (can_resume(reference)) reference_ = reference;
}

bool RunningReference::can_resume(float reference) const noexcept {
  return follows_peaks() && std::isfinite(reference) && reference >= static_cast<float>(smallest_reference);
}

float RunningReference::value() const noexcept {
  return shown_reference(reference_, rule_);
}

ShownReference RunningReference::state() const noexcept {
  return reference_state(reference_, rule_);
}

CompressionCurve RunningReference::curve() const noexcept {
  return curve_for(value(), rule_);
}

}  // namespace echoform
