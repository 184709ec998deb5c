// Faults of the sender of the frames. Each fault stops the traffic between two frames, causes its damage, and leaves a connected
// sender behind.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "acquisition/frame_layout.hpp"
#include "apps/soak/fault_kinds.hpp"
#include "apps/soak/wire_bytes.hpp"
#include "base/errors.hpp"

namespace echoform::soak {
namespace {

using Transmits = std::vector<std::size_t>;

/// Indices of the shots that the server waits for.
Transmits alive(const Acquisition& acquisition) {
  const FrameLayout layout(acquisition);
  Transmits transmits;
  for (std::size_t event = 0; event < layout.events(); ++event) {
    if (layout.expected(event)) transmits.push_back(event);
  }
  return transmits;
}

/// Offset in a frame of an A-scan of a shot that is certainly examined. It is that of the firing element, if one element fires
/// and is alive, or else that of the first receiver that is alive.
std::size_t own_a_scan(const Acquisition& acquisition, std::size_t transmit) {
  const FrameLayout layout(acquisition);
  const auto element = firing_element(acquisition, transmit);
  auto row = element ? layout.row_of(transmit, *element) : std::nullopt;
  for (std::size_t receiver = 0; !row && receiver < acquisition.elements(); ++receiver) {
    if (!acquisition.probe.elements[receiver].dead) row = layout.row_of(transmit, receiver);
  }
  return row.value_or(layout.shot(transmit).first) * layout.bytes_per_row();
}

/// A number from 1 to `of` - 1: some of them, but not all.
std::size_t some_but_not_all(const FaultContext& context, std::size_t of) {
  return static_cast<std::size_t>(context.pick(1, of - 1));
}

/// Replaces the sender with an accepted connection that is driven byte by byte.
RawConnection take_its_place(const FaultContext& context, Stream& stream) {
  stream.finish();
  context.await_departure();
  RawConnection connection(context.places.frames);
  context.expect(counter::accepted);
  const bool sent = connection.send(hello_bytes(stream.acquisition(), context.configuration.input.token, context.random() | 1U));
  if (!sent || answer_of(connection) != Answer::accept) throw RuntimeFault("the server did not accept a sender");
  return connection;
}

void send_shot(RawConnection& connection, Stream& stream, std::size_t transmit) {
  if (!connection.send(shot_bytes(stream.sequence(), transmit, stream.shot_samples(transmit)))) {
    throw RuntimeFault("the server does not take a sender's shots");
  }
}

/// Sends a frame in which a shot breaks off: some whole shots and a piece of another.
void send_cut_frame(const FaultContext& context, RawConnection& connection, Stream& stream) {
  const Transmits transmits = alive(stream.acquisition());
  const std::size_t whole = some_but_not_all(context, transmits.size());
  context.expect(counter::received);
  context.expect(counter::incomplete);
  for (std::size_t i = 0; i < whole; ++i) send_shot(connection, stream, transmits[i]);
  const auto payload = stream.shot_samples(transmits[whole]);
  const std::string shot = shot_bytes(stream.sequence(), transmits[whole], payload);
  connection.send(std::string_view(shot).substr(0, shot.size() - context.pick(1, payload.size())));
  stream.go_on_with(stream.sequence() + 1);
}

/// Continues the numbering at `place`. A server takes shots that are less than 256 frames back for stale ones. So if `place` is
/// near, the numbering first jumps to a place far away.
void renumber(const FaultContext& context, Stream& stream, std::uint64_t place) {
  stream.send_frame();
  if (!context.settle()) return;
  constexpr std::uint64_t near = 1U << 20;
  if (place - stream.sequence() + near < 2 * near) {
    stream.go_on_with(place + (std::uint64_t{1} << 62));
    stream.send_frame();
    if (!context.settle()) return;
  }
  stream.go_on_with(place);
}

void come_back(const FaultContext& context, Stream& stream) {
  if (context.await_departure()) stream.reopen();
}

void change_part(const FaultContext& context, Stream& stream, std::size_t part) {
  if (stream.part() == part) return;
  stream.finish();
  if (context.await_departure()) stream.open(part, stream.connections());
}

}  // namespace

void sender_killed_in_mid_frame(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    Transmits transmits = alive(stream.acquisition());
    transmits.resize(some_but_not_all(context, transmits.size()));
    context.expect(counter::received);
    context.expect(counter::incomplete);
    stream.send_shots(transmits);
    stream.go_on_with(stream.sequence() + 1);
    stream.kill();
    come_back(context, stream);
  });
}

