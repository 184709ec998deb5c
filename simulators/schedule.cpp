#include "simulators/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double lowest_rate = 1e-3;
constexpr double highest_rate = 1e6;

constexpr bool within_limits(double rate) {
  return rate >= lowest_rate && rate <= highest_rate;
}

}  // namespace

std::optional<double> parse_rate(std::string_view text, std::string_view where) {
  if (text == "max") return std::nullopt;
  double rate = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size() || !within_limits(rate)) {
    throw InputError(where, fmt::format("\"{}\"", text), "frames per second, 0.001 to 1000000, or max");
  }
  return rate;
}

SendSchedule::SendSchedule(const Clock& clock, std::optional<double> frames_per_second, LatePolicy policy)
    : clock_(clock), rate_(frames_per_second), policy_(policy) {
  if (rate_ && !within_limits(*rate_)) {
    throw InputError("rate", fmt::format("{} frames/s", *rate_), "0.001 to 1000000 frames/s, or max");
  }
  start();
}

void SendSchedule::start() {
  start_ = clock_.steady();
  next_ = taken_ = skipped_ = 0;
  last_error_ = maximum_error_ = 0;
  error_sum_ = 0.0L;
  histogram_.fill(0);
}

SteadyTime SendSchedule::deadline(std::uint64_t frame) const {
  if (!rate_) return start_;
  // 64 bits of mantissa: exact to the nanosecond for centuries.
  return start_ +
         std::chrono::nanoseconds(std::llroundl(static_cast<long double>(frame) * 1e9L / static_cast<long double>(*rate_)));
}

std::chrono::nanoseconds SendSchedule::wait() const {
  if (!rate_) return std::chrono::nanoseconds(0);
  return std::max(deadline(next_) - clock_.steady(), std::chrono::nanoseconds(0));
}

std::uint64_t SendSchedule::take() {
  if (rate_) {
    const SteadyTime now = clock_.steady();
    if (policy_ == LatePolicy::skip && now >= deadline(next_ + 1)) {
      const long double periods = static_cast<long double>((now - start_).count()) * 1e-9L * static_cast<long double>(*rate_);
      auto latest = std::max(static_cast<std::uint64_t>(periods), next_ + 1);
      // Rounding in the division may put the number off by one; the deadlines decide.
      while (deadline(latest) > now) --latest;
      while (deadline(latest + 1) <= now) ++latest;
      skipped_ += latest - next_;
      next_ = latest;
    }
    last_error_ = (now - deadline(next_)).count();
    maximum_error_ = taken_ == 0 ? last_error_ : std::max(maximum_error_, last_error_);
    error_sum_ += static_cast<long double>(last_error_);
    ++histogram_[bin_of(static_cast<std::uint64_t>(std::max<std::int64_t>(last_error_, 0)))];
  }
  ++taken_;
  return next_++;
}

TimingError SendSchedule::timing_error() const {
  TimingError error;
  if (!rate_ || taken_ == 0) return error;
  error.count = taken_;
  error.last = std::chrono::nanoseconds(last_error_);
  error.maximum = std::chrono::nanoseconds(maximum_error_);
  error.mean = std::chrono::nanoseconds(std::llroundl(error_sum_ / static_cast<long double>(taken_)));
  const std::uint64_t rank = taken_ - taken_ / 100;  // ceil(0.99 taken)
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    below += histogram_[bin];
    if (below >= rank) {
      const auto edge = static_cast<std::int64_t>(upper_edge(bin));
      error.p99 = std::chrono::nanoseconds(std::min(edge, std::max<std::int64_t>(maximum_error_, 0)));
      break;
    }
  }
  return error;
}

std::size_t SendSchedule::bin_of(std::uint64_t lateness) {
  const auto width = static_cast<std::size_t>(std::bit_width(lateness));
  if (width <= 5) return static_cast<std::size_t>(lateness);
  const std::size_t octave = width - 5;  // 1 for 32 .. 63
  return octave * steps + static_cast<std::size_t>((lateness >> (octave - 1)) - steps);
}

std::uint64_t SendSchedule::upper_edge(std::size_t bin) {
  if (bin < steps) return bin;
  const std::size_t octave = bin / steps;
  return ((bin % steps + steps + 1) << (octave - 1)) - 1;
}

}  // namespace echoform
