#include "transport/zeromq/subscriptions.hpp"

#include <algorithm>

namespace echoform {
namespace {

constexpr int at_a_time = 256;

}  // namespace

// libzmq says it once when a prefix finds its first subscriber, and once when its last has left.
void Subscriptions::read(zmq::socket_t& socket) {
  zmq::message_t message;
  for (int i = 0; i < at_a_time && socket.recv(message, zmq::recv_flags::dontwait); ++i) {
    if (message.size() == 0) continue;
    const auto* const bytes = message.data<char>();
    const std::string_view prefix(bytes + 1, message.size() - 1);
    if (bytes[0] == 1) add(prefix);
    if (bytes[0] == 0) remove(prefix);
  }
}

void Subscriptions::add(std::string_view prefix) {
  if (std::find(prefixes_.begin(), prefixes_.end(), prefix) != prefixes_.end()) return;
  if (prefixes_.size() < most) {
    prefixes_.emplace_back(prefix);
    return;
  }
  ++passed_over_;
  context_.drop_loudest();
}

void Subscriptions::remove(std::string_view prefix) {
  const auto known = std::find(prefixes_.begin(), prefixes_.end(), prefix);
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
