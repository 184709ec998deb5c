// The endpoints for acquisition frames: keys of [input].
#include "config/common_keys.hpp"
#include "config/key_types.hpp"
#include "pipeline/words.hpp"

namespace echoform {

void add_input_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  const Range wait = within(0.001, 3600.0);
  const Range wait_or_never = within(0.0, 86400.0);
  k.push_back(text(
      {"input", "listen", "", "Where senders connect over TCP; port 0 takes a free one."}, "ADDRESS:PORT", address_port,
      [](auto& c) -> auto& { return c.input.listen; }));
  k.push_back(text(
      {"input", "zeromq", "",
       "Where senders connect over ZeroMQ (PULL), usually port 17172; port 0 takes a free one, empty opens no such door."},
      "ADDRESS:PORT", address_port_or_none, [](auto& c) -> auto& { return c.input.zeromq; }));
  k.push_back(number(
      {"input", "zeromq_idle_timeout", "s",
       "A sender over ZeroMQ that is silent for this time has left: another may begin. It goes on with its next Hello."},
      wait, [](auto& c) -> auto& { return c.input.zeromq_idle_timeout; }));
  k.push_back(text(
      {"input", "token", "", "Secret that senders must state; empty asks for none."}, "", any_text,
      [](auto& c) -> auto& { return c.input.token; }));
  k.push_back(word(
      {"input",
       "drop_policy",
       "",
       "When every slot is taken: hold the sender back, give up the oldest waiting frame, or refuse the new one.",
       {},
       LiveEffect::input},
      words::drop_policy, [](auto& c) -> auto& { return c.input.drop_policy; }));
  k.push_back(integer(
      {"input", "slots", "", "Frames in flight at once."}, within(2, 64), [](auto& c) -> auto& { return c.input.slots; }));
  k.push_back(number(
      {"input", "incomplete_timeout", "s", "A frame whose shots have not all come after this time is dropped."}, wait,
      [](auto& c) -> auto& { return c.input.incomplete_timeout; }));
  k.push_back(number(
      {"input", "hello_timeout", "s", "A TCP connection that has not introduced itself after this time is closed."}, wait,
      [](auto& c) -> auto& { return c.input.hello_timeout; }));
  k.push_back(number(
      {"input", "stall_timeout", "s", "A TCP connection that falls silent within a message for this time is closed; 0 is never."},
      wait_or_never, [](auto& c) -> auto& { return c.input.stall_timeout; }));
  k.push_back(number(
      {"input", "message_timeout", "s",
       "A TCP connection on which one message takes longer than this is closed, however steadily it trickles; 0 is never."},
      wait_or_never, [](auto& c) -> auto& { return c.input.message_timeout; }));
  k.push_back(number(
      {"input", "idle_timeout", "s", "A TCP connection that falls silent between messages for this time is closed; 0 is never."},
      wait_or_never, [](auto& c) -> auto& { return c.input.idle_timeout; }));
  k.push_back(number(
      {"input", "planning_timeout", "s",
       "A stream, or a live change, whose delay tables and transforms take longer than this to make is refused; 0 is never."},
      wait_or_never, [](auto& c) -> auto& { return c.input.planning_timeout; }));
  k.push_back(number(
      {"input", "release_after", "s",
       "Slots and engine are given back when no sender has been connected for this time; 0 is never. Until then the next sender "
       "with "
       "the same acquisition goes on with them."},
      wait_or_never, [](auto& c) -> auto& { return c.input.release_after; }));
  k.push_back(integer(
      {"input", "io_threads", "", "Threads that read TCP connections."}, within(1, 64),
      [](auto& c) -> auto& { return c.input.io_threads; }));
  k.push_back(integer(
      {"input", "max_connections", "", "Connections at once, over TCP and over ZeroMQ; one more is rejected."}, within(1, 4096),
      [](auto& c) -> auto& { return c.input.max_connections; }));
  k.push_back(integer(
      {"input", "max_elements", "", "Elements that a sender may state."}, within(1, 1024),
      [](auto& c) -> auto& { return c.input.max_elements; }));
  k.push_back(integer(
      {"input", "max_samples", "", "Samples per A-scan that a sender may state."}, within(2, 1 << 20),
      [](auto& c) -> auto& { return c.input.max_samples; }));
  k.push_back(integer(
      {"input", "max_frame_bytes", "bytes", "Size of a frame that a sender may state."}, within(1, 1 << 30),
      [](auto& c) -> auto& { return c.input.max_frame_bytes; }));
}

}  // namespace echoform
