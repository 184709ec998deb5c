// Attacks of many peers at once to exhaust a server, and a log that nobody reads. They must cost the sender and the good viewers
// nothing, and a request to the attacked endpoint must still be answered.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "apps/soak/attack.hpp"
#include "apps/soak/fault_kinds.hpp"
#include "base/errors.hpp"
#include "base/sanitizers.hpp"
#include "transport/control/zeromq_control.hpp"

namespace echoform::soak {
namespace {

using namespace std::string_view_literals;

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t n = 0; n < times; ++n) all += text;
  return all;
}

/// Opens a connection, unless the server has no place for it.
void connect(std::vector<RawConnection>& connections, const HostPort& place, int receive_buffer = 0) {
  try {
    connections.emplace_back(place, receive_buffer);
  } catch (const RuntimeFault&) {
  }
}

/// Sends `over_and_over` on every connection until `done`, which receives the connections that the server has not ended.
template <class Done>
void send_without_end(const FaultContext& context, std::vector<RawConnection>& connections, std::string_view over_and_over,
                      std::string_view missing, Done done) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!done(connections)) {
    std::erase_if(connections, [&](RawConnection& connection) { return !connection.send_some(over_and_over); });
    if (std::chrono::steady_clock::now() > deadline) throw RuntimeFault(std::string(missing));
    if (context.judge.verdict().token().stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // between checks; the server decides
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

/// Limits of what an attack may cost others, in addition to the effects of a busy machine.
constexpr std::chrono::duration<double> longest_pause{0.5};
constexpr std::chrono::seconds attack_length{3};
constexpr std::chrono::seconds attack_aftermath{5};
constexpr double memory_kept = 64.0 * 1048576.0;
constexpr std::chrono::duration<double> memory_patience{10.0};
/// With a sanitizer everything is so slow that more clients would keep the viewers from running, not the server from its work.
constexpr bool sanitized = ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER;

/// Waits, and notes how much later than requested it woke up: this is the delay of everything on a busy machine.
class Watch {
 public:
  explicit Watch(const FaultContext& context) : context_(context) {}
  /// False if the run must end.
  bool wait(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds slice{20};
    const auto until = std::chrono::steady_clock::now() + time;
    for (auto now = std::chrono::steady_clock::now(); now < until; now = std::chrono::steady_clock::now()) {
      if (context_.judge.verdict().token().stop_requested()) return false;
      std::this_thread::sleep_for(slice);
      latest_ = std::max<std::chrono::nanoseconds>(latest_, std::chrono::steady_clock::now() - now - slice);
    }
    return true;
  }
  [[nodiscard]] std::chrono::nanoseconds lateness() const { return latest_; }

 private:
  const FaultContext& context_;
  std::chrono::nanoseconds latest_{0};
};

/// Attacks the endpoint for a while. Images must keep coming all the time, and memory must be returned.
void attack(const FaultContext& context, AttackKind kind, const std::string& endpoint) {
  if (endpoint.empty()) return;
  const double before = read_process(context.server).memory;
  Watch watch(context);
  static_cast<void>(context.good.take_longest_pause());
  if (!watch.wait(std::chrono::seconds(1))) return;
  const auto usual_pause = context.good.take_longest_pause();
  static_cast<void>(context.traffic.take_lateness());
  const std::size_t clients = (context.pick(0, 1) == 0 ? 20 : 40) / (sanitized ? 5 : 1);
  std::uint64_t connections = 0;
  {
    const Attack attack(kind, endpoint, clients, context.random());
    if (!watch.wait(attack_length)) return;
    connections = attack.connections();
  }
  const auto last_client = std::chrono::steady_clock::now();
  if (!watch.wait(attack_aftermath)) return;
  const auto pause = context.good.take_longest_pause();
  const std::chrono::duration<double> limit =
      context.slack * longest_pause + usual_pause + context.traffic.take_lateness() + watch.lateness();
  if (pause > limit) {
    throw RuntimeFault(fmt::format("{} clients ({} connections) kept images back for {:.2f} s; expected at most {:.2f} s",
                                   clients, connections, std::chrono::duration<double>(pause).count(), limit.count()));
  }
  // The heap of a sanitizer keeps freed memory, to find its use.
  if (sanitized) return;
  const auto longest = context.slack * memory_patience;
  for (double kept = 0.0; (kept = read_process(context.server).memory - before) > memory_kept;) {
    if (std::chrono::steady_clock::now() > last_client + longest) {
      throw RuntimeFault(
          fmt::format("the server has {:.0f} MiB more than before {} s after the last client has gone; expected at most {:.0f}",
                      kept / 1048576.0, longest.count(), memory_kept / 1048576.0));
    }
    if (!watch.wait(std::chrono::milliseconds(100))) return;
  }
}

}  // namespace

void subscriptions_to_images(const FaultContext& context) {
  attack(context, AttackKind::subscriptions, context.places.images);
}

void subscriptions_to_telemetry(const FaultContext& context) {
  attack(context, AttackKind::subscriptions, context.places.telemetry);
}

void requests_to_control(const FaultContext& context) {
  attack(context, AttackKind::requests, context.places.control);
  ask_for_settings(context);
}

void control_parts_without_end(const FaultContext& context) {
  if (context.places.control.empty()) return;
  const HostPort place = place_of(context.places.control);
  std::vector<RawConnection> peers;
  for (std::uint64_t n = context.pick(8, 64); n > 0; --n) {
    connect(peers, place);
    if (!peers.empty()) static_cast<void>(peers.back().send(zeromq_handshake("REQ")));
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
  for (std::uint64_t n = context.pick(4, 16); n > 0; --n) second_sender(context);  // each leaves lines in the log
  await_an_image(context);
  ask_for_settings(context);
}

}  // namespace echoform::soak