void sender_reset_in_mid_frame(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    RawConnection connection = take_its_place(context, stream);
    if (!context.settle()) return;
    // A reset discards what the server has not read, so the server must have read all of it before.
    const std::uint64_t before = value_of(context.judge.read(), counter::bytes);
    const std::size_t transmit = alive(stream.acquisition()).front();
    context.expect(counter::received);
    context.expect(counter::incomplete);
    context.expect(counter::lost);
    send_shot(connection, stream, transmit);
    const std::uint64_t sent = stream.shot_samples(transmit).size();
    stream.go_on_with(stream.sequence() + 1);
    context.judge.await(context.name, "all of a shot read",
                        [&](const Counters& found) { return value_of(found, counter::bytes) >= before + sent; });
    connection.reset();
    come_back(context, stream);
  });
}

void truncated_message(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    RawConnection connection = take_its_place(context, stream);
    context.expect(counter::decode_error("truncated"));
    send_cut_frame(context, connection, stream);
    connection.end_sending();
    if (!connection.read_to_end(patience)) throw RuntimeFault("the server does not close");
    come_back(context, stream);
  });
}

void sender_stalls_in_mid_message(const FaultContext& context) {
  const double limit = context.configuration.input.stall_timeout.value;
  if (limit == 0.0 || limit > 30.0) return;  // the server waits without a limit, or too long for a soak
  context.traffic.perform([&](Stream& stream) {
    RawConnection connection = take_its_place(context, stream);
    context.expect(counter::timed_out);
    send_cut_frame(context, connection, stream);
    if (!connection.read_to_end(patience)) throw RuntimeFault("the server does not give up a sender that stalls");
    come_back(context, stream);
  });
}

void corrupt_shot(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    RawConnection connection = take_its_place(context, stream);
    const Transmits transmits = alive(stream.acquisition());
    context.expect(counter::received);
    context.expect(counter::incomplete);
    send_shot(connection, stream, transmits[0]);
    std::string shot = shot_bytes(stream.sequence(), transmits[1], stream.shot_samples(transmits[1]));
    shot[24] = static_cast<char>(shot[24] ^ 1);  // a byte of the header, which the checksum covers
    context.expect(counter::decode_error("bad_checksum"));
    connection.send(shot);
    stream.go_on_with(stream.sequence() + 1);
    connection.end_sending();
    if (!connection.read_to_end(patience)) throw RuntimeFault("the server does not close");
    come_back(context, stream);
  });
}

void sender_reconnects(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    for (std::uint64_t n = context.pick(2, 5); n > 0; --n) {
      stream.finish();
      if (!context.await_departure()) return;
      stream.open(stream.part(), static_cast<std::size_t>(context.pick(1, 4)));
      stream.send_frame();
    }
  });
}

void another_acquisition(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    const auto part = static_cast<std::size_t>(context.pick(1, stream.parts() - 1));
    const auto connections = static_cast<std::size_t>(context.pick(1, 4));
    stream.finish();
    if (context.await_departure()) stream.open((stream.part() + part) % stream.parts(), connections);
  });
}

void missing_shots(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    Transmits transmits = alive(stream.acquisition());
    for (std::uint64_t n = context.pick(1, std::min<std::uint64_t>(3, transmits.size() - 1)); n > 0; --n) {
      transmits.erase(transmits.begin() + static_cast<std::ptrdiff_t>(context.pick(0, transmits.size() - 1)));
    }
    context.expect(counter::received);
    context.expect(counter::incomplete);
    stream.send_shots(transmits);
    stream.go_on_with(stream.sequence() + 1);
    // The server knows that the frame gets no more shots once every connection has gone on to the next frame.
    stream.send_frame();
  });
  context.await();
}

