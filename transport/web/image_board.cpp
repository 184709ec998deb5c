#include "transport/web/image_board.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace echoform {

using namespace std::chrono_literals;

// Interval at which streams that nobody watches are copied.
constexpr auto unwatched_interval = 250ms;

struct ImageBoard::Payload {
  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity = 0;
  std::size_t bytes = 0;
  std::size_t users = 0;  // guarded by mutex_

  explicit Payload(std::size_t size) : memory(std::make_unique_for_overwrite<std::byte[]>(size)), capacity(size) {}
};

ImageBoard::Lease& ImageBoard::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    reset();
    board_ = std::exchange(other.board_, nullptr);
    payload_ = std::exchange(other.payload_, nullptr);
  }
  return *this;
}

void ImageBoard::Lease::reset() noexcept {
  if (payload_ == nullptr) return;
  std::unique_lock lock(board_->mutex_);
  board_->release(*std::exchange(payload_, nullptr));
  try {
    board_->tidy(std::move(lock));
  } catch (const std::bad_alloc&) {
    // The buffer stays missing; the next viewer that comes or goes causes another attempt.
  }
}

std::span<const std::byte> ImageBoard::Lease::message() const {
  return {payload_->memory.get(), payload_->bytes};
}

ImageBoard::ImageBoard(std::string name, StreamChoice choice) : writer_(std::move(name), choice) {}
ImageBoard::~ImageBoard() = default;

void ImageBoard::set_setup(const ImagingSetup& setup) {
  const std::lock_guard writer_lock(writer_mutex_);
  writer_.set_setup(setup);
  std::unique_lock lock(mutex_);
  for (Stream* stream : current_) {
    if (stream->newest != nullptr) release(*std::exchange(stream->newest, nullptr));
  }
  current_.clear();
  descriptions_.assign(writer_.streams().begin(), writer_.streams().end());
  for (const auto& description : descriptions_) {
    Stream* stream = find(description.name);
    if (stream == nullptr) {
      streams_.push_back(std::make_unique<Stream>());
      stream = streams_.back().get();
      stream->name = description.name;
    }
    stream->copied = SteadyTime{-1h};
    current_.push_back(stream);
  }
  wants_envelope_.store(true, std::memory_order_relaxed);
  capacity_ = writer_.capacity();
  tidy(std::move(lock));
}

bool ImageBoard::publish(const FinishedFrame& frame) noexcept {
  const std::lock_guard writer_lock(writer_mutex_);
  bool news = false;
  ++frames_;
  for (std::size_t i = 0; i < current_.size(); ++i) {
    Stream& stream = *current_[i];
    const std::size_t bytes = writer_.prepare(frame, i);
    Payload* payload = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (bytes == 0 || bytes > capacity_) continue;
      if (!watched(stream) && frame.now - stream.copied < unwatched_interval) continue;
      for (const auto& candidate : payloads_) {
        if (candidate->users == 0 && candidate->capacity >= bytes) {
          payload = candidate.get();
          payload->users = 1;
          break;
        }
      }
    }
    if (payload == nullptr) continue;
    writer_.write({payload->memory.get(), bytes});
    payload->bytes = bytes;
    const std::lock_guard lock(mutex_);
    if (stream.newest != nullptr) release(*stream.newest);
    stream.newest = payload;
    stream.copied = frame.now;
    stream.frame = frames_;
    ++stream.number;
    news = news || watched(stream);
  }
  expect_next(frame.now);
  return news;
}

void ImageBoard::expect_next(SteadyTime now) {
  const SteadyTime next = now + (now - last_published_);
  last_published_ = now;
  const std::lock_guard lock(mutex_);
  bool wanted = false;
  for (std::size_t i = 0; i < current_.size(); ++i) {
    if (descriptions_[i].display) continue;
    wanted = wanted || watched(*current_[i]) || next - current_[i]->copied >= unwatched_interval;
  }
  wants_envelope_.store(wanted, std::memory_order_relaxed);
}

void ImageBoard::join(std::string_view stream) {
  std::unique_lock lock(mutex_);
  watched_.emplace_back(stream);
  wants_envelope_.store(true, std::memory_order_relaxed);
  tidy(std::move(lock));
}

