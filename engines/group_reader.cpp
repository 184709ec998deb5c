#include "engines/group_reader.hpp"

#include <algorithm>
#include <utility>

namespace echoform {
namespace {

// Number of groups that are announced before they are read: enough to keep a disk busy, in the system's cache.
constexpr std::size_t announced_groups = 8;
// Bytes that are read at a time. Meanwhile one thread is held up by some tens of microseconds of copying.
constexpr std::size_t piece_bytes = std::size_t{1} << 17;

}  // namespace

bool GroupReader::may_read() const noexcept {
  return !finished() && group_ < released_ + reading_.buffers.size();
}

void GroupReader::read_some() noexcept {
  try {
    if (reading_.expect && announced_ < std::min(reading_.groups.count(), group_ + announced_groups)) {
      reading_.expect(reading_.groups.rows(announced_));
      ++announced_;
    } else {
      read_piece();
    }
  } catch (...) {
    fault_ = std::current_exception();
  }
}

void GroupReader::await(std::size_t group) {
  while (!there(group) && !fault_) read_some();
  if (!there(group)) std::rethrow_exception(fault_);
}

void GroupReader::read_piece() {
  if (rows_.empty()) {
    rows_ = reading_.groups.rows(group_);
    range_ = row_ = bytes_ = 0;
  }
  piece_.clear();
  std::size_t left = std::max<std::size_t>(1, piece_bytes / reading_.row_bytes);
  std::size_t count = 0;
  while (left > 0 && range_ < rows_.size()) {
    const RowRange& range = rows_[range_];
    const RowRange& part = piece_.emplace_back(RowRange{range.first + row_, std::min(range.count - row_, left)});
    left -= part.count;
    count += part.count;
    row_ += part.count;
    if (row_ < range.count) continue;
    row_ = 0;
    ++range_;
  }
  const Buffer& buffer = reading_.buffers[group_ % reading_.buffers.size()];
  reading_.read(piece_, {buffer.bytes_begin() + bytes_, count * reading_.row_bytes});
  bytes_ += count * reading_.row_bytes;
  if (range_ < rows_.size()) return;
  rows_.clear();
  ++group_;
}

GroupReadingThread::GroupReadingThread(const GroupReading& reading) : reader_(reading), thread_([this] { run(); }) {}

GroupReadingThread::~GroupReadingThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GroupReadingThread::await(std::size_t group) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return group < read_ || fault_; });
  if (group >= read_) std::rethrow_exception(fault_);
}

void GroupReadingThread::release(std::size_t group) noexcept {
  {
    const std::lock_guard lock(mutex_);
    released_ = group + 1;
  }
  changed_.notify_all();
}

void GroupReadingThread::run() noexcept {
  std::size_t read = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        if (released_ > 0) reader_.release(released_ - 1);
        return ending_ || reader_.may_read();
      });
      if (ending_) return;
    }
    reader_.read_some();
    if (!reader_.there(read) && !reader_.fault()) continue;
    {
      const std::lock_guard lock(mutex_);
      if (reader_.there(read)) read_ = ++read;
      fault_ = reader_.fault();
    }
    changed_.notify_all();
    if (reader_.finished()) return;
  }
}

}  // namespace echoform
