// The newest image of every stream, as messages ready to send. The pipeline puts the images here, and viewers take them. The
// memory is a set of buffers, which grows only when a viewer joins: one buffer for each stream, one for each viewer, and one
// that is being written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/image_sink.hpp"
#include "transport/publish/image_message.hpp"

namespace echoform {

class ImageBoard {
  struct Payload;

 public:
  explicit ImageBoard(std::string name, StreamChoice choice = {});
  ~ImageBoard();
  ImageBoard(const ImageBoard&) = delete;
  ImageBoard& operator=(const ImageBoard&) = delete;

  // The functions below are for the pipeline.
  void set_setup(const ImagingSetup& setup);
  /// Copies the images of watched streams. It copies other streams a few times a second, so that a viewer that joins after
  /// the source has stopped still sees the last image. Allocates nothing. Returns whether viewers have news.
  bool publish(const FinishedFrame& frame) noexcept;
  /// Whether the next frame's envelopes will probably be copied, judging by the frames so far. Any thread may call it.
  [[nodiscard]] bool wants_envelope() const noexcept { return wants_envelope_.load(std::memory_order_relaxed); }

  // The functions below are for viewers.

  /// Holds an image: its buffer is not written again before the lease is gone.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { reset(); }
    void reset() noexcept;
    [[nodiscard]] std::span<const std::byte> message() const;
    [[nodiscard]] explicit operator bool() const { return payload_ != nullptr; }

   private:
    friend class ImageBoard;
    ImageBoard* board_ = nullptr;
    Payload* payload_ = nullptr;
  };

  /// A viewer of `stream` joins and leaves. A stream that no setup has (yet) may be watched; an empty name is the first
  /// stream, whatever it is called.
  void join(std::string_view stream);
  void leave(std::string_view stream);
  /// Number of images that the stream has had: 0 before the first, then its newest image has this number.
  [[nodiscard]] std::uint64_t newest(std::string_view stream) const;
  /// The newest image; empty if the stream has none. Each viewer holds at most one lease at a time.
  [[nodiscard]] Lease take(std::string_view stream, std::uint64_t& number);
  struct Newest {
    Lease lease;
    std::uint64_t number = 0;
  };
  /// The newest images of `streams` where all of them are of one frame, else nothing; with `any`, whatever there is. As many as
  /// there are streams, in their order; those that no setup has (any more) are left out, their leases are empty. Such a viewer
  /// holds at most one lease of each.
  void take_frame(std::span<const std::string> streams, bool any, std::vector<Newest>& taken);

  [[nodiscard]] std::vector<StreamDescription> streams() const;
  [[nodiscard]] std::size_t buffers() const;

 private:
  struct Stream {
    std::string name;
    std::uint64_t number = 0;
    std::uint64_t frame = 0;  // of `newest`, as publish() counts
    Payload* newest = nullptr;
    SteadyTime copied{0};
  };

  [[nodiscard]] Stream* find(std::string_view name) const;
  [[nodiscard]] bool watched(const Stream& stream) const;
  void release(Payload& payload) noexcept;
  void tidy(std::unique_lock<std::mutex> lock);

  /// Notes whether a frame that comes as long after this one as this one after the last would be copied.
  void expect_next(SteadyTime now);

  std::atomic<bool> wants_envelope_{true};
  SteadyTime last_published_{0};  // under writer_mutex_
  std::uint64_t frames_ = 0;      // likewise

  std::mutex writer_mutex_;  // taken before mutex_; never by viewers
  ImageMessageWriter writer_;

  mutable std::mutex mutex_;                      // never held while pixels are copied
  std::vector<std::unique_ptr<Stream>> streams_;  // of all setups so far, so that numbers go on when a stream returns
  std::vector<Stream*> current_;                  // of this setup, as writer_.streams()
  std::vector<StreamDescription> descriptions_;
  std::vector<std::string> watched_;  // one a viewer
  std::vector<std::unique_ptr<Payload>> payloads_;
  std::size_t capacity_ = 0;
};

}  // namespace echoform
