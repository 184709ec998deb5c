// Settings between who changes them and the thread that tells the instrument.
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

  /// From any other thread, one at a time. While the instrument fires it rings the bell, and waits until it has been told: throws
  /// what it refuses, and then it has what it had before, or RuntimeFault after `time`. Otherwise the next set-up has them.
  void change(const LiveSettings& wanted, const WakeBell& bell, std::chrono::milliseconds time);

  // For the thread.
  /// What to set the instrument up with.
  [[nodiscard]] LiveSettings begin();
  /// Whether changes are told to it at once. Who waits for one when it ends is told that it failed.
  void set_firing(bool firing);
  /// Whether it is to be told of a change: wanted() says which.
  [[nodiscard]] bool asked() const noexcept { return asked_.load(); }
  [[nodiscard]] LiveSettings wanted() const;
  /// What has become of a change to `tried`; null: it has it. Who waits for another one goes on waiting.
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
