#include "simulators/playback.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace echoform {
namespace {

PlaybackProgress progress_of(const SendSchedule& schedule, std::uint64_t frames_sent, std::uint64_t bytes_sent) {
  PlaybackProgress progress;
  progress.frames_sent = frames_sent;
  progress.frames_skipped = schedule.skipped();
  progress.bytes_sent = bytes_sent;
  progress.elapsed = schedule.elapsed();
  const double seconds = std::chrono::duration<double>(progress.elapsed).count();
  progress.rate = seconds > 0.0 ? static_cast<double>(frames_sent) / seconds : 0.0;
  progress.timing_error = schedule.timing_error();
  return progress;
}

}  // namespace

void wait_in_real_time(std::chrono::nanoseconds wait, std::stop_token stop) {
  thread_local std::mutex mutex;
  thread_local std::condition_variable_any never_notified;  // made once: it allocates
  std::unique_lock lock(mutex);
  never_notified.wait_for(lock, std::move(stop), wait, [] { return false; });
}

PlaybackProgress run_source(FrameSource& source, const SendFrame& send, SendSchedule& schedule, std::stop_token stop,
                            const PlaybackOptions& options, const ReportProgress& report, const WaitFor& wait_for) {
  const std::uint64_t distinct = source.frames();
  const bool round_and_round = options.loop || source.cyclic();
  std::uint64_t frames_sent = 0;
  std::uint64_t bytes_sent = 0;
  schedule.start();
  std::chrono::nanoseconds next_report = options.report_interval;
  while (!stop.stop_requested() && (!options.frame_limit || frames_sent < *options.frame_limit)) {
    // This is checked before waiting: after the last frame there is nothing to wait for.
    if (!round_and_round && schedule.next() >= distinct) break;
    if (const auto wait = schedule.wait(); wait.count() > 0) {
      // The waiting may end a little early, or by a stop, so the loop checks again.
      wait_for(wait, stop);
      continue;
    }
    const std::uint64_t frame = schedule.take();
    if (!round_and_round && frame >= distinct) break;  // the schedule skipped past the end
    const auto bytes = source.frame(frame % distinct);
    send({options.first_sequence + frame, schedule.clock().wall(), source.position(frame)}, bytes);
    ++frames_sent;
    bytes_sent += bytes.size();
    if (report) {
      if (const auto elapsed = schedule.elapsed(); elapsed >= next_report) {
        report(progress_of(schedule, frames_sent, bytes_sent));
        // The next report counts from now, not from the last one, so that reports do not come in a burst after a delay.
        next_report = elapsed + options.report_interval;
      }
    }
  }
  return progress_of(schedule, frames_sent, bytes_sent);
}

}  // namespace echoform
