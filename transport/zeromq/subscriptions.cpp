#include "transport/zeromq/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace echoform {

// libzmq reports a prefix once when it gets its first subscriber, and once when its last subscriber has left.
void Subscriptions::read(zmq::socket_t& socket, int at_most) {
  zmq::message_t message;
  int taken = 0;
  for (; taken < at_most && socket.recv(message, zmq::recv_flags::dontwait); ++taken) {
    if (message.size() == 0) continue;
    const auto* const bytes = message.data<char>();
    const std::string_view prefix(bytes + 1, message.size() - 1);
    const std::lock_guard lock(mutex_);
    if (bytes[0] == 1) add(prefix);
    if (bytes[0] == 0) remove(prefix);
  }
  if (taken == 0) return;
  const std::lock_guard lock(mutex_);
  note();
}

void Subscriptions::follow(std::vector<std::string> beginnings) {
  const std::lock_guard lock(mutex_);
  followed_ = std::move(beginnings);
  note();
}

void Subscriptions::add(std::string_view prefix) {
  if (prefixes_.contains(prefix)) return;
  if (prefixes_.size() < maximum_count && bytes_ + prefix.size() <= maximum_bytes) {
    prefixes_.emplace(prefix);
    bytes_ += prefix.size();
    return;
  }
  ++passed_over_;
  context_.drop_loudest();
}

void Subscriptions::remove(std::string_view prefix) {
  const auto known = prefixes_.find(prefix);
  if (known != prefixes_.end()) {
    bytes_ -= prefix.size();
    prefixes_.erase(known);
  } else if (passed_over_ > 0) {
    --passed_over_;
  }
}

void Subscriptions::note() {
  wanted_.store(std::any_of(followed_.begin(), followed_.end(), [this](const std::string& begin) { return wanted(begin); }),
                std::memory_order_relaxed);
}

bool Subscriptions::wanted(std::string_view begin) const {
  return passed_over_ > 0 || std::any_of(prefixes_.begin(), prefixes_.end(), [&](const std::string& prefix) {
           return begin.starts_with(prefix) || std::string_view(prefix).starts_with(begin);
         });
}

}  // namespace echoform
