// Limits the number of connections of a listening socket and the rate of new ones, in all and from one address. It uses no
// sockets and no clock.
#pragma once

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "transport/peers/peer_counters.hpp"

namespace echoform {

struct PeerLimits {
  std::size_t connections = 64;  ///< at once
  std::size_t per_address = 32;  ///< of which from one address; loopback excepted, where everybody has the same
  double rate = 10.0;            ///< connections a second that one address may make for long; loopback excepted
  double burst = 50.0;           ///< and at once
  /// Connections a second that all addresses together, loopback included, may make for long, and the number that they may
  /// make at once. For sockets on which a new connection causes work that delays others.
  double rate_of_all = std::numeric_limits<double>::infinity();
  double burst_of_all = std::numeric_limits<double>::infinity();
};

/// One thread at a time. Its memory is bounded whatever comes.
class PeerBook {
 public:
  using Address = boost::asio::ip::address;
  using Time = std::chrono::steady_clock::time_point;

  explicit PeerBook(const PeerLimits& limits) : limits_(limits), may_come_(limits.burst_of_all) {}

  /// Lets a connection in and returns nothing (call leave() when it ends), or returns the reason of a refusal.
  [[nodiscard]] std::optional<PeerRefusal> enter(const Address& from, Time now);
  void leave(const Address& from);

  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  [[nodiscard]] std::size_t addresses() const noexcept { return addresses_.size(); }

 private:
  struct Entry {
    std::size_t open = 0;
    double allowance = 0.0;  ///< connections that may come at once, at `seen`
    Time seen;
  };
  [[nodiscard]] std::optional<PeerRefusal> refusal(const Address& network, Time now);
  [[nodiscard]] double allowance(const Entry& entry, Time now) const;
  void forget(Time now);

  PeerLimits limits_;
  double may_come_;  ///< connections of all that may come at once, at `last_came_`
  Time last_came_;
  std::size_t open_ = 0;
  std::map<Address, Entry> addresses_;
};

/// The IPv4 address of an IPv4-mapped IPv6 address, which a socket for both reports; any other address unchanged.
[[nodiscard]] boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

/// The network that counts as one address: an IPv4-mapped IPv6 address as IPv4, an IPv6 address by its first 64 bits, since
/// one host may own all addresses with these.
[[nodiscard]] boost::asio::ip::address peer_network(const boost::asio::ip::address& address);

}  // namespace echoform
