// Sends frames to a server, over any transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "acquisition/frame_stamp.hpp"
#include "base/errors.hpp"

namespace echoform {

/// The server has reported that it has all the frames that it needs; nothing is wrong on either side.
class FramesTaken : public RuntimeFault {
 public:
  using RuntimeFault::RuntimeFault;
};

class FrameSender {
 public:
  virtual ~FrameSender() = default;
  /// Sends one frame: acquisition.frame_bytes() bytes, rows as the layout has them; all its shots state the stamp. Returns
  /// when `frame` may be reused; blocks while the server takes no more. InputError for a frame of another size, RuntimeFault
  /// if sending fails or was cancelled, and its subclass FramesTaken where the server needs no more frames.
  virtual void send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) = 0;
  /// Sends End and waits until all that was sent has left; throws as send_frame() does. The sender cannot send afterwards.
  virtual void finish() = 0;
  /// Aborts a send that blocks, which then throws RuntimeFault. Any thread may call it.
  virtual void cancel() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t session() const noexcept = 0;
  /// Number of bytes sent, including prefixes and headers.
  [[nodiscard]] virtual std::uint64_t bytes_sent() const noexcept = 0;
};

/// A random session number, never 0.
[[nodiscard]] std::uint64_t random_session();

}  // namespace echoform
