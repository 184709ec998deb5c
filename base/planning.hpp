// Work before the first frame that may take seconds: plans, tables of delays, engines. The server may be told to stop meanwhile, and
// a sender may ask for more than it is worth: then the work ends between two pieces.
//
// A Planning is what the thread that it was made on, and the threads that share its loops, work for, as long as it lives. Loops
// of set-up call keep_planning() once for every piece of some milliseconds; those that run by for_each_or_throw() and
// over_sources() do so already. Where there is no Planning it does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "base/errors.hpp"

namespace echoform {

/// Planning was given up. Its line says why.
class PlanningEnded final : public InputError {
 public:
  using InputError::InputError;
};

class Planning {
 public:
  /// Ends once `stop` is requested, or after `limit` (0: never) of the machine's own time.
  explicit Planning(std::stop_token stop, std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
  ~Planning();
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;

  /// Of this thread; null where there is none.
  [[nodiscard]] static const Planning* current() noexcept;
  /// Throws PlanningEnded if it is to end.
  void check() const;

  /// Makes another thread work for `planning`, which may be null, as long as it lives.
  class Share {
   public:
    explicit Share(const Planning* planning) noexcept;
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    const Planning* const before_;
  };

 private:
  const std::stop_token stop_;
  const std::chrono::nanoseconds limit_;
  const std::chrono::steady_clock::time_point begin_;
  const Share here_;
};

/// Throws PlanningEnded if the planning that this thread works for is to end.
void keep_planning();

}  // namespace echoform
