#include "benchmarks/stream.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <span>
#include <thread>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "benchmarks/frame.hpp"
#include "benchmarks/frame_ring.hpp"
#include "benchmarks/ingest_bare.hpp"
#include "cpu/cpu_backend.hpp"
#include "gpu/cuda_backend.hpp"
#include "simulators/frame_cycle.hpp"
#include "simulators/playback.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/zeromq_sink.hpp"

namespace echoform::benchmarks {
namespace {

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Counts images on a thread of its own, as a viewer would, without skipping any.
class Viewer {
 public:
  explicit Viewer(const std::string& endpoint)
      : subscriber_({endpoint, "echoform", false, std::size_t{256} << 20}), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) take(std::chrono::milliseconds(20));
          while (take(std::chrono::milliseconds(50))) {
          }
        }) {}
  /// Number of images of any sequence.
  [[nodiscard]] std::uint64_t seen() const { return seen_.load(); }
  /// Images from this sequence on belong to the trial.
  void begin_trial(std::uint64_t sequence) { first_sequence_ = sequence; }

  struct Trial {
    std::uint64_t images = 0;
    double images_per_second = 0.0;  ///< from the first image of the trial to its last
  };
  Trial finish() {
    thread_.request_stop();
    thread_.join();
    const double seconds = std::chrono::duration<double>(last_ - first_).count();
    return {images_, images_ > 1 ? static_cast<double>(images_ - 1) / seconds : 0.0};
  }

 private:
  bool take(std::chrono::milliseconds timeout) {
    const wire::Image* image = subscriber_.receive(timeout);
    if (image == nullptr) return false;
    seen_.fetch_add(1);
    if (image->sequence() >= first_sequence_.load()) {
      last_ = std::chrono::steady_clock::now();
      if (images_++ == 0) first_ = last_;
    }
    return true;
  }

  ImageSubscriber subscriber_;
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> first_sequence_{UINT64_MAX};
  // Used by the thread alone until it has been joined.
  std::uint64_t images_ = 0;
  std::chrono::steady_clock::time_point first_;
  std::chrono::steady_clock::time_point last_;
  std::jthread thread_;
};

struct Bench {
  const StreamCase& test;
  FrameCycle& cycle;
  Buffer ring;  ///< for bare sockets
  StreamReport& report;
};

constexpr std::size_t slots = 4;

/// Number of I/O threads, for the source and for the bare receiver alike.
std::size_t io_threads(std::size_t connections) {
  return std::max<std::size_t>(2, connections);
}

