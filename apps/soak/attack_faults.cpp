// What many peers do at once to wear a server down, and a log that nobody reads. The sender and the good viewers lose nothing by
// it, and whoever asks the attacked door meanwhile is answered.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "apps/soak/fault_kinds.hpp"
#include "base/errors.hpp"
#include "transport/control/zeromq_control.hpp"

namespace echoform::soak {
namespace {

using namespace std::string_view_literals;

/// What a REQ socket without keys sends before its first message (ZMTP 3.0: greeting, then READY).
std::string zeromq_handshake() {
  std::string bytes("\xFF\0\0\0\0\0\0\0\0\x7F\x03\0NULL"sv);
  bytes.resize(64);
  bytes += "\x04\x19\x05READY\x0BSocket-Type\0\0\0\x03REQ"sv;
  return bytes;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t n = 0; n < times; ++n) all += text;
  return all;
}

/// A connection, or none where the server has no place for it.
void connect(std::vector<RawConnection>& connections, const HostPort& place, int receive_buffer = 0) {
  try {
    connections.emplace_back(place, receive_buffer);
  } catch (const RuntimeFault&) {
  }
}

/// Sends `over_and_over` on every connection until `done`. Connections that the server has ended are left out of what it gets.
template <class Done>
void send_without_end(const FaultContext& context, std::vector<RawConnection>& connections, std::string_view over_and_over,
                      std::string_view missing, Done done) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!done(connections)) {
    std::erase_if(connections, [&](RawConnection& connection) { return !connection.send_some(over_and_over); });
    if (std::chrono::steady_clock::now() > deadline) throw RuntimeFault(std::string(missing));
    if (context.judge.verdict().token().stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // between looks; the server decides
  }
}

void await_an_image(const FaultContext& context) {
  const std::uint64_t before = value_of(context.judge.read(), counter::published);
  context.judge.await(context.name, "another image",
                      [&](const Counters& found) { return value_of(found, counter::published) > before; });
}

void ask_for_settings(const FaultContext& context) {
  if (context.places.control.empty()) return;
  wire::ControlRequest request;
  request.set_action("get");
  static_cast<void>(ask_control(context.places.control, request, patience));
}

}  // namespace

void control_parts_without_end(const FaultContext& context) {
  if (context.places.control.empty()) return;
  const HostPort place = place_of(context.places.control);
  std::vector<RawConnection> peers;
  for (std::uint64_t n = context.pick(8, 64); n > 0; --n) {
    connect(peers, place);
    if (!peers.empty()) static_cast<void>(peers.back().send(zeromq_handshake()));
  }
  static const std::string empty_parts = repeated("\x01\0"sv, 1U << 15);
  send_without_end(context, peers, empty_parts, "the server takes messages of parts without end", [](const auto& left) {
    return std::all_of(left.begin(), left.end(), [](const RawConnection& peer) { return peer.closed_by_peer(); });
  });
  peers.clear();
  await_an_image(context);
  ask_for_settings(context);
}

void silent_zeromq_connections(const FaultContext& context) {
  std::vector<HostPort> places;
  for (const std::string& endpoint : {context.places.images, context.places.telemetry, context.places.control}) {
    if (!endpoint.empty()) places.push_back(place_of(endpoint));
  }
  std::vector<RawConnection> silent;
  for (std::uint64_t n = context.pick(256, 1536); n > 0; --n) connect(silent, places[n % places.size()]);
  await_an_image(context);
  ask_for_settings(context);
  recording_starts_and_stops(context);
}

void pipelining_readers(const FaultContext& context) {
  std::vector<RawConnection> readers;
  for (std::uint64_t n = context.pick(16, 64); n > 0; --n) connect(readers, context.places.web, 4096);
  static const std::string requests = repeated(http_request(context.places.web, "/", context.places.web_token, ""), 64);
  int answered = 0;
  send_without_end(context, readers, requests, "readers that do not read keep everybody else out", [&](const auto& /*left*/) {
    await_an_image(context);
    return ++answered > 4;
  });
}

void log_nobody_reads(const FaultContext& context) {
  const UnreadLog unread(context.server_log);
  for (std::uint64_t n = context.pick(4, 16); n > 0; --n) second_sender(context);  // of whom the log has lines
  await_an_image(context);
  ask_for_settings(context);
}

}  // namespace echoform::soak
