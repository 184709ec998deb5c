#include "benchmarks/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/errors.hpp"
#include "base/temporary_path.hpp"
#include "benchmarks/stopwatch.hpp"
#include "formats/frame_writer.hpp"
#include "recording/recorder.hpp"
#include "simulators/frame_cycle.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"

namespace echoform::benchmarks {
namespace {

/// Deletes what a turn wrote, however it ends.
class TurnFolder {
 public:
  explicit TurnFolder(const std::filesystem::path& in)
      : path_(in / fmt::format("echoform-bench-{}", ::getpid())),
        temporary_(path_, [this] { return std::filesystem::create_directory(path_, error_); }) {
    if (!temporary_.created())
      throw InputError(in.string(), error_ ? error_.message() : "one of the same name", "a folder to write recordings to");
  }
  ~TurnFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TurnFolder(const TurnFolder&) = delete;
  TurnFolder& operator=(const TurnFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::error_code error_;
  TemporaryPath temporary_;
};

double write_plain(const RecordCase& test, FrameCycle& cycle, std::size_t frames) {
  const TurnFolder folder(test.folder);
  const std::string name = (folder.path() / "plain").string();
  const auto fail = [&] { throw RuntimeFault(fmt::format("{}: {}", name, std::strerror(errno))); };
  const auto begin = std::chrono::steady_clock::now();
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail();
  for (std::size_t k = 0; k < frames; ++k) {
    for (auto rest = cycle.frame(k); !rest.empty();) {
      const ssize_t count = ::write(file, rest.data(), rest.size());
      if (count <= 0) fail();
      rest = rest.subspan(static_cast<std::size_t>(count));
    }
  }
  if (::fdatasync(file) != 0 || ::close(file) != 0) fail();
  return static_cast<double>(frames) / seconds_since(begin);
}

double write_mfmc(const RecordCase& test, FrameCycle& cycle, std::size_t frames) {
  const TurnFolder folder(test.folder);
  const auto begin = std::chrono::steady_clock::now();
  const auto writer = make_frame_writer(folder.path() / "frames.mfmc", cycle.acquisition());
  for (std::size_t k = 0; k < frames; ++k) writer->append(cycle.frame(k));
  writer->flush();
  writer->close();
  return static_cast<double>(frames) / seconds_since(begin);
}

double image(const RecordCase& test, FrameCycle& cycle, bool record, RecordReport& report) {
  const SystemClock clock;
  const TurnFolder folder(test.folder);
  std::shared_ptr<Recorder> recorder;
  std::vector<std::shared_ptr<ImageSink>> sinks;
  if (record) {
    RecorderOptions options;
    options.files = {.folder = folder.path(), .bytes_per_file = std::uint64_t{1} << 30, .keep_files = 2, .min_free_bytes = 0};
    recorder = std::make_shared<Recorder>(std::move(options), "bench record");
    sinks.push_back(recorder);
  }
  PipelineOptions options;
  options.backend = test.backend;
  options.memory_limit = test.memory_limit;
  Pipeline pipeline(options, test.setup, sinks, clock);
  TcpSourceOptions source_options;
  source_options.port = 0;
  const auto source = make_tcp_source(source_options);
  source->start(pipeline);
  SenderOptions sender_options;
  sender_options.port = source->port();
  AcquisitionSender sender(cycle.acquisition(), sender_options);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t sequence = 0;
  for (; seconds_since(begin) < test.seconds; ++sequence) sender.send_frame({sequence, clock.wall()}, cycle.frame(sequence));
  sender.finish();
  source->stop();
  pipeline.stop();
  const double seconds = seconds_since(begin);
  const std::uint64_t published = pipeline.counters().frames_published;
  if (recorder) {
    recorder->stop();
    const RecorderStatus status = recorder->status();
    const auto& left_out = status.frames_not_recorded;
    const auto not_recorded = std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0});
    report.recorded += status.frames_recorded;
    report.not_recorded += not_recorded;
    report.closes = report.closes && status.frames_recorded + not_recorded == published;
    if (!status.fault.empty()) throw RuntimeFault(status.fault);
  }
  return static_cast<double>(published) / seconds;
}

}  // namespace

RecordReport measure_record(const RecordCase& test, const std::function<void(const std::string&)>& progress) {
  RecordReport report;
  FrameCycle cycle(test.simulator);
  report.frame_bytes = cycle.acquisition().frame_bytes();
  const std::size_t frames = std::max<std::size_t>(4, test.file_bytes / report.frame_bytes);
  report.turns = take_turns(test.rounds,
                            {{"disk", [&] { return write_plain(test, cycle, frames); }},
                             {"writer", [&] { return write_mfmc(test, cycle, frames); }},
                             {"without", [&] { return image(test, cycle, false, report); }},
                             {"with", [&] { return image(test, cycle, true, report); }}},
                            [&](std::size_t round) { progress(fmt::format("round {} of {}", round + 1, test.rounds)); });
  return report;
}

}  // namespace echoform::benchmarks
