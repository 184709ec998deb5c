// Messages of us_lab4a's protocol for arrays, version 1006, for the side that asks. A message is a type and a length, each
// of 32 bits, big-endian, then values. No sockets are used here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace echoform::us_lab4a {

inline constexpr std::uint32_t protocol_version = 1006;

enum class MessageType : std::uint32_t {
  connect_request = 2001,
  disconnect_request,
  ok,
  error,
  get_signal_length,
  signal_length,
  get_signal,
  signal,
  get_largest_sample,
  largest_sample,
  get_smallest_sample,
  smallest_sample,
  get_sampling_frequency,
  sampling_frequency,
  set_acquisition_time,
  set_active_receive_elements,
  set_active_transmit_elements,
  set_base_element,
  set_centre_frequency,
  set_gain,
  set_receive_delays,
  set_sampling_frequency,
  set_transmit_delays,
  pre_configuration,
  post_configuration,
  pre_loop_configuration,
  post_loop_configuration,
};

/// The name for messages: "2017 (set_active_transmit_elements)"; only the number of an unknown type.
[[nodiscard]] std::string name_of(MessageType type);

/// A message that is being made: its values, in their order.
class Request {
 public:
  explicit Request(MessageType type);
  Request& add(std::uint32_t value);
  Request& add(float value);
  Request& add(std::string_view text);
  Request& add(std::span<const float> values);
  [[nodiscard]] MessageType type() const { return type_; }
  /// The message as it is sent.
  [[nodiscard]] const std::string& bytes();

 private:
  MessageType type_;
  std::string bytes_;
};

/// What was answered; holds until the parser is asked again, or takes bytes.
struct Answer {
  MessageType type = MessageType::ok;
  std::span<const std::byte> values;
};

/// The only value of an answer. Each throws InputError, naming the type, where there are other bytes than that value takes.
[[nodiscard]] std::uint32_t number_in(const Answer& answer);
[[nodiscard]] std::int16_t sample_in(const Answer& answer);
[[nodiscard]] float real_in(const Answer& answer);
/// The text without control characters, cut to the length of a log line.
[[nodiscard]] std::string text_in(const Answer& answer);
/// The samples as they are sent, big-endian; exactly `count` of them.
[[nodiscard]] std::span<const std::byte> samples_in(const Answer& answer, std::size_t count);
/// `raw` of 16 bits, big-endian, into `counts` as int16 of this machine. The spans are equally long and do not overlap.
void swap_samples(std::span<const std::byte> raw, std::span<std::byte> counts) noexcept;

/// Makes answers out of bytes. A message longer than `longest` breaks the framing.
class AnswerParser {
 public:
  /// `longest`: bytes of a message with its header, at least 512.
  explicit AnswerParser(std::size_t longest);

  /// The memory for the next bytes. Call it only after next() has returned none.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  void commit(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole message; none until more bytes come, or where the framing is broken.
  [[nodiscard]] std::optional<Answer> next();
  /// Why the framing is broken, as one line for people; empty while it is not.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  [[nodiscard]] bool within_message() const noexcept { return begin_ != end_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what has not been read
  std::size_t end_ = 0;
  std::string broken_;
};

}  // namespace echoform::us_lab4a
