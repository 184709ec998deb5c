// What sends frames to a server, over whichever transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "acquisition/frame_stamp.hpp"
#include "base/errors.hpp"

namespace echoform {

/// The server has all the frames that it was to take, and said so: no fault of either side.
class FramesTaken : public RuntimeFault {
 public:
  using RuntimeFault::RuntimeFault;
};

class FrameSender {
 public:
  virtual ~FrameSender() = default;
  /// Sends one frame: acquisition.frame_bytes() bytes, rows as the layout has them; all its shots state the stamp. Returns when
  /// `frame` may be reused; blocks while the server takes no more. InputError for a frame of another size, RuntimeFault if
  /// sending fails or was cancelled, of it FramesTaken where the server needs no more.
  virtual void send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) = 0;
  /// Says End and waits until what was sent has left; throws as send_frame() does. The sender cannot send afterwards.
  virtual void finish() = 0;
  /// Breaks off a send that blocks, from any thread; it ends with RuntimeFault.
  virtual void cancel() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t session() const noexcept = 0;
  /// Prefixes and headers included.
  [[nodiscard]] virtual std::uint64_t bytes_sent() const noexcept = 0;
};

/// Drawn at random, never 0.
[[nodiscard]] std::uint64_t random_session();

}  // namespace echoform
