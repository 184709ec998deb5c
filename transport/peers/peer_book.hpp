// How many connections a door has and how fast they come, in all and from one address. Knows no sockets and no clock.
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
  /// Connections a second that all addresses together may make for long, loopback included, and at once. For doors where a
  /// newcomer causes work that others wait for.
  double rate_of_all = std::numeric_limits<double>::infinity();
  double burst_of_all = std::numeric_limits<double>::infinity();
};

/// One thread at a time. Its memory is bounded whatever comes.
class PeerBook {
 public:
  using Address = boost::asio::ip::address;
  using Time = std::chrono::steady_clock::time_point;

  explicit PeerBook(const PeerLimits& limits) : limits_(limits), may_come_(limits.burst_of_all) {}

  /// Lets a connection in (nothing is returned; leave() when it ends) or says why not.
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

/// IPv4 in IPv6, as a socket for both says it, as IPv4; any other as it is.
[[nodiscard]] boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

/// What counts as one address: IPv4 in IPv6 as IPv4, IPv6 by its first 64 bits, which one host may fill.
[[nodiscard]] boost::asio::ip::address peer_network(const boost::asio::ip::address& address);

}  // namespace echoform
