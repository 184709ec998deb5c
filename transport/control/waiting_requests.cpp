#include "transport/control/waiting_requests.hpp"

#include <algorithm>
#include <utility>

namespace echoform {
namespace {

// Finds a client by the identity in its message. This works as long as the client has a message here.
template <class Clients>
auto find(Clients& clients, const ControlMessage& message) {
  return std::find_if(clients.begin(), clients.end(), [&](const auto& client) {
    return client.front().front().to_string_view() == message.front().to_string_view();
  });
}

}  // namespace

bool WaitingRequests::full_for(const ControlMessage& message) const {
  const auto client = find(clients_, message);
  return size_ >= most || (client != clients_.end() && client->size() >= most_of_one);
}

void WaitingRequests::add(ControlMessage message) {
  auto client = find(clients_, message);
  if (client == clients_.end()) client = clients_.emplace(clients_.end());
  client->push_back(std::move(message));
  ++size_;
}

ControlMessage WaitingRequests::next() {
  Client& client = clients_.front();
  ControlMessage message = std::move(client.front());
  client.pop_front();
  --size_;
  if (client.empty()) {
    clients_.pop_front();
  } else {
    clients_.splice(clients_.end(), clients_, clients_.begin());
  }
  return message;
}

}  // namespace echoform
