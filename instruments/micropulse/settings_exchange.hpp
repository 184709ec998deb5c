// Hands settings from whoever changes them to the thread that sends them to the instrument.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/wake_bell.hpp"
#include "instruments/micropulse/instrument_settings.hpp"

namespace echoform::micropulse {

class SettingsExchange {
 public:
  explicit SettingsExchange(const LiveSettings& first) : wanted_(first), told_(first) {}

  /// Asks for other settings. Call it from any thread but the source's own, one call at a time. While the instrument fires,
  /// rings the bell and waits until the instrument has the settings. Throws the instrument's refusal, after which the old
  /// settings remain, or RuntimeFault after `time`. While it does not fire, the next set-up uses the new settings.
  void change(const LiveSettings& wanted, const WakeBell& bell, std::chrono::milliseconds time);

  // The functions below are for the source's thread.
  /// The settings with which to set the instrument up.
  [[nodiscard]] LiveSettings begin();
  /// Whether the instrument fires, so that changes are sent at once. When firing ends, a change() that waits fails.
  void set_firing(bool firing);
  /// Whether a change is to be sent to the instrument: the settings of wanted().
  [[nodiscard]] bool asked() const noexcept { return asked_.load(); }
  [[nodiscard]] LiveSettings wanted() const;
  /// Reports the outcome of a change to `tried`: the exception by which it was refused, or null where the instrument has
  /// taken it. A change() that waits for other settings goes on waiting.
  void answer(const LiveSettings& tried, std::exception_ptr refused);

 private:
  void look();

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  LiveSettings wanted_;
  LiveSettings told_;
  bool firing_ = false;
  bool waiting_ = false;  // somebody, for the outcome
  std::exception_ptr outcome_;
  std::atomic<bool> asked_{false};
};

}  // namespace echoform::micropulse
