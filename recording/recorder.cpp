#include "recording/recorder.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

/// Checks the names now, rather than with the first frame.
void check_names(const RecorderOptions& options, const std::string& pattern, const std::string& where) {
  check_file_pattern(pattern, where);
  try {
    check_output_place(options.files.folder / longest_file_name(pattern, options.name));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

RecorderOptions checked(RecorderOptions options, const std::string& where) {
  check_file_pattern(options.pattern, where + " file");
  try {
    check_output_place(options.files.folder / "recording");
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} folder: {}", where, error.what()));
  }
  check_names(options, options.pattern, where + " file");
  options.waiting_frames = std::max<std::size_t>(1, options.waiting_frames);
  return options;
}

/// Whether two paths are the same. Two places determine a line or a circle, and how far a count leads along it.
bool same_path(const std::function<Pose(EncoderCount)>& a, const std::function<Pose(EncoderCount)>& b) {
  if (!a || !b) return !a && !b;
  return a(0) == b(0) && a(1) == b(1);
}

}  // namespace

Recorder::Recorder(RecorderOptions options, const std::string& where, MakeFrameWriter make)
    : options_(checked(std::move(options), where)),
      wanted_(options_.at_start),
      run_(1),
      pattern_(options_.pattern),
      buffers_(options_.waiting_frames),
      queue_(options_.waiting_frames),
      files_(options_.files, std::move(make)) {
  free_.reserve(options_.waiting_frames);
  worker_.emplace(WorkerOptions{"ef-record", {}}, [this](const std::stop_token& token) { work(token); });
}

Recorder::~Recorder() {
  finish();
  worker_.reset();
}

std::vector<SinkFigure> Recorder::figures() const {
  const RecorderStatus now = status();
  const std::uint64_t left_out =
      std::accumulate(now.frames_not_recorded.begin(), now.frames_not_recorded.end(), std::uint64_t{0});
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  return {{"recording", "1 while frames are taken.", now.recording ? 1.0 : 0.0},
          {"frames_recorded", "Frames whose samples are in a file.", number(now.frames_recorded), true},
          {"frames_left_out", "Frames that came while recording was asked for and are in no file.", number(left_out), true},
          {"frames_waiting", "Frames that wait for the disk.", number(now.frames_waiting)},
          {"bytes_recorded", "Bytes of samples in files.", number(now.bytes_recorded), true}};
}

std::string Recorder::summary() const {
  const RecorderStatus now = status();
  std::uint64_t left_out = 0;
  std::string reasons;
  for (const auto& [reason, word] : words::not_recorded.entries) {
    const std::uint64_t frames = now.frames_not_recorded[static_cast<std::size_t>(reason)];
    left_out += frames;
    if (frames > 0) reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", word, frames);
  }
  return fmt::format("recorded {} frames, not recorded {}{}{}", now.frames_recorded, left_out, reasons,
                     reasons.empty() ? "" : ")");
}

std::string Recorder::describe() const {
  return fmt::format("{}{}", (options_.files.folder / options_.pattern).string(), options_.at_start ? "" : " (when asked to)");
}

std::string Recorder::start(const std::string& file) {
  const auto require_none = [this] {
    if (wanted_ && status_.fault.empty()) throw InputError("recording", "one under way", "none: stop it first");
  };
  std::uint64_t frame_bytes = 1;
  {
    const std::lock_guard lock(mutex_);
    require_none();
    if (acquisition_) frame_bytes = acquisition_->frame_bytes();
  }
  // The disk is checked without the lock, so frames are still accepted meanwhile.
  const std::string pattern = file.empty() ? options_.pattern : file;
  check_names(options_, pattern, "recording");
  require_room(options_.files, frame_bytes);
  check_disk_takes(options_.files.folder);
  const std::string name =
      free_name(options_.files.folder, file_name_of(pattern, options_.name, SystemClock().wall())).filename().string();
  const std::lock_guard lock(mutex_);
  require_none();
  wanted_ = true;
  ++run_;
  status_.fault.clear();
  pattern_ = pattern;
  first_name_ = name;
  describe_contents();
  prepare_buffers();
  return name;
}

