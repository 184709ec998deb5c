// Uploads of frames that still arrive. The receiver of shots only notes what is in place, under locks that other
// connections need. A call of the driver may take as long as an allocation or another process, so this object makes it on a
// thread of its own.
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

/// The calls for one slot come one after the other; calls for several slots may come from any threads at once. Only
/// add_slot() allocates.
class EarlyUploads {
 public:
  /// Queues a copy of these rows to the device. The thread and complete() call it, for one slot never at the same time. It
  /// may take long, and must not throw.
  using Copy = std::function<void(FrameSlot& slot, const RowRun& run)>;

  /// Frames have `rows` rows. Fewer than `least` successive rows (at least 1) wait for their neighbours.
  EarlyUploads(std::size_t rows, std::size_t least, Copy copy);
  /// Leaves out copies that have not begun, and waits for the one that has.
  ~EarlyUploads() = default;
  EarlyUploads(const EarlyUploads&) = delete;
  EarlyUploads& operator=(const EarlyUploads&) = delete;

  /// Announces, at set-up, that shots will arrive for the slot of this index.
  void add_slot(std::size_t index);

  /// Another frame has the slot: forgets what arrived of the previous frame. A copy of that frame may still be under way;
  /// rows of the new frame are copied after it. Waits for no copy.
  void open(FrameSlot& slot) noexcept;
  /// Rows first .. first + rows - 1 are in place, and stay as they are until the frame is done or given up. Waits for no copy.
  void arrived(FrameSlot& slot, std::size_t first, std::size_t rows) noexcept;
  /// The frame is whole: when this returns, a copy of every row was queued. The caller itself copies what the thread had
  /// not begun. Forgets the frame.
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
  std::vector<Upload> waiting_;       // oldest first; only rows of the present frame of each slot
  const FrameSlot* copying_ = nullptr;
  std::optional<Worker> worker_;  // destroyed first
};

}  // namespace echoform
