#include "apps/play.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "pipeline/errors.hpp"

namespace echoform {
namespace {

constexpr std::chrono::seconds farewell{1};

}  // namespace

PlaybackProgress play(FrameSource& source, const PlayOptions& options, std::stop_token stop, const ReportProgress& report) {
  SenderOptions chosen = options.sender;
  chosen.stop = stop;
  std::optional<AcquisitionSender> sender;
  try {
    sender.emplace(source.acquisition(), chosen);
  } catch (const RuntimeFault&) {
    if (!stop.stop_requested()) throw;
    return {};  // broken off by the user before the server answered
  }
  const SystemClock clock;
  SendSchedule schedule(clock, options.rate, options.skip_late ? LatePolicy::skip : LatePolicy::catch_up);
  PlaybackOptions playback;
  playback.frame_limit = options.frames;
  // A limit beyond the last frame is reached by going round.
  playback.loop = options.loop || options.frames.has_value();

  // A server that holds the sender back must not keep it from stopping.
  std::jthread breaker([&sender, stop](const std::stop_token& finished) {
    std::mutex mutex;
    std::condition_variable_any change;
    std::unique_lock lock(mutex);
    const std::stop_callback wake(stop, [&] {
      const std::lock_guard held(mutex);
      change.notify_all();
    });
    change.wait(lock, finished, [&] { return stop.stop_requested(); });
    if (finished.stop_requested()) return;
    if (!change.wait_for(lock, finished, farewell, [] { return false; }) && !finished.stop_requested()) sender->cancel();
  });

  PlaybackProgress progress;
  const SendFrame send = [&](std::uint64_t sequence, WallTime time, std::span<const std::byte> frame) {
    sender->send_frame(sequence, time, frame);
    ++progress.frames_sent;
    progress.bytes_sent += frame.size();
  };
  try {
    progress = run_source(source, send, schedule, stop, playback, report);
    sender->finish();
  } catch (const RuntimeFault&) {
    if (!stop.stop_requested()) throw;  // broken off by the user: not a fault
    progress.frames_skipped = schedule.skipped();
    progress.elapsed = schedule.elapsed();
    progress.timing_error = schedule.timing_error();
    const double seconds = std::chrono::duration<double>(progress.elapsed).count();
    progress.rate = seconds > 0.0 ? static_cast<double>(progress.frames_sent) / seconds : 0.0;
  }
  return progress;
}

int play_and_report(FrameSource& source, const PlayOptions& options) {
  StopSignals signals;
  spdlog::info("{}", source.describe());
  spdlog::info("connecting to {}:{}", options.sender.host, options.sender.port);
  LiveLine live;
  const PlaybackProgress progress = play(source, options, signals.token(), [&](const PlaybackProgress& now) {
    live.show(fmt::format("{} frames sent, {:.1f} frames/s, {:.1f} MB/s", now.frames_sent, now.rate,
                          1e-6 * static_cast<double>(now.bytes_sent) / std::chrono::duration<double>(now.elapsed).count()));
  });
  live.finish();
  if (options.rate && progress.timing_error.count > 0) {
    fmt::print("timing error: mean {:.3f} ms, p99 {:.3f} ms, maximum {:.3f} ms, {} frames left out\n",
               milliseconds(progress.timing_error.mean), milliseconds(progress.timing_error.p99),
               milliseconds(progress.timing_error.maximum), progress.frames_skipped);
  }
  fmt::print("sent {} frames, {:.1f} frames/s\n", progress.frames_sent, progress.rate);
  return 0;
}

void add_play_options(CLI::App& options, PlayTexts& texts) {
  options.add_option("--connect", texts.connect, "Where the imaging server listens for frames")
      ->option_text("HOST:PORT (127.0.0.1:17171)");
  options.add_option("--rate", texts.rate, "Frames per second, or max for as fast as the server takes them")
      ->option_text("FPS|max");
  options.add_option("--connections", texts.connections, "TCP connections that carry each frame's shots, 1 to 8")
      ->check(CLI::Range(1, 8))
      ->option_text("K (1)");
  options.add_option("--frames", texts.frames, "Ends after so many frames; 0: none")->check(whole_number())->option_text("N (0)");
  options.add_option("--token", texts.token, "The secret that the server asks for")->option_text("TEXT");
  options.add_flag("--skip-late", texts.skip_late, "Leave frames out rather than send them late");
}

PlayOptions play_options(const PlayTexts& texts) {
  PlayOptions options;
  const HostPort place = parse_host_port(texts.connect, "--connect");
  options.sender.host = place.host;
  options.sender.port = place.port;
  options.sender.connections = texts.connections;
  options.sender.token = texts.token;
  options.sender.name = "echoform " ECHOFORM_VERSION;
  options.rate = parse_rate(texts.rate, "--rate");
  options.skip_late = texts.skip_late;
  if (texts.frames > 0) options.frames = texts.frames;
  return options;
}

}  // namespace echoform
