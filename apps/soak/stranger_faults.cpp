// Faults of other peers at the endpoint for frames, while the sender continues.
#include <algorithm>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "apps/soak/fault_kinds.hpp"
#include "apps/soak/wire_bytes.hpp"
#include "base/errors.hpp"

namespace echoform::soak {
namespace {

std::string hello(const FaultContext& context) {
  return hello_bytes(context.acquisition, context.configuration.input.token, context.random() | 1U);
}

/// Sends, signals the end of its data, and waits for the server to close.
void send_and_leave(const FaultContext& context, std::string_view bytes) {
  RawConnection connection(context.places.frames);
  static_cast<void>(connection.send(bytes));
  connection.end_sending();
  if (!connection.read_to_end(patience)) throw RuntimeFault("the server does not close");
  context.await();
}

}  // namespace

void second_sender(const FaultContext& context) {
  context.expect(counter::rejected);
  RawConnection connection(context.places.frames);
  static_cast<void>(connection.send(hello(context)));
  if (answer_of(connection) != Answer::reject) throw RuntimeFault("a second sender was not rejected");
  context.await();
}

void garbage_connection(const FaultContext& context) {
  std::string garbage(static_cast<std::size_t>(context.pick(24, 4096)), '\0');
  for (char& byte : garbage) byte = static_cast<char>(context.random());
  garbage[0] = static_cast<char>(garbage[0] | 0x80);  // never the E of EFRM
  context.expect(counter::decode_error("bad_magic"));
  context.expect(counter::rejected);
  send_and_leave(context, garbage);
}

void corrupt_hello(const FaultContext& context) {
  std::string bytes = hello(context);
  char& hit = bytes[static_cast<std::size_t>(context.pick(24, bytes.size() - 1))];
  hit = static_cast<char>(hit ^ (1 << context.pick(0, 7)));
  context.expect(counter::decode_error("bad_checksum"));
  context.expect(counter::rejected);
  send_and_leave(context, bytes);
}

void truncated_hello(const FaultContext& context) {
  std::string bytes = hello(context);
  bytes.resize(static_cast<std::size_t>(context.pick(1, bytes.size() - 1)));
  context.expect(counter::decode_error("truncated"));
  context.expect(counter::rejected);
  send_and_leave(context, bytes);
}

void shot_before_hello(const FaultContext& context) {
  const std::vector<std::byte> payload(FrameLayout(context.acquisition).shot_bytes(0).count);
  context.expect(counter::decode_error("unexpected_message"));
  context.expect(counter::rejected);
  send_and_leave(context, shot_bytes(1, 0, payload));
}

void connection_storm(const FaultContext& context) {
  // This is the number of free places besides the sender's and those of lingering connections. With more, one of those would have
  // to give way.
  const std::uint64_t connections = context.pick(3, 7);
  context.expect(counter::rejected, connections);
  std::vector<RawConnection> storm;
  for (std::uint64_t n = 0; n < connections; ++n) storm.emplace_back(context.places.frames);
  storm.clear();
  context.await();
}

void silent_connection(const FaultContext& context) {
  context.judge.expectations().add_later(counter::timed_out);
  context.judge.expectations().add_later(counter::rejected);
  context.lingering.add(context.name, RawConnection(context.places.frames), {{counter::timed_out}, {counter::rejected}});
}

void trickling_hello(const FaultContext& context) {
  context.judge.expectations().add_later(counter::timed_out);
  context.judge.expectations().add_later(counter::rejected);
  context.lingering.add(context.name, RawConnection(context.places.frames), {{counter::timed_out}, {counter::rejected}},
                        hello(context));
}

}  // namespace echoform::soak
