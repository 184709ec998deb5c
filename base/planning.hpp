// Work before the first frame that may take seconds: plans, tables of delays, engines. The server may receive a request to
// stop meanwhile, or the work that a sender asks for may exceed its time limit; then the work ends between two pieces.
//
// While a Planning lives, the thread that made it works for it, and so do the threads that share its loops. Loops of set-up
// call keep_planning(), which checks for cancellation, once for every piece of some milliseconds; for_each_or_throw() and
// over_sources() do so already. Without a Planning the call does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "base/errors.hpp"

namespace echoform {

/// Planning was cancelled. The message states why.
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

  /// The Planning that this thread works for; null if there is none.
  [[nodiscard]] static const Planning* current() noexcept;
  /// Throws PlanningEnded if this planning is to end.
  void check() const;

  /// Makes another thread work for `planning`, which may be null, as long as the Share lives.
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
