#include "apps/play.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "apps/slow_work.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "transport/acquisition/zeromq_sender.hpp"

namespace echoform {
namespace {

constexpr std::chrono::seconds farewell{1};

std::unique_ptr<FrameSender> make_sender(const Acquisition& acquisition, const PlayOptions& options, std::stop_token stop) {
  if (!options.zeromq) {
    SenderOptions chosen = options.sender;
    chosen.stop = std::move(stop);
    return std::make_unique<AcquisitionSender>(acquisition, chosen);
  }
  ZeromqSenderOptions chosen;
  chosen.host = options.sender.host;
  chosen.port = options.sender.port;
  chosen.token = options.sender.token;
  chosen.name = options.sender.name;
  chosen.session = options.sender.session;
  chosen.keys = options.keys;
  return std::make_unique<ZeromqSender>(acquisition, chosen);
}

}  // namespace

PlaybackProgress play(FrameSource& source, const PlayOptions& options, std::stop_token stop, const ReportProgress& report) {
  std::unique_ptr<FrameSender> sender;
  try {
    sender = make_sender(source.acquisition(), options, stop);
  } catch (const RuntimeFault&) {
    if (!stop.stop_requested()) throw;
    return {};  // interrupted by the user before the server answered
  }
  const SystemClock clock;
  SendSchedule schedule(clock, options.rate, options.skip_late ? LatePolicy::skip : LatePolicy::catch_up);
  PlaybackOptions playback;
  playback.frame_limit = options.frames;
  // A limit beyond the last frame is reached by starting again from the first.
  playback.loop = options.loop || options.frames.has_value();

  // A server that blocks the sender must not prevent a stop.
  std::jthread breaker([&sender, stop](const std::stop_token& finished) {
    std::mutex mutex;
    std::condition_variable_any change;
    // The callback is created before the lock is taken: if a stop is already requested, it runs at once in this thread.
    const std::stop_callback wake(stop, [&] {
      const std::lock_guard held(mutex);
      change.notify_all();
    });
    std::unique_lock lock(mutex);
    change.wait(lock, finished, [&] { return stop.stop_requested(); });
    if (finished.stop_requested()) return;
    if (!change.wait_for(lock, finished, farewell, [] { return false; }) && !finished.stop_requested()) sender->cancel();
  });

  PlaybackProgress progress;
  const SendFrame send = [&](const FrameStamp& stamp, std::span<const std::byte> frame) {
    sender->send_frame(stamp, frame);
    ++progress.frames_sent;
    progress.bytes_sent += frame.size();
  };
  // Completes the progress of an interrupted run.
  const auto take_stock = [&] {
    progress.frames_skipped = schedule.skipped();
    progress.elapsed = schedule.elapsed();
    progress.timing_error = schedule.timing_error();
    const double seconds = std::chrono::duration<double>(progress.elapsed).count();
    progress.rate = seconds > 0.0 ? static_cast<double>(progress.frames_sent) / seconds : 0.0;
  };
  try {
    progress = run_source(source, send, schedule, stop, playback, report);
    sender->finish();
  } catch (const FramesTaken& taken) {
    spdlog::info("{}", taken.what());
    take_stock();
  } catch (const RuntimeFault&) {
    if (!stop.stop_requested()) throw;  // interrupted by the user: not a fault
    take_stock();
  }
  return progress;
}

FrameCycle synthesised(const SimulatorConfiguration& configuration) {
  SlowWork work("synthesising the frames");
  return FrameCycle(configuration, {.progress = [&work](std::size_t begun, std::size_t of) { work.done(begun, of); }});
}

int play_and_report(FrameSource& source, const PlayOptions& options) {
  StopSignals signals;
  spdlog::info("{}", source.describe());
  spdlog::info("connecting to {}:{}{}", options.sender.host, options.sender.port, options.zeromq ? " over ZeroMQ" : "");
  LiveLine live;
  const PlaybackProgress progress = play(source, options, signals.token(), [&](const PlaybackProgress& now) {
    live.show(fmt::format("{} frames sent, {:.1f} frames/s, {:.1f} MB/s", now.frames_sent, now.rate,
                          1e-6 * static_cast<double>(now.bytes_sent) / std::chrono::duration<double>(now.elapsed).count()));
  });
  live.finish();
  if (options.rate && progress.timing_error.count > 0) {
    print("timing error: mean {:.3f} ms, p99 {:.3f} ms, maximum {:.3f} ms, {} frames left out\n",
          milliseconds(progress.timing_error.mean), milliseconds(progress.timing_error.p99),
          milliseconds(progress.timing_error.maximum), progress.frames_skipped);
  }
  print("sent {} frames, {:.1f} frames/s\n", progress.frames_sent, progress.rate);
  return 0;
}

void add_play_options(CLI::App& options, PlayTexts& texts) {
  auto* const tcp = options.add_option("--connect", texts.connect, "Where the imaging server listens for frames over TCP")
                        ->option_text("HOST:PORT (127.0.0.1:17171)");
  options.add_option("--zeromq", texts.zeromq, "Where it listens for frames over ZeroMQ ([input] zeromq), instead")
      ->option_text("HOST:PORT")
      ->excludes(tcp);
  add_key_options(options, texts.keys);
  options.add_option("--rate", texts.rate, "Frames per second, or max for as fast as the server takes them")
      ->option_text("FPS|max");
  options.add_option("--connections", texts.connections, "TCP connections that carry each frame's shots, 1 to 8")
      ->check(CLI::Range(1, 8))
      ->option_text("K (1)");
  options.add_option("--frames", texts.frames, "Ends after so many frames; 0: none")->check(whole_number())->option_text("N (0)");
  options
      .add_option("--token-file", texts.token_file,
                  "File with the secret that the server asks for (default: the environment variable ECHOFORM_TOKEN)")
      ->option_text("FILE");
  add_refused_token(options);
  options.add_flag("--skip-late", texts.skip_late, "Leave frames out rather than send them late");
}

PlayOptions play_options(const PlayTexts& texts) {
  PlayOptions options;
  options.zeromq = !texts.zeromq.empty();
  if (options.zeromq && texts.connections != 1) {
    throw InputError("--connections", fmt::format("{} with --zeromq", texts.connections), "1: one socket carries all shots");
  }
  options.keys = client_keys(texts.keys);
  if (options.keys && !options.zeromq) {
    throw InputError("--server-key", "a key for a connection over TCP", "--zeromq with it: TCP is not encrypted");
  }
  const HostPort place = options.zeromq ? parse_host_port(texts.zeromq, "--zeromq") : parse_host_port(texts.connect, "--connect");
  options.sender.host = place.host;
  options.sender.port = place.port;
  options.sender.connections = texts.connections;
  options.sender.token = sender_token(texts.token_file);
  options.sender.name = "echoform " ECHOFORM_VERSION;
  options.rate = parse_rate(texts.rate, "--rate");
  options.skip_late = texts.skip_late;
  if (texts.frames > 0) options.frames = texts.frames;
  return options;
}

}  // namespace echoform