void duplicate_shots(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    // The kinds of shots of a frame that found no slot are not distinguished, so every slot must be free for this frame.
    if (!context.settle()) return;
    Transmits transmits = alive(stream.acquisition());
    const std::uint64_t twice = context.pick(1, transmits.size() - 1);
    Transmits order;
    for (std::size_t i = 0; i < transmits.size(); ++i) {
      // The last shot is not repeated: a shot that comes after it is stale.
      order.insert(order.end(), i < twice ? 2 : 1, transmits[i]);
    }
    context.expect(counter::received);
    context.expect(counter::published);
    context.expect(counter::duplicate_shots, twice);
    stream.send_shots(order);
    stream.go_on_with(stream.sequence() + 1);
  });
  context.await();
}

void stale_shots(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    // The kinds of shots of a frame that found no slot are not distinguished, so every slot must be free for this frame.
    if (!context.settle()) return;
    Transmits transmits = alive(stream.acquisition());
    context.expect(counter::received);
    context.expect(counter::published);
    context.expect(counter::stale_shots, 2);
    transmits.push_back(transmits[0]);
    transmits.push_back(transmits[1]);
    stream.send_shots(transmits);
    stream.go_on_with(stream.sequence() + 1);
  });
  context.await();
}

void reordered_shots(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    Transmits transmits = alive(stream.acquisition());
    for (std::size_t i = transmits.size(); i > 1; --i) {
      std::swap(transmits[i - 1], transmits[static_cast<std::size_t>(context.pick(0, i - 1))]);
    }
    context.expect(counter::received);
    context.expect(counter::published);
    stream.send_shots(transmits);
    stream.go_on_with(stream.sequence() + 1);
  });
}

void sequence_gap(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    const std::uint64_t gap = context.pick(1, 50);
    stream.send_frame();
    context.expect(counter::gaps, gap);
    stream.go_on_with(stream.sequence() + gap);
    stream.send_frame();
  });
  context.await();
}

void sequence_restart(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    renumber(context, stream, context.random());
    stream.send_frame();
  });
}

void sequence_wrap(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    renumber(context, stream, std::numeric_limits<std::uint64_t>::max() - 1);
    for (int frames = 0; frames < 4; ++frames) stream.send_frame();
  });
}

void nan_samples(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    change_part(context, stream, float_part);
    const Acquisition& acquisition = stream.acquisition();
    const SampleGate gate = stream.gate();
    const auto frame = stream.samples();
    std::vector<std::byte> samples(frame.begin(), frame.end());
    const float infinity = std::numeric_limits<float>::infinity();
    const std::array<float, 3> values{std::numeric_limits<float>::quiet_NaN(), infinity, -infinity};
    const Transmits transmits = alive(acquisition);
    for (std::size_t i = 0; i < transmits.size(); ++i) {
      std::memcpy(samples.data() + own_a_scan(acquisition, transmits[i]) + (gate.first + gate.count / 2) * sizeof(float),
                  &values[i % values.size()], sizeof(float));
    }
    context.expect(counter::invalid, transmits.size());
    stream.send_frame(samples);
  });
  context.await();
}

void saturated_samples(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    change_part(context, stream, packed_part);
    const Acquisition& acquisition = stream.acquisition();
    const SampleGate gate = stream.gate();
    const auto frame = stream.samples();
    std::vector<std::byte> samples(frame.begin(), frame.end());
    const std::array<unsigned char, 3> both_at_2047{0xFF, 0xF7, 0x7F};
    const Transmits transmits = alive(acquisition);
    for (const std::size_t transmit : transmits) {
      std::memcpy(samples.data() + own_a_scan(acquisition, transmit) + (gate.first + gate.count / 2) / 2 * 3, both_at_2047.data(),
                  both_at_2047.size());
    }
    context.expect(counter::clipped, 2 * transmits.size());
    stream.send_frame(samples);
  });
  context.await();
}

void burst(const FaultContext& context) {
  context.traffic.perform([&](Stream& stream) {
    for (std::uint64_t frames = context.pick(20, 60); frames > 0; --frames) stream.send_frame();
  });
}

}  // namespace echoform::soak