/// Runs a trial at `rate`, or at full speed (0), for `hold` seconds.
StreamTrial run_trial(Bench& bench, std::size_t connections, double rate, double hold) {
  const SystemClock clock;
  ZeromqSinkOptions sink_options;
  sink_options.port = 0;
  const std::shared_ptr<ZeromqSink> sink = make_zeromq_sink(sink_options);
  PipelineOptions options;
  options.policy = rate > 0.0 ? DropPolicy::drop_newest : DropPolicy::block_sender;
  options.backend = bench.test.backend;
  options.memory_limit = bench.test.memory_limit;
  Pipeline pipeline(options, bench.test.setup, {sink}, clock);
  TcpSourceOptions source_options;
  source_options.port = 0;
  source_options.io_threads = io_threads(connections);
  const auto source = make_tcp_source(source_options);
  source->start(pipeline);
  Viewer viewer(sink->endpoint());

  SenderOptions sender_options;
  sender_options.port = source->port();
  sender_options.connections = connections;
  AcquisitionSender sender(bench.cycle.acquisition(), sender_options);
  const SendFrame send = [&](const FrameStamp& stamp, std::span<const std::byte> frame) { sender.send_frame(stamp, frame); };
  // The subscriber joins late. Frames are sent slowly until it receives one, and only later frames count.
  std::uint64_t sequence = 0;
  while (viewer.seen() == 0) {
    send({sequence, clock.wall()}, bench.cycle.frame(sequence));
    ++sequence;
    wait_in_real_time(std::chrono::milliseconds(20), {});
  }
  while (pipeline.counters().frames_in_flight != 0) wait_in_real_time(std::chrono::milliseconds(1), {});
  if (bench.report.resident_before == 0) bench.report.resident_before = resident_bytes();
  StreamTrial trial;
  if (bench.test.device_bytes) trial.device_bytes_before = bench.test.device_bytes();
  const CounterSnapshot before = pipeline.counters();
  viewer.begin_trial(sequence);

  std::jthread player;
  std::stop_source stop;
  std::exception_ptr failure;
  player = std::jthread([&] {
    try {
      SendSchedule schedule(clock, rate > 0.0 ? std::optional<double>(rate) : std::nullopt);
      PlaybackOptions playback;
      playback.first_sequence = sequence;
      (void)run_source(bench.cycle, send, schedule, stop.get_token(), playback);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  wait_in_real_time(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(hold)), {});
  stop.request_stop();
  player.join();
  if (failure) std::rethrow_exception(failure);
  sender.finish();
  bench.report.pipeline_bytes = pipeline.bytes();
  if (bench.test.device_bytes) trial.device_bytes_after = bench.test.device_bytes();
  source->stop();
  pipeline.stop();
  const CounterSnapshot after = pipeline.counters();
  const MetricsSnapshot metrics = pipeline.metrics();
  const Viewer::Trial seen = viewer.finish();

  trial.rate = rate;
  trial.published_per_second = seen.images_per_second;
  trial.dropped = after.dropped() - before.dropped();
  const std::uint64_t published = after.frames_published - before.frames_published;
  trial.missed = published > seen.images ? published - seen.images : 0;
  trial.closes = after.closes();
  for (const DistributionSnapshot& distribution : metrics.distributions) {
    if (distribution.name != "frame_latency") continue;
    trial.latency_p50 = std::chrono::duration<double>(distribution.total_p50).count();
    trial.latency_p99 = std::chrono::duration<double>(distribution.total_p99).count();
  }
  bench.report.resident_after = resident_bytes();
  return trial;
}

/// Frames a second that bare sockets receive into the ring.
double bare_rate(Bench& bench, std::size_t connections, double least_seconds) {
  const Acquisition& acquisition = bench.cycle.acquisition();
  const std::size_t frame_bytes = acquisition.frame_bytes();
  BareReceiver receiver({.connections = connections,
                         .threads = io_threads(connections),
                         .read_bytes = FrameLayout(acquisition).shot_bytes(0).count,
                         .frame_bytes = frame_bytes},
                        std::span(bench.ring.bytes_begin(), bench.ring.size()));
  SenderOptions options;
  options.port = receiver.port();
  options.connections = connections;
  receiver.welcome();
  AcquisitionSender sender(acquisition, options);
  // The timing is that of the pipeline: it includes neither the start nor the end of the connections. The bytes that wait in the
  // sockets' buffers when the clock stops are a few megabytes of some gigabytes.
  std::uint64_t frame = 0;
  for (; frame < slots; ++frame) sender.send_frame({frame, WallTime(1)}, bench.cycle.frame(frame));
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0.0;
  while (seconds < least_seconds) {
    sender.send_frame({frame, WallTime(1)}, bench.cycle.frame(frame));
    ++frame;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  sender.finish();
  if (receiver.finish() < frame * frame_bytes) throw RuntimeFault("the bare receiver missed bytes");
  return static_cast<double>(frame - slots) / seconds;
}

/// Images a second of the engine alone.
double engine_rate(const StreamCase& test, const std::shared_ptr<const ImagingSetup>& setup) {
  if (test.backend.kind == BackendKind::cuda) return FrameRing(setup, test.backend).images_per_second(test.engine_frames);
  return measure_frame(setup, test.backend.threads, test.engine_frames).images_per_second.median;
}

StreamLink run_link(Bench& bench, const std::shared_ptr<const ImagingSetup>& setup, std::size_t connections,
                    const std::function<void(const std::string&)>& progress) {
  StreamLink link;
  link.connections = connections;
  const double hold = std::min(bench.test.hold, bench.test.full_speed_seconds);
  const double bare_seconds = std::min(bench.test.hold, bench.test.bare_seconds);
  static_cast<void>(bare_rate(bench, connections, bare_seconds));
  const auto full_speed = [&] {
    link.full_speed.push_back(run_trial(bench, connections, 0.0, hold));
    return link.full_speed.back().published_per_second;
  };
  link.turns = take_turns(
      bench.test.rounds,
      {{"bare", [&] { return bare_rate(bench, connections, bare_seconds); }},
       {"pipeline", full_speed},
       {"engine", [&] { return engine_rate(bench.test, setup); }}},
      [&](std::size_t round) { progress(fmt::format("full speed, {} connections, round {}", connections, round + 1)); });
  return link;
}

}  // namespace

StreamReport measure_stream(const StreamCase& test, const std::function<void(const std::string&)>& progress) {
  StreamReport report;
  progress("making frames");
  FrameCycle cycle(test.simulator);
  report.frame_bytes = cycle.acquisition().frame_bytes();
  const auto setup = test.setup(cycle.acquisition());
  report.imaged_samples = setup->gate.count;
  const auto backend = test.backend.kind == BackendKind::cuda ? make_cuda_backend() : make_cpu_backend(1);
  Bench bench{test, cycle, backend->allocate(slots * report.frame_bytes, MemoryUse::staging), report};
  std::vector<double> engine;
  for (const std::size_t connections : test.connections) {
    report.links.push_back(run_link(bench, setup, connections, progress));
    const std::vector<double>& rates = report.links.back().turns.values("engine");
    engine.insert(engine.end(), rates.begin(), rates.end());
  }
  report.engine_images_per_second = spread_of(std::move(engine));
  const std::size_t connections = report.links.back().connections;

  // The search goes up in steps of 5 % while rates are held, down by 10 % until one is held, then halves the gap down to 2 %.
  double low = 0.0;   // held
  double high = 0.0;  // not held; 0: none yet
  double next = 0.95 * report.links.back().turns.spread("pipeline").median;
  while (next > 0.1 && report.search.size() < 12 && !(low > 0.0 && high > 0.0 && high - low < 0.02 * high)) {
    progress(fmt::format("{:.1f} frames/s", next));
    report.search.push_back(run_trial(bench, connections, next, test.hold));
    (report.search.back().held() ? low : high) = next;
    next = high == 0.0 ? 1.05 * low : low == 0.0 ? 0.9 * high : 0.5 * (low + high);
  }
  report.sustained = low;
  if (low > 0.0) {
    progress(fmt::format("{:.1f} frames/s, 80 %", 0.8 * low));
    report.at_80_percent = run_trial(bench, connections, 0.8 * low, test.hold);
  }
  return report;
}

}  // namespace echoform::benchmarks
