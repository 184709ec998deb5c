#include "engines/early_uploads.hpp"

#include <algorithm>
#include <utility>

namespace echoform {

EarlyUploads::EarlyUploads(std::size_t rows, std::size_t least, Copy copy) : rows_(rows), least_(least), copy_(std::move(copy)) {
  worker_.emplace(WorkerOptions{"ef-upload", {}}, [this](const std::stop_token& stop) { run(stop); });
}

void EarlyUploads::add_slot(std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (arrivals_.size() <= index) arrivals_.resize(index + 1);
  arrivals_[index] = ArrivalMap(rows_, least_);
  // Runs of one frame do not overlap, and each has `least` rows.
  waiting_.reserve(arrivals_.size() * (rows_ / least_ + 1));
}

void EarlyUploads::open(FrameSlot& slot) noexcept {
  const std::lock_guard lock(mutex_);
  arrivals_[slot.index].clear();
  std::erase_if(waiting_, [&](const Upload& upload) { return upload.slot->index == slot.index; });
}

void EarlyUploads::arrived(FrameSlot& slot, std::size_t first, std::size_t rows) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const RowRun run = arrivals_[slot.index].arrive(first, rows);
    if (run.rows == 0) return;
    waiting_.push_back({&slot, run});
  }
  wanted_.notify_one();
}

void EarlyUploads::complete(FrameSlot& slot) noexcept {
  ArrivalMap& arrivals = arrivals_[slot.index];
  {
    std::unique_lock lock(mutex_);
    std::erase_if(waiting_, [&](const Upload& upload) {
      if (upload.slot->index != slot.index) return false;
      arrivals.put_back(upload.run);
      return true;
    });
    copied_.wait(lock, [&] { return copying_ != &slot; });
  }
  // From here on only the caller uses the slot.
  for (RowRun run = arrivals.take_rest(); run.rows != 0; run = arrivals.take_rest()) copy_(slot, run);
  arrivals.clear();
}

void EarlyUploads::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wanted_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const Upload upload = waiting_.front();
    waiting_.erase(waiting_.begin());
    copying_ = upload.slot;
    lock.unlock();
    copy_(*upload.slot, upload.run);
    lock.lock();
    copying_ = nullptr;
    copied_.notify_all();
  }
}

}  // namespace echoform
