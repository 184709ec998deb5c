// Decodes acquisition messages from a stream of bytes, without sockets, clocks or exceptions. The decoder states where the
// next bytes go, takes the number of bytes that came, and reports what they completed. Any split of the bytes gives the same
// events.
//
// A shot's payload goes straight to its place. read_targets() then is the rest of that place, followed by a small look-ahead
// buffer for the next message's prefix and header. One scatter read per shot is enough when the sender keeps up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/message_reader.hpp"

namespace echoform {

enum class DecodeEvent : std::uint8_t {
  need_bytes,     ///< read into read_targets(), then commit()
  hello,          ///< hello_header() is there, its checksum is right; answer it with accept() before going on
  shot,           ///< shot() is there; answer it with receive_payload() or discard_payload(), now or later
  shot_complete,  ///< the payload is in its place (or was discarded)
  end,            ///< the sender has finished
  failed,         ///< error() states the reason; no more events follow
};

class AcquisitionDecoder {
 public:
  AcquisitionDecoder();
  AcquisitionDecoder(const AcquisitionDecoder&) = delete;
  AcquisitionDecoder& operator=(const AcquisitionDecoder&) = delete;

  /// Goes on as far as the bytes allow. Call it until it asks for bytes; hello, shot, end and failed are repeated until
  /// they are answered (the last two for ever).
  [[nodiscard]] DecodeEvent next();

  /// Where the next bytes go, in this order; after need_bytes never both empty.
  using ReadTargets = std::array<std::span<std::byte>, 2>;
  [[nodiscard]] ReadTargets read_targets() noexcept;
  /// `bytes` were read into the targets; no more than they hold.
  void commit(std::size_t bytes) noexcept;

  /// Bytes that were committed but not decoded yet: they belong to messages after the present event.
  [[nodiscard]] std::size_t unread() const noexcept { return available(); }

  /// The header of the Hello, not parsed yet. The caller may move it away, and parse it on a thread where that delays
  /// nobody.
  [[nodiscard]] std::vector<std::byte>& hello_header() noexcept { return hello_header_; }
  /// Shots of frames of this layout may come now.
  void accept(FrameLayout layout);

  [[nodiscard]] const ShotHeader& shot() const noexcept { return reader_.shot(); }
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return payload_bytes_; }
  /// The payload goes to `place`, which is payload_bytes() long and stays valid until shot_complete or the decoder's end.
  void receive_payload(std::span<std::byte> place) noexcept;
  /// The payload is read over and over into `scratch`, which is not empty and stays valid as above.
  void discard_payload(std::span<std::byte> scratch) noexcept;

  /// Whether a connection that ended here would cut a message.
  [[nodiscard]] bool within_message() const noexcept;
  [[nodiscard]] const DecodeError& error() const noexcept { return error_; }
  /// Fails with a reason that the caller found, such as the end of the connection within a message.
  DecodeEvent fail(DecodeReason reason, std::string text);

 private:
  enum class State : std::uint8_t { prefix, hello_header, header, hello_ready, shot_ready, payload, ended, failed };

  [[nodiscard]] std::size_t available() const noexcept { return filled_ - consumed_; }
  void take_prefix();
  DecodeEvent take_hello();
  DecodeEvent take_header();
  DecodeEvent fail_by_reader() { return fail(reader_.error().reason, reader_.error().text); }

  // Payload bytes in the look-ahead have to be copied to their place. So after a long rest of a payload the look-ahead is
  // offered for little more than the next prefix and header. A read that would be short without it may fill all of it, which
  // for small shots reads several shots at once.
  static constexpr std::size_t look_ahead_bytes = std::size_t{16} << 10;
  static constexpr std::size_t short_look_ahead_bytes = 512;
  static_assert(short_look_ahead_bytes >= prefix_bytes + maximum_header_bytes);

  State state_ = State::prefix;
  bool accepted_ = false;
  bool discarding_ = false;
  std::array<std::byte, look_ahead_bytes> look_ahead_;
  std::size_t consumed_ = 0;
  std::size_t filled_ = 0;

  MessageReader reader_;
  std::vector<std::byte> hello_header_;
  std::size_t hello_filled_ = 0;
  FrameLayout layout_;  // once accepted

  std::size_t payload_bytes_ = 0;
  std::size_t payload_left_ = 0;
  std::span<std::byte> target_;  // the rest of the place, or the scratch memory
  DecodeError error_;
};

}  // namespace echoform
