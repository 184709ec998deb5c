// Reads the groups of a frame into buffers that are used in rotation, a piece at a time, and on a thread where imaging leaves one
// free.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engines/group_imager.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/frame_groups.hpp"

namespace echoform {

/// The function and the buffers by which a frame's groups are read; outlives its readers.
struct GroupReading {
  const FrameGroups& groups;
  std::vector<Buffer>& buffers;  ///< used in rotation
  std::size_t row_bytes;
  const GroupImager::Read& read;
  const GroupImager::Expect& expect;  ///< may be empty
};

/// One caller at a time.
class GroupReader {
 public:
  explicit GroupReader(const GroupReading& reading) : reading_(reading) {}

  /// Reads a piece, or announces a group. Only where may_read().
  void read_some() noexcept;
  /// Whether there is a free buffer, nothing failed, and not all is read.
  [[nodiscard]] bool may_read() const noexcept;
  /// Whether all of `group` is read.
  [[nodiscard]] bool there(std::size_t group) const noexcept { return group < group_; }
  /// What reading threw; null where it has not.
  [[nodiscard]] std::exception_ptr fault() const noexcept { return fault_; }
  [[nodiscard]] bool finished() const noexcept { return fault_ != nullptr || group_ == reading_.groups.count(); }

  /// Reads until `group` is there. Throws what reading it threw.
  void await(std::size_t group);
  /// The buffer of `group` may be filled anew.
  void release(std::size_t group) noexcept { released_ = group + 1; }

 private:
  void read_piece();

  const GroupReading reading_;
  std::size_t announced_ = 0;   // groups
  std::size_t group_ = 0;       // the group that is being read
  std::vector<RowRange> rows_;  // its rows; empty: nothing of it is read
  std::vector<RowRange> piece_;
  std::size_t range_ = 0;     // index in rows_ of the range that is read next
  std::size_t row_ = 0;       // the next row within that range
  std::size_t bytes_ = 0;     // bytes of the group that are in its buffer
  std::size_t released_ = 0;  // groups whose buffers are free
  std::exception_ptr fault_;
};

/// Reads on a thread of its own, from construction until all is read or reading fails.
class GroupReadingThread {
 public:
  explicit GroupReadingThread(const GroupReading& reading);
  /// Ends after the piece that is being read.
  ~GroupReadingThread();
  GroupReadingThread(const GroupReadingThread&) = delete;
  GroupReadingThread& operator=(const GroupReadingThread&) = delete;

  /// Waits until `group` is there. Throws what reading it threw.
  void await(std::size_t group);
  /// As of GroupReader; from any thread.
  void release(std::size_t group) noexcept;

 private:
  void run() noexcept;

  GroupReader reader_;  // what the mutex does not guard belongs to the thread
  std::mutex mutex_;    // guards what follows
  std::condition_variable changed_;
  std::size_t released_ = 0;  // groups
  std::size_t read_ = 0;      // groups
  std::exception_ptr fault_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace echoform
