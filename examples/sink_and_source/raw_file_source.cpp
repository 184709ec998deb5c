// A source of one's own: full matrices of 16-bit samples out of a file [frame, transmitter, receiver, sample], over and over.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "acquisition/frame_layout.hpp"
#include "apps/doors.hpp"
#include "base/errors.hpp"
#include "config/key_types.hpp"
#include "transport/acquisition/frame_sender.hpp"
#include "transport/acquisition/live_counters.hpp"

using namespace echoform;

namespace {

struct RawFileSection {
  std::string path;  ///< empty: no such source
  std::size_t elements = 32;
  Metres pitch{0.6e-3};
  std::size_t samples = 1024;
  Hertz sample_rate{50e6};
  double frames_per_second = 25.0;
};

class RawFileSource final : public AcquisitionSource {
 public:
  RawFileSource(std::string path, Acquisition acquisition, double frames_per_second)
      : path_(std::move(path)),
        acquisition_(std::move(acquisition)),
        layout_(acquisition_),
        period_(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(1.0 / frames_per_second))) {}
  ~RawFileSource() override { stop(); }
  RawFileSource(const RawFileSource&) = delete;
  RawFileSource& operator=(const RawFileSource&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "raw_file"; }
  [[nodiscard]] std::uint16_t port() const noexcept override { return 0; }
  [[nodiscard]] SourceCounters counters() const noexcept override { return counters_.read(); }
  [[nodiscard]] std::string last_rejection() const override { return counters_.last_rejection(); }
  [[nodiscard]] std::string describe() const override { return path_; }

  void start(StreamHost& host) override {
    thread_ = std::jthread([this, &host](const std::stop_token& stop) { run(host, stop); });
  }
  void stop() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  /// Opens the stream, and tries again where it is refused: settings may change, another sender may end.
  void run(StreamHost& host, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        const auto intake = host.open_stream(session_, acquisition_);
        const LaneId lane = intake->open_lane([this] { wake(); });
        LiveSourceCounters::add(counters_.accepted);
        counters_.open = 1;
        play(*intake, lane, stop);
        intake->close_lane(lane);
        counters_.open = 0;
      } catch (const std::exception& refusal) {
        LiveSourceCounters::add(counters_.rejected);
        if (counters_.last_rejection() != line_for_others(refusal)) spdlog::warn("{}: {}", path_, refusal.what());
        counters_.note_rejection(line_for_others(refusal));
      }
      wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(1), stop);
    }
  }

  /// Returns when it is to stop, or the file cannot be read any more.
  void play(FrameIntake& intake, LaneId lane, const std::stop_token& stop) {
    std::ifstream file(path_, std::ios::binary);
    auto due = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      const WallTime now = std::chrono::system_clock::now().time_since_epoch();
      if (file.peek() == std::ifstream::traits_type::eof()) {
        if (file.bad()) {
          spdlog::warn("{}: cannot be read", path_);
          return;
        }
        file.clear();
        file.seekg(0);
      }
      for (std::uint32_t event = 0; event < layout_.events(); ++event) {
        if (!send_shot(intake, lane, {sequence_, event, now}, file, stop)) return;
      }
      ++sequence_;
      intake.expire();
      due = std::max(due + period_, std::chrono::steady_clock::now());
      wait_until(due, stop);
    }
  }

  [[nodiscard]] bool send_shot(FrameIntake& intake, LaneId lane, const ShotHeader& header, std::ifstream& file,
                               const std::stop_token& stop) {
    const auto bytes = static_cast<std::streamsize>(layout_.shot_bytes(header.transmit).count);
    ShotPlace shot;
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        woken_ = false;
      }
      shot = intake.begin_shot(lane, header, static_cast<std::size_t>(bytes));
      if (shot.verdict != ShotVerdict::wait) break;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, std::chrono::milliseconds(100), [this] { return woken_; });
      lock.unlock();
      if (stop.stop_requested()) return false;
      intake.expire();
    }
    LiveSourceCounters::add(counters_.shots);
    LiveSourceCounters::add(counters_.bytes, static_cast<std::uint64_t>(bytes));
    if (shot.verdict == ShotVerdict::invalid) return false;
    if (shot.verdict == ShotVerdict::discarded) {
      LiveSourceCounters::add(counters_.discarded);
      file.seekg(bytes, std::ios::cur);
      return true;
    }
    if (file.read(reinterpret_cast<char*>(shot.place.data()), bytes)) {
      intake.finish_shot(lane, shot.ticket);
      return true;
    }
    intake.abandon_shot(lane, shot.ticket);
    spdlog::warn("{}: found its end within a frame", path_);
    return false;
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  void wait_until(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, time, [] { return false; });
  }

  const std::string path_;
  const Acquisition acquisition_;
  const FrameLayout layout_;
  const std::chrono::steady_clock::duration period_;
  const std::uint64_t session_ = random_session();
  LiveSourceCounters counters_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool woken_ = false;  // guarded by mutex_
  std::uint64_t sequence_ = 0;
  std::jthread thread_;  // dies first
};

std::unique_ptr<AcquisitionSource> make_source(const Configuration& configuration, const Clock& /*clock*/) {
  const auto& wanted = section<RawFileSection>(configuration);
  if (wanted.path.empty()) return nullptr;
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(wanted.elements, wanted.pitch, 0.8 * wanted.pitch, Hertz(5e6), Hertz(3e6));
  acquisition.samples = wanted.samples;
  acquisition.sample_rate = wanted.sample_rate;
  const std::filesystem::path path = named_file(configuration, wanted.path);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes == 0 || bytes % acquisition.frame_bytes() != 0) {
    throw InputError(configuration.place("[raw_file] path"), error ? error.message() : fmt::format("a file of {} bytes", bytes),
                     fmt::format("a file of whole frames of {} bytes", acquisition.frame_bytes()));
  }
  return std::make_unique<RawFileSource>(path.string(), std::move(acquisition), wanted.frames_per_second);
}

}  // namespace

SourceDoor raw_file_door();
SourceDoor raw_file_door() {
  SourceDoor door{"raw file", make_source};
  door.keys.sections = {
      {"raw_file", "Frames out of a file: 16-bit samples [frame, transmitter, receiver, sample], over and over."}};
  const auto member = [](auto pointer) {
    return [pointer](auto& c) -> auto& {
      return section<RawFileSection>(c).*pointer;
    };
  };
  Key path = keys::text({"raw_file", "path", "", "The file; empty: none."}, "", keys::any_text, member(&RawFileSection::path));
  path.names_file = true;
  door.keys.keys = {
      std::move(path),
      keys::integer({"raw_file", "elements", "", "Elements of the linear array."}, keys::within(1, 1024),
                    member(&RawFileSection::elements)),
      keys::number({"raw_file", "pitch", "m", "Distance of neighbouring element centres."}, keys::within(1e-6, 0.1),
                   member(&RawFileSection::pitch)),
      keys::integer({"raw_file", "samples", "", "Samples of an A-scan."}, keys::within(2, 65536),
                    member(&RawFileSection::samples)),
      keys::number({"raw_file", "sample_rate", "Hz", "Samples per second."}, keys::above(0.0, 1e12),
                   member(&RawFileSection::sample_rate)),
      keys::number({"raw_file", "frames_per_second", "1/s", "How often a frame comes."}, keys::within(0.01, 10000.0),
                   member(&RawFileSection::frames_per_second)),
  };
  return door;
}