void Recorder::stop() {
  std::unique_lock lock(mutex_);
  take_no_more();
  if (room_.wait_for(lock, options_.wait_limit, [&] { return nothing_left_to_do() || wanted_; })) return;
  throw RuntimeFault("recording is stopped, but frames still wait for the disk");
}

void Recorder::finish() {
  std::unique_lock lock(mutex_);
  take_no_more();
  room_.wait(lock, [&] { return nothing_left_to_do() || wanted_; });
}

void Recorder::take_no_more() {
  wanted_ = false;
  work_.notify_all();
  room_.notify_all();
}

RecorderStatus Recorder::status() const {
  const std::lock_guard lock(mutex_);
  RecorderStatus status = status_;
  status.recording = wanted_ && status_.fault.empty();
  status.frames_waiting = waiting_;
  return status;
}

void Recorder::setup_changed(std::shared_ptr<const ImagingSetup> setup) {
  const std::lock_guard lock(mutex_);
  // The file continues if only the imaging has changed, or if its sender is back.
  sending_ = true;
  std::function<Pose(EncoderCount)> pose = setup->scan != nullptr ? setup->scan->pose : nullptr;
  if (acquisition_ && *acquisition_ == setup->acquisition && same_path(pose_, pose)) return prepare_buffers();
  acquisition_ = setup->acquisition;
  material_ = setup->material;
  pose_ = std::move(pose);
  describe_contents();
  prepare_buffers();
}

void Recorder::stream_ended() {
  const std::lock_guard lock(mutex_);
  sending_ = false;
  prepare_buffers();
}

void Recorder::describe_contents() {
  contents_.reset();
  unsupported_.clear();
  if (!acquisition_) return;
  try {
    check_frame_file_holds(pattern_, *acquisition_, "recording");
  } catch (const InputError& error) {
    unsupported_ = error.what();
    if (wanted_) spdlog::error("frames are not recorded: {}", unsupported_);
    return;
  }
  contents_ = std::make_shared<const FileSeries::Contents>(
      FileSeries::Contents{*acquisition_, material_, pattern_, options_.name, pose_, first_name_});
}

/// Sizes the buffers for the sender's frames. Frames of the previous sender may still wait for the disk: then the thread does
/// this once they are written. So the memory is that of one sender, however often senders change, and none if nobody sends.
void Recorder::prepare_buffers() {
  if (!acquisition_ || waiting_ > 0) return;
  if (!sending_) {
    free_.clear();
    for (auto& buffer : buffers_) std::vector<std::byte>().swap(buffer);
    return;
  }
  const std::size_t bytes = acquisition_->frame_bytes();
  if (free_.size() == buffers_.size() && buffers_.front().size() == bytes) return;
  free_.clear();
  try {
    for (auto& buffer : buffers_) std::vector<std::byte>().swap(buffer);
    for (auto& buffer : buffers_) buffer.resize(bytes);
  } catch (const std::bad_alloc&) {
    for (auto& buffer : buffers_) std::vector<std::byte>().swap(buffer);
    fail(run_, fmt::format("no memory for {} frames of {:.1f} MB", buffers_.size(), 1e-6 * static_cast<double>(bytes)));
    return;
  }
  for (std::size_t k = buffers_.size(); k-- > 0;) free_.push_back(k);
}

/// Writing what is left of an earlier recording may fail after start(). That does not end the current recording.
void Recorder::fail(std::uint64_t run, const std::string& line) {
  broken_run_ = std::max(broken_run_, run);
  if (run == run_ && status_.fault.empty()) {
    spdlog::error("{}: {}", wanted_ ? "recording ends" : "a recording that was stopped", line);
    status_.fault = line;
  } else {
    spdlog::error("{}: {}", run == run_ ? "the file of the recording that ended" : "a recording that was stopped", line);
  }
}