void ImageBoard::leave(std::string_view stream) {
  std::unique_lock lock(mutex_);
  const auto place = std::find(watched_.begin(), watched_.end(), stream);
  if (place != watched_.end()) watched_.erase(place);
  tidy(std::move(lock));
}

std::uint64_t ImageBoard::newest(std::string_view stream) const {
  const std::lock_guard lock(mutex_);
  const Stream* found = find(stream);
  return found == nullptr ? 0 : found->number;
}

ImageBoard::Lease ImageBoard::take(std::string_view stream, std::uint64_t& number) {
  const std::lock_guard lock(mutex_);
  Lease lease;
  const Stream* found = find(stream);
  if (found == nullptr || found->newest == nullptr) return lease;
  number = found->number;
  ++found->newest->users;
  lease.board_ = this;
  lease.payload_ = found->newest;
  return lease;
}

void ImageBoard::take_frame(std::span<const std::string> streams, bool any, std::vector<Newest>& taken) {
  taken.clear();
  const std::lock_guard lock(mutex_);
  const Stream* one = nullptr;
  for (const std::string& name : streams) {
    const Stream* found = find(name);
    const bool there = found != nullptr && std::ranges::find(current_, found) != current_.end();
    if (!there || any) continue;
    // publish() is between the first and the last stream of a frame here. It notifies the viewers when it has finished.
    if (found->newest == nullptr || (one != nullptr && found->frame != one->frame)) return;
    one = found;
  }
  for (const std::string& name : streams) {
    Newest& newest = taken.emplace_back();
    const Stream* found = find(name);
    if (found == nullptr || found->newest == nullptr) continue;
    ++found->newest->users;
    newest.number = found->number;
    newest.lease.board_ = this;
    newest.lease.payload_ = found->newest;
  }
}

std::vector<StreamDescription> ImageBoard::streams() const {
  const std::lock_guard lock(mutex_);
  return descriptions_;
}

std::size_t ImageBoard::buffers() const {
  const std::lock_guard lock(mutex_);
  return payloads_.size();
}

ImageBoard::Stream* ImageBoard::find(std::string_view name) const {
  if (name.empty()) return current_.empty() ? nullptr : current_.front();
  const auto place = std::find_if(streams_.begin(), streams_.end(), [&](const auto& stream) { return stream->name == name; });
  return place == streams_.end() ? nullptr : place->get();
}

bool ImageBoard::watched(const Stream& stream) const {
  return std::any_of(watched_.begin(), watched_.end(), [&](const std::string& name) {
    return name == stream.name || (name.empty() && &stream == current_.front());
  });
}

void ImageBoard::release(Payload& payload) noexcept {
  --payload.users;
}

// Brings the buffers to the number and size that streams and viewers need; buffers in use wait until they are released.
// Allocating and freeing large images takes the system long. publish() must not wait for that, so the lock is released meanwhile.
void ImageBoard::tidy(std::unique_lock<std::mutex> lock) {
  if (capacity_ == 0) return;  // no setup yet
  const auto wanted = [this] { return current_.size() + watched_.size() + 1; };
  std::vector<std::unique_ptr<Payload>> spent;
  for (std::size_t i = payloads_.size(); i-- > 0;) {
    if (payloads_[i]->users != 0 || (payloads_.size() <= wanted() && payloads_[i]->capacity == capacity_)) continue;
    spent.push_back(std::move(payloads_[i]));
    payloads_.erase(payloads_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  while (payloads_.size() < wanted()) {
    const std::size_t capacity = capacity_;
    lock.unlock();
    spent.clear();  // first, so that the old and the new buffers never exist at once
    auto fresh = std::make_unique<Payload>(capacity);
    lock.lock();
    // Meanwhile another viewer may have come or gone, or another setup.
    if (capacity == capacity_ && payloads_.size() < wanted()) {
      payloads_.push_back(std::move(fresh));
    } else {
      spent.push_back(std::move(fresh));
    }
  }
  lock.unlock();
}

}  // namespace echoform
