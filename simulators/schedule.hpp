// The times at which to send frames, and how well they were kept.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace echoform {

/// What a schedule does with deadlines that have passed.
enum class LatePolicy : std::uint8_t {
  catch_up,  ///< sends every frame; after a delay at full speed until it is on time again. The count is exact.
  skip,      ///< leaves out frames whose successor is already due. The error stays below one period.
};

/// Elapsed minus scheduled time of the frames sent: positive is late. All 0 before the first and without a rate.
struct TimingError {
  std::uint64_t count = 0;
  std::chrono::nanoseconds last{0};
  std::chrono::nanoseconds maximum{0};
  std::chrono::nanoseconds mean{0};
  std::chrono::nanoseconds p99{0};  ///< nearest rank, rounded up by at most 1 part in 32
};

/// "25" or "max" (no rate). Throws InputError (naming `where`) for anything else, and unless 0.001 <= rate <= 1e6.
[[nodiscard]] std::optional<double> parse_rate(std::string_view text, std::string_view where);

/// Frame k is due at start + k / rate, computed from k itself: nothing drifts, whatever the rate. One thread uses it.
class SendSchedule {
 public:
  /// `frames_per_second`: 0.001 to 1e6, or none to send as fast as possible. InputError otherwise. `clock` outlives this.
  SendSchedule(const Clock& clock, std::optional<double> frames_per_second, LatePolicy policy = LatePolicy::catch_up);

  /// Frame 0 is due now; counters begin again. Construction does this too.
  void start();

  /// Time left until the next frame is due; 0 if it is due or overdue, and always without a rate.
  [[nodiscard]] std::chrono::nanoseconds wait() const;
  /// Number of the frame to send now; notes the timing error. Call it when wait() is 0.
  std::uint64_t take();

  /// Deadline of frame `frame` on the clock.
  [[nodiscard]] SteadyTime deadline(std::uint64_t frame) const;

  [[nodiscard]] std::optional<double> rate() const noexcept { return rate_; }
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  /// The frame that take() would return if nothing is skipped.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return clock_.steady() - start_; }
  [[nodiscard]] TimingError timing_error() const;

 private:
  /// Lateness in nanoseconds: exact below 32, then 32 steps an octave.
  static constexpr std::size_t steps = 32;
  static constexpr std::size_t bins = steps * 60;
  [[nodiscard]] static std::size_t bin_of(std::uint64_t lateness);
  [[nodiscard]] static std::uint64_t upper_edge(std::size_t bin);

  const Clock& clock_;
  std::optional<double> rate_;
  LatePolicy policy_;
  SteadyTime start_{0};
  std::uint64_t next_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t skipped_ = 0;
  std::int64_t last_error_ = 0;
  std::int64_t maximum_error_ = 0;
  long double error_sum_ = 0.0L;
  std::array<std::uint64_t, bins> histogram_{};
};

}  // namespace echoform
