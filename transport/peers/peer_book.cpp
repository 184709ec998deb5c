#include "transport/peers/peer_book.hpp"

#include <algorithm>

namespace echoform {
namespace {

constexpr std::size_t most_addresses = 1024;

}  // namespace

boost::asio::ip::address unmapped(const boost::asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
}

boost::asio::ip::address peer_network(const boost::asio::ip::address& given) {
  const auto address = unmapped(given);
  if (!address.is_v6() || address.is_loopback()) return address;
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return boost::asio::ip::address_v6(bytes);
}

std::optional<PeerRefusal> PeerBook::enter(const Address& from, Time now) {
  // Connections that are refused for another reason do not use up the rate that all peers share.
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - last_came_).count());
  const double may_come = std::min(limits_.burst_of_all, may_come_ + limits_.rate_of_all * seconds);
  if (may_come < 1.0) return PeerRefusal::too_often;
  if (const auto refused = refusal(peer_network(from), now)) return refused;
  may_come_ = may_come - 1.0;
  last_came_ = now;
  ++open_;
  return std::nullopt;
}

std::optional<PeerRefusal> PeerBook::refusal(const Address& network, Time now) {
  if (network.is_loopback()) return open_ >= limits_.connections ? std::optional(PeerRefusal::too_many) : std::nullopt;
  auto at = addresses_.find(network);
  if (at == addresses_.end()) {
    if (addresses_.size() >= most_addresses) forget(now);
    at = addresses_.emplace(network, Entry{0, limits_.burst, now}).first;
  }
  Entry& entry = at->second;
  entry.allowance = allowance(entry, now);
  entry.seen = now;
  if (entry.allowance < 1.0) return PeerRefusal::too_often;
  entry.allowance -= 1.0;
  if (open_ >= limits_.connections) return PeerRefusal::too_many;
  if (entry.open >= limits_.per_address) return PeerRefusal::address_limit;
  ++entry.open;
  return std::nullopt;
}

void PeerBook::leave(const Address& from) {
  const Address network = peer_network(from);
  if (open_ > 0) --open_;
  const auto at = addresses_.find(network);
  if (at != addresses_.end() && at->second.open > 0) --at->second.open;
}

double PeerBook::allowance(const Entry& entry, Time now) const {
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - entry.seen).count());
  return std::min(limits_.burst, entry.allowance + limits_.rate * seconds);
}

// Removes addresses that are not connected and have been quiet for long enough. If the book is still full, it removes the
// unconnected address that was seen longest ago.
void PeerBook::forget(Time now) {
  std::erase_if(addresses_,
                [&](const auto& item) { return item.second.open == 0 && allowance(item.second, now) >= limits_.burst; });
  if (addresses_.size() < most_addresses) return;
  auto oldest = addresses_.end();
  for (auto at = addresses_.begin(); at != addresses_.end(); ++at) {
    if (at->second.open == 0 && (oldest == addresses_.end() || at->second.seen < oldest->second.seen)) oldest = at;
  }
  if (oldest != addresses_.end()) addresses_.erase(oldest);
}

}  // namespace echoform