void Recorder::publish(const FinishedFrame& frame) noexcept {
  std::unique_lock lock(mutex_);
  if (!wanted_) return;
  const auto room = [&] { return !free_.empty() && buffers_.front().size() == acquisition_->frame_bytes(); };
  const auto over = [&] { return !wanted_ || !status_.fault.empty() || !contents_; };
  if (options_.wait && !over() && !room()) room_.wait_for(lock, options_.wait_limit, [&] { return over() || room(); });
  if (!wanted_) return;
  ++status_.frames_offered;
  if (!status_.fault.empty()) return leave_out(NotRecorded::failed);
  if (!contents_) return leave_out(NotRecorded::unsupported);
  if (!room()) return leave_out(NotRecorded::disk_behind);
  const std::size_t buffer = free_.back();
  free_.pop_back();
  ++waiting_;
  first_name_.clear();  // files after this one are named by the pattern
  Item item{contents_, run_, buffer, {frame.slot.sequence, frame.slot.acquisition_time, frame.slot.position}, frame.publish_time};
  lock.unlock();
  std::memcpy(buffers_[buffer].data(), frame.slot.samples.data(), buffers_[buffer].size());
  lock.lock();
  queue_[(queue_first_ + queued_) % queue_.size()] = std::move(item);
  ++queued_;
  lock.unlock();
  work_.notify_one();
}

void Recorder::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    // A file of an earlier recording is closed even if no frame of the next one comes.
    const auto over = [&] { return !wanted_ || !status_.fault.empty() || writing_run_ != run_; };
    const auto something = [&] { return queued_ > 0 || (file_open_ && waiting_ == 0 && over()); };
    bool found = false;
    if (unflushed_ && options_.flush_interval.count() > 0) {
      found = work_.wait_until(lock, stop, flush_due_, something);
    } else {
      found = work_.wait(lock, stop, something);
    }
    if (queued_ > 0) {
      write_next(lock);
    } else if (found) {
      close_file(lock);
    } else if (stop.stop_requested()) {
      return;
    }
    if (unflushed_ && options_.flush_interval.count() > 0 && std::chrono::steady_clock::now() >= flush_due_) flush_file(lock);
  }
}

void Recorder::write_next(std::unique_lock<std::mutex>& lock) {
  const Item item = std::exchange(queue_[queue_first_], Item{});
  queue_first_ = (queue_first_ + 1) % queue_.size();
  --queued_;
  const bool broken = item.run <= broken_run_;
  bool shortage = false;
  std::string fault, fault_before;
  const std::uint64_t run_before = writing_run_;
  if (!broken) {
    lock.unlock();
    try {
      if (item.contents != writing_ || item.run != writing_run_) {
        if (item.run != writing_run_) {
          missed_ = 0;  // they belong to an earlier recording
          fault_before = fault_of_closing();
        }
        writing_ = item.contents;
        writing_run_ = item.run;
        files_.begin(writing_);
      }
      files_.write(buffers_[item.buffer], item.stamp, item.published);
      if (const auto missed = std::exchange(missed_, 0); missed > 0)
        spdlog::info("recording goes on in {}: {} frames were left out for lack of file descriptors", files_.path().string(),
                     missed);
    } catch (const DescriptorShortage& error) {
      shortage = true;
      if (missed_++ == 0) spdlog::error("recording pauses until a file can be opened: {}", error.what());
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!std::exchange(unflushed_, files_.open())) flush_due_ = std::chrono::steady_clock::now() + options_.flush_interval;
    lock.lock();
  }
  if (broken || !fault.empty()) {
    leave_out(NotRecorded::failed);
  } else if (shortage) {
    leave_out(NotRecorded::no_descriptors);
  } else {
    ++status_.frames_recorded;
    status_.bytes_recorded += buffers_[item.buffer].size();
  }
  if (!fault_before.empty()) fail(run_before, fault_before);
  if (!fault.empty()) fail(item.run, fault);
  file_open_ = files_.open();
  status_.file = files_.path().string();
  free_.push_back(item.buffer);
  if (--waiting_ == 0) prepare_buffers();
  room_.notify_all();
}

std::string Recorder::fault_of_closing() {
  try {
    files_.close();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

void Recorder::close_file(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const std::string fault = fault_of_closing();
  writing_.reset();
  unflushed_ = false;
  lock.lock();
  file_open_ = false;
  if (!fault.empty()) fail(writing_run_, fault);
  room_.notify_all();
}

void Recorder::flush_file(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::string fault;
  try {
    files_.flush();
  } catch (const std::exception& error) {
    fault = error.what();
  }
  unflushed_ = false;
  lock.lock();
  if (!fault.empty()) fail(writing_run_, fault);
}

}  // namespace echoform
