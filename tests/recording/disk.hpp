// Files in memory for the recorder's tests: the test holds the disk up, lets it go on, or breaks it.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "recording/recorder.hpp"
#include "tests/support/patience.hpp"

namespace echoform::test {

struct StoredFile {
  Acquisition acquisition;
  FrameWriterOptions options;
  std::vector<std::vector<std::byte>> frames;
  std::vector<FrameStamp> stamps;
  int flushes = 0;
  bool closed = false;
};

/// What all files of a test share. Frames are written while `let` is above 0, which each takes one of; at first without end.
struct Disk {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t let = SIZE_MAX;
  std::size_t entered = 0;  ///< frames that the disk was asked to write
  std::size_t fail_at = SIZE_MAX;
  bool hold_close = false;
  std::size_t closing = 0;  ///< files that the disk was asked to close
  bool fail_close = false;
  bool fail_flush = false;
  bool no_descriptors = false;              ///< files cannot be opened for lack of them
  std::map<std::string, StoredFile> files;  // by name
  std::vector<std::string> order;

  void hold() {
    const std::lock_guard lock(mutex);
    let = 0;
  }
  void let_go(std::size_t frames = SIZE_MAX) {
    const std::lock_guard lock(mutex);
    let = frames;
    changed.notify_all();
  }
  void set(bool Disk::*what, bool value) {
    const std::lock_guard lock(mutex);
    this->*what = value;
    changed.notify_all();
  }
  [[nodiscard]] bool wait_closing(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return closing >= count; });
  }
  [[nodiscard]] bool wait_entered(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return entered >= count; });
  }
  [[nodiscard]] StoredFile file(const std::string& name) {
    const std::lock_guard lock(mutex);
    return files.at(name);
  }
  [[nodiscard]] MakeFrameWriter maker();
};

class HeldFile final : public FrameWriter {
 public:
  HeldFile(Disk& disk, std::string name) : disk_(disk), name_(std::move(name)) {}

  void flush() override {
    const std::lock_guard lock(disk_.mutex);
    ++disk_.files.at(name_).flushes;
    disk_.changed.notify_all();
    if (disk_.fail_flush) throw RuntimeFault("held file: no flush");
  }
  void close() override {
    std::unique_lock lock(disk_.mutex);
    ++disk_.closing;
    disk_.changed.notify_all();
    disk_.changed.wait(lock, [&] { return !disk_.hold_close; });
    if (disk_.fail_close) throw RuntimeFault("held file: no close");
    disk_.files.at(name_).closed = true;
    disk_.changed.notify_all();
  }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return 0; }

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override {
    std::unique_lock lock(disk_.mutex);
    const std::size_t number = disk_.entered++;
    disk_.changed.notify_all();
    disk_.changed.wait(lock, [&] { return disk_.let > 0; });
    if (disk_.let != SIZE_MAX) --disk_.let;
    if (number == disk_.fail_at) throw RuntimeFault("held file: the disk is full");
    StoredFile& file = disk_.files.at(name_);
    file.frames.emplace_back(frame.begin(), frame.end());
    file.stamps.push_back(stamp);
    ++frames_;
  }

  Disk& disk_;
  std::string name_;
  std::uint64_t frames_ = 0;
};

inline MakeFrameWriter Disk::maker() {
  return [this](const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options) {
    const std::lock_guard lock(mutex);
    if (no_descriptors) throw DescriptorShortage("held file: no descriptors");
    const std::string name = path.filename().string();
    // As a writer does, so that names that are taken are seen.
    if (std::FILE* const made = std::fopen(path.c_str(), "wx"); made != nullptr) std::fclose(made);
    files[name].acquisition = acquisition;
    files[name].options = options;
    order.push_back(name);
    return std::make_unique<HeldFile>(*this, name);
  };
}

}  // namespace echoform::test
