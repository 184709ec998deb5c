#include "transport/zeromq/subscriptions.hpp"

#include <algorithm>

namespace echoform {

// libzmq says it once when a prefix finds its first subscriber, and once when its last has left.
void Subscriptions::read(zmq::socket_t& socket) {
  zmq::message_t message;
  while (socket.recv(message, zmq::recv_flags::dontwait)) {
    if (message.size() == 0) continue;
    const auto* const bytes = message.data<char>();
    const std::string_view prefix(bytes + 1, message.size() - 1);
    if (bytes[0] == 1) add(prefix);
    if (bytes[0] == 0) remove(prefix);
  }
}

void Subscriptions::add(std::string_view prefix) {
  if (prefixes_.contains(prefix)) return;
  if (prefixes_.size() < most) {
    prefixes_.emplace(prefix);
    return;
  }
  ++passed_over_;
  context_.drop_loudest();
}

void Subscriptions::remove(std::string_view prefix) {
  const auto known = prefixes_.find(prefix);
  if (known != prefixes_.end()) {
    prefixes_.erase(known);
  } else if (passed_over_ > 0) {
    --passed_over_;
  }
}

bool Subscriptions::wanted(std::string_view begin) const {
  return passed_over_ > 0 || std::any_of(prefixes_.begin(), prefixes_.end(), [&](const std::string& prefix) {
           return begin.starts_with(prefix) || std::string_view(prefix).starts_with(begin);
         });
}

}  // namespace echoform
