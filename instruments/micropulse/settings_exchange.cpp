#include "instruments/micropulse/settings_exchange.hpp"

#include <utility>

#include "base/errors.hpp"

namespace echoform::micropulse {

void SettingsExchange::look() {
  asked_ = firing_ && wanted_ != told_;
}

void SettingsExchange::change(const LiveSettings& wanted, const WakeBell& bell, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wanted_ = wanted;
  look();
  if (!asked_) return;
  waiting_ = true;
  outcome_ = nullptr;
  bell.ring();
  if (!answered_.wait_for(lock, time, [this] { return !waiting_; })) {
    waiting_ = false;
    wanted_ = told_;  // a change that has been sent meanwhile is taken back
    look();
    throw RuntimeFault("the MicroPulse has not taken the change in time");
  }
  if (outcome_) std::rethrow_exception(std::exchange(outcome_, nullptr));
}

LiveSettings SettingsExchange::begin() {
  const std::lock_guard lock(mutex_);
  told_ = wanted_;
  return told_;
}

void SettingsExchange::set_firing(bool firing) {
  const std::lock_guard lock(mutex_);
  firing_ = firing;
  if (!firing && waiting_) {
    wanted_ = told_;
    outcome_ = std::make_exception_ptr(RuntimeFault("the connection to the MicroPulse ended before it had taken the change"));
    waiting_ = false;
    answered_.notify_all();
  }
  look();
}

LiveSettings SettingsExchange::wanted() const {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void SettingsExchange::answer(const LiveSettings& tried, std::exception_ptr refused) {
  const std::lock_guard lock(mutex_);
  // The thread that asked for this change may have given up, and another may have asked for a different one.
  const bool of_who_waits = tried == wanted_;
  if (refused == nullptr) {
    told_ = tried;
  } else if (of_who_waits) {
    wanted_ = told_;
  }
  if (of_who_waits && waiting_) {
    outcome_ = std::move(refused);
    waiting_ = false;
    answered_.notify_all();
  }
  look();
}

}  // namespace echoform::micropulse
