// White noise, and plain lookups of it in double precision with what rounding may change of each: what kernels that read samples
// by windows are compared with. In smooth rows a sample that a window has lost is much like the one that was read instead of it.
// In noise it is wrong by its own size, and each value is compared with a bound that one wrong sample of all exceeds.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace echoform::test {

[[nodiscard]] inline std::vector<float> white_noise(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

/// What rounding may change of a lookup.
struct LookupError {
  double place = 0.0;  ///< samples
  double share = 0.0;  ///< of the samples' magnitude: weights and interpolation; 2^-24 for each operation
};

/// A weighted sum of lookups between the samples of rows, by the sampling convention: linear interpolation counts where
/// 0 <= u < M - 1, the nearest sample where floor(u + 0.5) is in 0 .. M - 1. `Value` is double or std::complex<double>;
/// `sample(n)` is sample n of the row.
template <class Value>
class PlainSum {
 public:
  template <class Sample>
  void add_linear(const Sample& sample, std::size_t samples, double u, double weight, const LookupError& error) {
    const double last = static_cast<double>(samples) - 1.0;
    const double low = u - error.place;
    const double high = u + error.place;
    if (!(high >= 0.0 && low < last)) return;
    const auto at = [&](double n) { return Value(sample(static_cast<std::size_t>(n))); };
    // The function is continuous but at its ends: a place moves it by no more than the steepest slope that it passes ...
    double steepest = 0.0;
    for (double n = std::max(0.0, std::floor(low)); n <= std::min(last - 1.0, std::floor(high)); ++n) {
      steepest = std::max(steepest, std::abs(at(n + 1.0) - at(n)));
    }
    double change = error.place * steepest;
    // ... and there by all of it.
    if (low < 0.0) change += std::abs(at(0.0));
    if (high >= last) change += std::abs(at(last));
    jumps_ = jumps_ || low < 0.0 || high >= last;
    if (u >= 0.0 && u < last) {
      const double n = std::floor(u);
      value_ += weight * ((1.0 - (u - n)) * at(n) + (u - n) * at(n + 1.0));
      add_size(weight, std::abs(at(n)) + std::abs(at(n + 1.0)), error);
    }
    allowed_ += std::abs(weight) * change;
  }

  template <class Sample>
  void add_nearest(const Sample& sample, std::size_t samples, double u, double weight, const LookupError& error) {
    const auto at = [&](double n) {
      return n >= 0.0 && n < static_cast<double>(samples) ? Value(sample(static_cast<std::size_t>(n))) : Value{};
    };
    const Value here = at(std::floor(u + 0.5));
    value_ += weight * here;
    add_size(weight, std::abs(here), error);
    // A place between two samples to rounding may have either.
    for (const double moved : {u - error.place, u + error.place}) {
      if (std::floor(moved + 0.5) == std::floor(u + 0.5)) continue;
      allowed_ += std::abs(weight) * std::abs(at(std::floor(moved + 0.5)) - here);
      jumps_ = true;
    }
  }

  [[nodiscard]] Value value() const { return value_; }
  /// Whether rounding may change it by whole samples: where a lookup is at an end of its row or between two nearest samples.
  [[nodiscard]] bool jumps() const { return jumps_; }
  /// How far from it a sum in single precision may be.
  [[nodiscard]] double allowed() const { return allowed_ + (static_cast<double>(terms_) + 4.0) * 0x1p-24 * size_; }

 private:
  void add_size(double weight, double size, const LookupError& error) {
    size_ += std::abs(weight) * size;
    allowed_ += error.share * std::abs(weight) * size;
    ++terms_;
  }

  Value value_{};
  double allowed_ = 0.0;
  double size_ = 0.0;  // sum of magnitudes
  std::size_t terms_ = 0;
  bool jumps_ = false;
};

/// Compares the values of a case with plain sums.
template <class Value>
class Comparison {
 public:
  template <class Number>
  void add(const Number& found, const PlainSum<Value>& wanted) {
    const double error = std::abs(Value(found) - wanted.value());
    // A sum without lookups must be exact, and a value that is not a number always counts as wrong.
    if (!(error <= wanted.allowed())) ++wrong_;
    ++values_;
    if (wanted.jumps()) return;
    error_ += error * error;
    size_ += std::norm(wanted.value());
  }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  /// |found - wanted| / |wanted| of all values that rounding does not change by whole samples.
  [[nodiscard]] double relative_error() const { return size_ > 0.0 ? std::sqrt(error_ / size_) : std::sqrt(error_); }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} of {} values are wrong, relative error {:.2g}", wrong_, values_, relative_error());
  }

 private:
  std::size_t wrong_ = 0;
  std::size_t values_ = 0;
  double error_ = 0.0;
  double size_ = 0.0;
};

/// The largest relative error of the cases of a sweep, as a property of the test: --gtest_output=xml shows it.
class SweepReport {
 public:
  explicit SweepReport(std::string name = "largest_relative_error") : name_(std::move(name)) {}
  SweepReport(const SweepReport&) = delete;
  SweepReport& operator=(const SweepReport&) = delete;
  ~SweepReport() {
    testing::Test::RecordProperty(name_, fmt::format("{:.2g}", largest_));
    testing::Test::RecordProperty("cases_of_" + name_, fmt::format("{}", cases_));
  }
  void add(double relative_error) {
    largest_ = std::max(largest_, relative_error);
    ++cases_;
  }

 private:
  std::string name_;
  double largest_ = 0.0;
  std::size_t cases_ = 0;
};

/// Samples a pixel from `first` to `last` in steps.
struct SpacingRange {
  double first;
  double last;
  double step;
};
[[nodiscard]] inline std::vector<double> spacings_of(std::initializer_list<SpacingRange> ranges) {
  std::vector<double> spacings;
  for (const SpacingRange& range : ranges) {
    const auto steps = static_cast<std::size_t>(std::floor((range.last - range.first) / range.step + 0.5));
    for (std::size_t k = 0; k <= steps; ++k) spacings.push_back(range.first + static_cast<double>(k) * range.step);
  }
  return spacings;
}

}  // namespace echoform::test
