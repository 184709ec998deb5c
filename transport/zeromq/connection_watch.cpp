#include "transport/zeromq/connection_watch.hpp"

#include <cstring>

namespace echoform {
namespace {

constexpr int reported_events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED;

}  // namespace

ConnectionWatch::ConnectionWatch(zmq::context_t& context) : reports_(context, zmq::socket_type::pair) {
  reports_.set(zmq::sockopt::linger, 0);
  reports_.connect(endpoint);
}

ConnectionState ConnectionWatch::state() {
  zmq::message_t report;
  while (reports_.recv(report, zmq::recv_flags::dontwait)) {
    std::uint16_t event = 0;
    if (report.size() >= sizeof event) std::memcpy(&event, report.data(), sizeof event);
    while (report.more()) static_cast<void>(reports_.recv(report));  // the part that states the endpoint
    if (event == ZMQ_EVENT_CONNECTED) state_ = ConnectionState::unanswered;
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) state_ = ConnectionState::established;
    // The event reports a failed attempt to connect, or the end of a connection that had begun.
    if (event == ZMQ_EVENT_CLOSED) state_ = ConnectionState::absent;
    if (event == ZMQ_EVENT_DISCONNECTED && state_ == ConnectionState::established) state_ = ConnectionState::absent;
  }
  return state_;
}

void report_connection(zmq::socket_t& socket, const std::string& endpoint) {
  if (::zmq_socket_monitor(socket.handle(), endpoint.c_str(), reported_events) != 0) throw zmq::error_t();
}

}  // namespace echoform
