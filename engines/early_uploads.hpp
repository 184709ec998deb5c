// Uploads of frames that still arrive. Who receives shots only notes what is in place, under locks that other connections need:
// a driver's call may take as long as an allocation or another process, so it is made on a thread of this object's own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/worker.hpp"
#include "engines/arrival_map.hpp"
#include "pipeline/frame_slot.hpp"

namespace echoform {

/// For one slot the calls come one after the other; for several slots from any threads at once. None but add_slot() allocates.
class EarlyUploads {
 public:
  /// Queues a copy of these rows to the device. Called by the thread and by complete(), for one slot never by two at once. May
  /// take long, must not throw.
  using Copy = std::function<void(FrameSlot& slot, const RowRun& run)>;

  /// Frames have `rows` rows; fewer than `least` (at least 1) that follow each other wait for their neighbours.
  EarlyUploads(std::size_t rows, std::size_t least, Copy copy);
  /// Copies that have not begun are left out; waits for the one that has.
  ~EarlyUploads() = default;
  EarlyUploads(const EarlyUploads&) = delete;
  EarlyUploads& operator=(const EarlyUploads&) = delete;

  /// At set-up: there will be arrivals of the slot of this index.
  void add_slot(std::size_t index);

  /// Another frame has the slot: forgets what arrived of the one before. A copy of that may be under way still; rows of the new
  /// frame are copied behind it. Waits for no copy.
  void open(FrameSlot& slot) noexcept;
  /// Rows first .. first + rows - 1 are in place, and stay as they are until the frame is done or given up. Waits for no copy.
  void arrived(FrameSlot& slot, std::size_t first, std::size_t rows) noexcept;
  /// The frame is whole: afterwards a copy of every row was queued. What the thread had not begun is copied by the caller.
  /// Forgets the frame.
  void complete(FrameSlot& slot) noexcept;

 private:
  struct Upload {
    FrameSlot* slot;
    RowRun run;
  };
  void run(const std::stop_token& stop);

  const std::size_t rows_;
  const std::size_t least_;
  const Copy copy_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::condition_variable copied_;
  std::vector<ArrivalMap> arrivals_;  // by slot
  std::vector<Upload> waiting_;       // oldest first; of one slot only rows of its present frame
  const FrameSlot* copying_ = nullptr;
  std::optional<Worker> worker_;  // dies first
};

}  // namespace echoform
