// The server's recorder: a sink that writes the samples of every imaged frame, in parallel to the imaging.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/worker.hpp"
#include "pipeline/image_sink.hpp"
#include "recording/file_series.hpp"

namespace echoform {

/// Why a frame that arrived while recording was requested is in no file.
enum class NotRecorded : std::uint8_t {
  disk_behind,     ///< all buffers waited for the disk
  failed,          ///< the disk failed or is full, at this frame or an earlier one, and recording has not been restarted
  unsupported,     ///< the file's format cannot hold such frames
  no_descriptors,  ///< no file could be opened for lack of descriptors; the first frame for which one can be opens the next
};
inline constexpr std::size_t not_recorded_reasons = 4;

namespace words {
inline constexpr auto not_recorded =
    make_words(std::pair<NotRecorded, std::string_view>{NotRecorded::disk_behind, "disk_behind"},
               std::pair<NotRecorded, std::string_view>{NotRecorded::failed, "failed"},
               std::pair<NotRecorded, std::string_view>{NotRecorded::unsupported, "unsupported"},
               std::pair<NotRecorded, std::string_view>{NotRecorded::no_descriptors, "no_descriptors"});
}  // namespace words

struct RecorderOptions {
  FileSeriesOptions files;
  std::string pattern = "{name}-{time}.mfmc";  ///< of files' names
  std::string name = "echoform";               ///< what {name} stands for
  bool at_start = true;                        ///< recording begins with the recorder
  std::size_t waiting_frames = 8;              ///< buffers; at least 1
  bool wait = false;                           ///< if all buffers are taken: hold the pipeline back instead of omitting the frame
  std::chrono::nanoseconds wait_limit = std::chrono::seconds(10);  ///< after this the frame is omitted; limits stop() too
  std::chrono::nanoseconds flush_interval{0};                      ///< 0: never forced to the disk
};

/// One consistent reading: frames_offered = frames_recorded + all of frames_not_recorded + frames_waiting.
struct RecorderStatus {
  bool recording = false;            ///< frames are recorded: it was requested, and there was no fault since
  std::string file{};                ///< open file, or the last one; empty before the first
  std::string fault{};               ///< why recording ended by itself; empty if it did not, or was requested again
  std::uint64_t frames_offered = 0;  ///< arrived while recording was requested; totals since construction
  std::uint64_t frames_recorded = 0;
  std::uint64_t bytes_recorded = 0;  ///< bytes of samples, as received
  std::array<std::uint64_t, not_recorded_reasons> frames_not_recorded{};
  std::size_t frames_waiting = 0;
};

/// publish() copies the samples into one of a fixed number of buffers, and never waits for the disk unless
/// RecorderOptions::wait is set. The buffers are allocated when a stream opens; nothing is allocated for a frame. Files are
/// written on a thread of their own. A file begins with the first frame after a start, a change of the acquisition or a
/// limit; a sender that reconnects with the same acquisition continues the same file. If a file cannot be written, one line
/// is logged, recording ends, finished files stay, and imaging goes on. If only a descriptor was missing, recording goes on
/// in a new file once a descriptor is free. Writes that an earlier recording has left to the disk may fail after start():
/// this is logged, and does not end the present recording. The class is thread-safe; publish() and setup_changed() come from
/// one thread at a time, as from a pipeline.
class Recorder final : public ImageSink {
 public:
  /// Throws InputError, naming `where`, for an unsuitable pattern or folder.
  Recorder(RecorderOptions options, const std::string& where, MakeFrameWriter make = make_file);
  /// Does the same as finish().
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Records frames from now on, in a new file, which the first of them opens. Returns the file's name in the folder: that
  /// of the pattern, with the present time as {time}, or `file`, which replaces the pattern and is a name without a path. If
  /// the name is taken, -2, -3 ... is appended. Throws InputError for an invalid or too long name, or if recording is under
  /// way; RuntimeFault if the disk has no space for a frame.
  std::string start(const std::string& file = {});
  /// Records no further frames. Returns when waiting frames are written and the file is closed. Throws RuntimeFault if the
  /// disk takes longer than `wait_limit`; recording is stopped nevertheless.
  void stop();
  /// Does the same as stop(), but waits however long the disk takes.
  void finish() override;
  [[nodiscard]] RecorderStatus status() const;

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override;
  void stream_ended() override;
  void publish(const FinishedFrame& frame) noexcept override;
  [[nodiscard]] bool wants_envelope() noexcept override { return false; }
  [[nodiscard]] bool reads_samples() const noexcept override { return true; }
  [[nodiscard]] std::vector<SinkFigure> figures() const override;
  /// "recorded 100 frames, not recorded 3 (disk_behind 3)"
  [[nodiscard]] std::string summary() const override;
  [[nodiscard]] std::string describe() const override;

 private:
  using Contents = std::shared_ptr<const FileSeries::Contents>;
  struct Item {
    Contents contents;
    std::uint64_t run = 0;  // the start() that it belongs to
    std::size_t buffer = 0;
    FrameStamp stamp;
    WallTime published{0};
  };

  void work(const std::stop_token& stop);
  void write_next(std::unique_lock<std::mutex>& lock);
  void close_file(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::string fault_of_closing();  // why the open file could not be closed
  void flush_file(std::unique_lock<std::mutex>& lock);
  // Functions that are called with mutex_ held:
  void take_no_more();
  void describe_contents();
  void prepare_buffers();
  void fail(std::uint64_t run, const std::string& line);  // of the start() that it belongs to
  [[nodiscard]] bool nothing_left_to_do() const { return !wanted_ && waiting_ == 0 && !file_open_; }
  void leave_out(NotRecorded reason) noexcept { ++status_.frames_not_recorded[static_cast<std::size_t>(reason)]; }

  const RecorderOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any work_;  // something for the thread
  std::condition_variable_any room_;  // a buffer is free, a file closed, or recording is over

  // Guarded by mutex_:
  bool wanted_ = false;
  std::uint64_t run_ = 0;         // counts start()
  std::uint64_t broken_run_ = 0;  // the last one in which a file could not be written
  std::string pattern_;
  std::string first_name_;  // of the file that start() has promised, until a frame is on its way there
  std::optional<Acquisition> acquisition_;
  bool sending_ = false;  // frames of that acquisition may come
  Material material_;
  std::function<Pose(EncoderCount)> pose_;  // of a scan: where counts put the probe
  Contents contents_;                       // of the frames that come; none before the first setup, and where they cannot be held
  std::string unsupported_;                 // why they cannot
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::size_t> free_;  // of them
  std::vector<Item> queue_;        // a ring
  std::size_t queue_first_ = 0;
  std::size_t queued_ = 0;
  std::size_t waiting_ = 0;  // buffers in use: being filled, queued, being written
  bool file_open_ = false;
  RecorderStatus status_;  // its `recording` and `frames_waiting` are filled in when it is read

  // The thread's own.
  FileSeries files_;
  Contents writing_;
  std::uint64_t writing_run_ = 0;
  bool unflushed_ = false;
  std::uint64_t missed_ = 0;  // frames since descriptors ran out; 0 while they suffice
  std::chrono::steady_clock::time_point flush_due_;

  std::optional<Worker> worker_;  // dies first
};

}  // namespace echoform
