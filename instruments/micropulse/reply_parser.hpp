// Parses the messages that a MicroPulse sends. It uses no sockets: bytes go in as they arrive, cut anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace echoform::micropulse {

enum class ReplyKind : std::uint8_t {
  a_scan,
  peaks,       ///< peak indications, reduced gain or a coupling failure, with their values
  error,       ///< `text` says which
  state,       ///< of encoders and the rest
  place,       ///< an inspection point, or a missed one: `text`
  reset_done,  ///< or what a reset would have said
  cycle_end,   ///< of a cycle that was asked for
  stopped,     ///< on demand
  notice,      ///< anything else that has a length: `text`
};

/// Spans hold until the parser is asked for the next reply, or takes bytes.
struct Reply {
  ReplyKind kind = ReplyKind::notice;
  std::uint32_t test = 0;     ///< of an A-scan: its number, to which what the instrument states is 1 less
  std::uint32_t channel = 0;  ///< of an A-scan: as the instrument counts them
  std::uint8_t format = 0;    ///< of an A-scan: the number of DOF
  std::span<const std::byte> samples;
  std::array<std::int32_t, 4> axes{};  ///< of state: counts
  // Of a reset:
  unsigned array_channels = 0;
  unsigned type = 0;  ///< 3: LTPA, 4: MPLT, 5: MP6
  unsigned sample_format = 0;
  unsigned sample_rate_mhz = 0;
  std::string text;
};

/// "LTPA", "MPLT", "MP6", "type 7".
[[nodiscard]] std::string type_name(unsigned type);

/// Makes replies out of bytes. It allocates its memory on construction, and accepts no message longer than
/// `longest_message`. Once the framing is broken, no more replies follow, since the beginning of the next message is
/// unknown.
class ReplyParser {
 public:
  /// `longest_message`: bytes of an A-scan with its header; longer ones break the framing. At least 64.
  explicit ReplyParser(std::size_t longest_message);

  /// The memory for the next bytes, at least one byte unless the framing is broken. Call it only after next() has returned
  /// none.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  /// States that this many bytes were written into room().
  void commit(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole message; none until more bytes come, or where the framing is broken. Bytes that fill the stream after a stop
  /// are passed over.
  [[nodiscard]] std::optional<Reply> next();

  /// Why the framing is broken, as one line for people; empty while it is not.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  /// Whether a message has begun and is not whole.
  [[nodiscard]] bool within_message() const noexcept { return begin_ != end_; }

 private:
  [[nodiscard]] std::optional<std::size_t> length();
  [[nodiscard]] std::optional<std::size_t> counted(std::size_t header);
  [[nodiscard]] Reply read(std::span<const std::byte> message) const;

  std::size_t longest_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what has not been read
  std::size_t end_ = 0;
  std::string broken_;
};

}  // namespace echoform::micropulse
