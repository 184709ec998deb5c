#include "stages/compression/running_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
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

void require_normal(double found, const char* option) {
  require(found >= smallest_reference && found <= std::numeric_limits<float>::max(), option, found,
          "a positive number that single precision can hold");
}

}  // namespace

RunningReference::RunningReference(const Compression& options) : options_(options) {
  require(options.dynamic_range_db, Compression::dynamic_ranges, "dynamic range", " dB");
  require(options.gain_db, Compression::gains, "gain", " dB");
  require(options.running_fraction, Compression::running_fractions, "running fraction", "");
  require_normal(options.reference_value, "reference value");
  if (options.end != 0.0) require_normal(options.end, "end of the scale");
  rule_.fraction = options.running_fraction;
  rule_.smallest = smallest_reference;
  rule_.unset = options.reference_value;
  rule_.follows = follows_peaks();
  if (shows_numbers(options.scale)) {
    const bool symmetric = options.scale == ScaleKind::symmetric;
    rule_.kind = LevelKind::numbers;
    rule_.slope = symmetric ? 0.5 * levels_of_numbers : levels_of_numbers;
    rule_.gain = first_level_of_numbers + levels_of_numbers - rule_.slope;
    if (options.end > 0.0) {
      rule_.unset = options.end;
    } else {
      rule_.end = std::pow(10.0, -options.gain_db / 20.0);
    }
  } else {
    rule_.kind = options.masked ? LevelKind::masked_decibels : LevelKind::decibels;
    const double decade = decibels_a_decade(options.scale);
    rule_.slope = 255.0 * decade * std::log10(2.0) / options.dynamic_range_db;
    rule_.gain = 255.0 * (1.0 + options.gain_db / options.dynamic_range_db);
    if (options.scale == ScaleKind::power_decibels) {
      rule_.unset = std::clamp(options.reference_value * options.reference_value, smallest_reference,
                               double{std::numeric_limits<float>::max()});
    }
  }
  if (!follows_peaks()) reference_ = rule_.unset;
}

bool RunningReference::follows_peaks() const noexcept {
  return options_.reference == ReferenceMode::running && !(shows_numbers(options_.scale) && options_.end > 0.0);
}

bool RunningReference::follows_magnitudes() const noexcept {
  return options_.scale == ScaleKind::symmetric;
}

bool RunningReference::accepts(const StageOptions& options) const {
  const auto& wanted = options.as<Compression>();
  static_cast<void>(RunningReference(wanted));
  return wanted.scale == options_.scale && wanted.end == options_.end && wanted.masked == options_.masked;
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
