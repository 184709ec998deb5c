// What the subscribers of an XPUB socket want.
#pragma once

#include <zmq.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "transport/zeromq/context.hpp"

namespace echoform {

/// Prefixes come from peers: their number is limited. One too many, and the peer that has sent most is cut off.
class Subscriptions {
 public:
  static constexpr std::size_t most = 1024;

  explicit Subscriptions(ZeromqContext& context) : context_(context) {}

  /// Takes all that has come: libzmq keeps it without a limit until then. Allocates only if something has.
  void read(zmq::socket_t& socket);
  /// Whether somebody may want messages that begin with `begin`.
  [[nodiscard]] bool wanted(std::string_view begin) const;

 private:
  void add(std::string_view prefix);
  void remove(std::string_view prefix);

  ZeromqContext& context_;
  std::set<std::string, std::less<>> prefixes_;
  std::size_t passed_over_ = 0;  // prefixes beyond the limit; while there are any, everything counts as wanted
};

}  // namespace echoform
