#include "benchmarks/ingest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/ingest_bare.hpp"
#include "pipeline/errors.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t elements = 32;
constexpr std::size_t slots = 4;

/// Gives every shot its place in one of a few slots and counts: what an intake costs at the least.
class CountingIntake final : public FrameIntake {
 public:
  CountingIntake(Acquisition acquisition, std::vector<std::byte>& memory)
      : acquisition_(std::move(acquisition)), memory_(memory) {}
  const Acquisition& acquisition() const noexcept override { return acquisition_; }
  LaneId open_lane(std::function<void()>) override { return lanes_++; }
  void close_lane(LaneId) override {}
  ShotPlace begin_shot(LaneId, const ShotHeader& header, std::size_t payload_bytes) override {
    const std::size_t shot = header.sequence % slots * elements + header.transmit;
    return {.verdict = ShotVerdict::accepted,
            .place = std::span(memory_).subspan(shot * payload_bytes, payload_bytes),
            .ticket = shot};
  }
  void finish_shot(LaneId, std::uint64_t) override { shots.fetch_add(1, std::memory_order_relaxed); }
  void abandon_shot(LaneId, std::uint64_t) override {}
  void expire() override {}

  std::atomic<std::uint64_t> shots{0};

 private:
  const Acquisition acquisition_;
  std::vector<std::byte>& memory_;
  std::atomic<LaneId> lanes_{0};
};

class CountingHost final : public StreamHost {
 public:
  explicit CountingHost(std::vector<std::byte>& memory) : memory_(memory) {}
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    if (!intake) intake = std::make_shared<CountingIntake>(acquisition, memory_);
    return intake;
  }
  std::shared_ptr<CountingIntake> intake;

 private:
  std::vector<std::byte>& memory_;
};

/// Seconds from the first frame to the receiver's close.
double send(AcquisitionSender& sender, const std::vector<std::byte>& frame, std::size_t frames) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < frames; ++i) sender.send_frame(i + 1, WallTime(1), frame);
  sender.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check(const char* name, std::size_t value, std::size_t lowest, std::size_t highest) {
  if (value < lowest || value > highest)
    throw InputError(name, fmt::format("{}", value), fmt::format("{} to {}", lowest, highest));
}

}  // namespace

IngestRates measure_ingest(const IngestCase& test) {
  check("connections", test.connections, 1, 8);
  check("shot bytes", test.shot_bytes, 4 * elements, std::size_t{64} << 20);
  check("rounds", test.rounds, 1, 1000);
  check("I/O threads", test.io_threads, 1, 64);
  if (test.shot_bytes % (2 * elements) != 0)
    throw InputError("shot bytes", fmt::format("{}", test.shot_bytes), fmt::format("a multiple of {}", 2 * elements));

  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = test.shot_bytes / (2 * elements);
  acquisition.sample_rate = Hertz(40e6);
  const std::size_t frame_bytes = acquisition.frame_bytes();
  const std::size_t frames = std::max<std::size_t>(1, (test.bytes_per_round + frame_bytes - 1) / frame_bytes);
  std::vector<std::byte> frame(frame_bytes);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  std::vector<std::byte> memory(slots * frame_bytes, std::byte{1});

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

  std::vector<double> source_rates;
  std::vector<double> bare_rates;
  std::vector<double> ratios;
  for (std::size_t round = 0; round <= test.rounds; ++round) {
    double ours = 0.0;
    double limit = 0.0;
    if (round % 2 == 0) {
      ours = through_source();
      limit = bare();
    } else {
      limit = bare();
      ours = through_source();
    }
    if (round == 0) continue;
    source_rates.push_back(ours);
    bare_rates.push_back(limit);
    ratios.push_back(ours / limit);
  }
  return {.measured = test, .source = spread_of(source_rates), .bare = spread_of(bare_rates), .ratio = spread_of(ratios)};
}

}  // namespace echoform::benchmarks
