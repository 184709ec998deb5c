// The ZeroMQ half of benchmarks/ingest.hpp.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/errors.hpp"
#include "benchmarks/counting_intake.hpp"
#include "benchmarks/ingest.hpp"
#include "transport/acquisition/zeromq_sender.hpp"
#include "transport/acquisition/zeromq_source.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform::benchmarks {
namespace {

/// Seconds from the first frame until `taken` returns, which waits for the receiver.
template <class Taken>
double send(const IngestFrames& made, std::uint16_t port, const Taken& taken) {
  ZeromqSenderOptions options;
  options.port = port;
  ZeromqSender sender(made.acquisition, options);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < made.frames; ++i) sender.send_frame({i + 1, WallTime(1)}, made.frame);
  sender.finish();
  taken();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

IngestRates measure_zeromq_ingest(const IngestCase& test) {
  if (test.connections != 1) throw InputError("connections", fmt::format("{}", test.connections), "1 over ZeroMQ");
  const IngestFrames made(test);
  const std::size_t frame_bytes = made.acquisition.frame_bytes();
  std::vector<std::byte> memory(ingest_slots * frame_bytes, std::byte{1});
  const AcquisitionLimits limits{.elements = ingest_elements, .samples = made.acquisition.samples, .frame_bytes = frame_bytes};
  const double bytes = static_cast<double>(made.frames * frame_bytes);

  const auto through_source = [&] {
    CountingHost host(memory);
    ZeromqSourceOptions options;
    options.port = 0;
    options.limits = limits;
    const auto source = make_zeromq_source(options);
    source->start(host);
    const double seconds = send(made, source->port(), [&] {
      while (source->counters().connections_accepted == 0 || source->counters().connections_open != 0) std::this_thread::yield();
    });
    source->stop();
    if (host.intake->shots != made.frames * ingest_elements) {
      throw RuntimeFault(
          fmt::format("the source received {} shots of {}", host.intake->shots.load(), made.frames * ingest_elements));
    }
    return bytes / seconds;
  };
  const auto bare = [&] {
    ZeromqContext context;
    BindOptions options{.type = zmq::socket_type::pull, .what = "bare receiver"};
    options.message_limit = static_cast<std::int64_t>(longest_message(limits));
    options.receive_queue = waiting_messages(limits);
    zmq::socket_t socket = bind_socket(context, options);
    socket.set(zmq::sockopt::rcvtimeo, 60'000);
    const std::uint16_t port = bound_port(socket);
    const std::size_t messages = made.frames * (ingest_elements + 1) + 1;  // plus Hellos and an End
    bool all = true;
    std::thread receiver([&] {
      zmq::message_t message;
      for (std::size_t i = 0; all && i < messages; ++i) all = socket.recv(message).has_value();
    });
    const double seconds = send(made, port, [&] { receiver.join(); });
    if (!all) throw RuntimeFault("the bare receiver missed messages");
    return bytes / seconds;
  };
  return ingest_rates(test, through_source, bare);
}

}  // namespace echoform::benchmarks
