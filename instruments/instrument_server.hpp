// A TCP server for a simulated instrument.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "instruments/simulated_peer.hpp"

namespace echoform {

class InstrumentServer {
 public:
  /// Listens at an address of this machine; port 0 takes a free one. Throws RuntimeFault where that fails.
  InstrumentServer(const std::string& address, std::uint16_t port, SimulatedPeer& instrument);
  ~InstrumentServer();
  InstrumentServer(const InstrumentServer&) = delete;
  InstrumentServer& operator=(const InstrumentServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Serves one connection after the other until a stop is requested. Stopping takes up to a tenth of a second, and the time
  /// that making a cycle takes. Commands are read unless a MiB of answers waits to be sent.
  void run(const std::stop_token& stop);

 private:
  void serve(int peer, const std::stop_token& stop);

  SimulatedPeer& instrument_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace echoform
