#include "benchmarks/ingest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/errors.hpp"
#include "benchmarks/counting_intake.hpp"
#include "benchmarks/ingest_bare.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t elements = ingest_elements;

/// Seconds from the first frame until the receiver closes the connection.
double send(AcquisitionSender& sender, const std::vector<std::byte>& frame, std::size_t frames) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < frames; ++i) sender.send_frame({i + 1, WallTime(1)}, frame);
  sender.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check(const char* name, std::size_t value, std::size_t lowest, std::size_t highest) {
  if (value < lowest || value > highest)
    throw InputError(name, fmt::format("{}", value), fmt::format("{} to {}", lowest, highest));
}

}  // namespace

IngestFrames::IngestFrames(const IngestCase& test) {
  check("connections", test.connections, 1, 8);
  check("shot bytes", test.shot_bytes, 4 * elements, std::size_t{64} << 20);
  check("rounds", test.rounds, 1, 1000);
  check("I/O threads", test.io_threads, 1, 64);
  if (test.shot_bytes % (2 * elements) != 0)
    throw InputError("shot bytes", fmt::format("{}", test.shot_bytes), fmt::format("a multiple of {}", 2 * elements));
  acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = test.shot_bytes / (2 * elements);
  acquisition.sample_rate = Hertz(40e6);
  const std::size_t bytes = acquisition.frame_bytes();
  frames = std::max<std::size_t>(1, (test.bytes_per_round + bytes - 1) / bytes);
  frame.resize(bytes);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(i * 2654435761U >> 13);
}

IngestRates ingest_rates(const IngestCase& test, const std::function<double()>& through_source,
                         const std::function<double()>& bare) {
  const std::vector<Turn> turns{{"source", through_source}, {"bare", bare}};
  static_cast<void>(take_turns(1, turns));
  Turns taken = take_turns(test.rounds, turns);
  return {.measured = test,
          .source = taken.spread("source"),
          .bare = taken.spread("bare"),
          .ratio = taken.ratio("source", "bare"),
          .turns = std::move(taken)};
}

IngestRates measure_ingest(const IngestCase& test) {
  const IngestFrames made(test);
  const Acquisition& acquisition = made.acquisition;
  const std::size_t frame_bytes = acquisition.frame_bytes();
  const std::size_t frames = made.frames;
  const std::vector<std::byte>& frame = made.frame;
  std::vector<std::byte> memory(ingest_slots * frame_bytes, std::byte{1});

  SenderOptions sender_options;
  sender_options.connections = test.connections;
  const double bytes = static_cast<double>(frames * frame_bytes);

  const auto through_source = [&] {
    CountingHost host(memory);
    TcpSourceOptions options;
    options.port = 0;
    options.io_threads = test.io_threads;
    options.limits.frame_bytes = frame_bytes;
    const auto source = make_tcp_source(options);
    source->start(host);
    sender_options.port = source->port();
    AcquisitionSender sender(acquisition, sender_options);
    const double seconds = send(sender, frame, frames);
    source->stop();
    if (host.intake->shots != frames * elements) {
      throw RuntimeFault(fmt::format("the source received {} shots of {}", host.intake->shots.load(), frames * elements));
    }
    return bytes / seconds;
  };
  const auto bare = [&] {
    BareReceiver receiver(
        {.connections = test.connections, .threads = test.io_threads, .read_bytes = test.shot_bytes, .frame_bytes = frame_bytes},
        memory);
    sender_options.port = receiver.port();
    receiver.welcome();
    AcquisitionSender sender(acquisition, sender_options);
    const double seconds = send(sender, frame, frames);
    if (receiver.finish() < frames * frame_bytes) throw RuntimeFault("the bare receiver missed bytes");
    return bytes / seconds;
  };

  return ingest_rates(test, through_source, bare);
}

}  // namespace echoform::benchmarks
