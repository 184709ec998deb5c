#include "transport/acquisition/message_reader.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>

#include "proto/acquisition.pb.h"
#include "transport/wire_numbers.hpp"

namespace echoform {
namespace {

std::string_view name_of(MessageType type) {
  return type == MessageType::hello ? "Hello" : type == MessageType::shot ? "Shot" : "End";
}

/// The first event that has a field where forms go that are not known here, whatever else it states; -1: none has.
int event_of_unknown_form(const wire::Hello& hello) {
  for (int event = 0; event < hello.events_size(); ++event) {
    const google::protobuf::UnknownFieldSet& fields = wire::TransmitEvent::GetReflection()->GetUnknownFields(hello.events(event));
    for (int k = 0; k < fields.field_count(); ++k) {
      if (fields.field(k).number() < wire::TransmitEvent::kReceiversFieldNumber) return event;
    }
  }
  return -1;
}

}  // namespace

MessageReader::MessageReader()
    : bytes_{},
      hello_(std::make_unique<wire::Hello>()),
      shot_message_(std::make_unique<wire::Shot>()),
      end_message_(std::make_unique<wire::End>()) {}

MessageReader::~MessageReader() = default;

bool MessageReader::read_prefix(std::span<const std::byte, prefix_bytes> bytes) {
  std::ranges::copy(bytes, bytes_.begin());
  prefix_ = echoform::read_prefix(bytes_);
  if (!prefix_.magic_matches) {
    return fail(DecodeReason::bad_magic,
                fmt::format("message magic: found {:02x} {:02x} {:02x} {:02x}; expected 45 46 52 4d (\"EFRM\")",
                            std::to_integer<int>(bytes_[0]), std::to_integer<int>(bytes_[1]), std::to_integer<int>(bytes_[2]),
                            std::to_integer<int>(bytes_[3])));
  }
  if (prefix_.version != wire_version) {
    return fail(DecodeReason::bad_version, fmt::format("message version: found {}; expected {}", prefix_.version, wire_version));
  }
  if (prefix_.type < 1 || prefix_.type > 5) {
    return fail(DecodeReason::bad_type, fmt::format("message type: found {}; expected 1 to 5", prefix_.type));
  }
  if (type() == MessageType::accept || type() == MessageType::reject) {
    return fail(DecodeReason::unexpected_message,
                fmt::format("message type: found {} from a sender; expected Hello (1), Shot (4) or End (5)", prefix_.type));
  }
  return true;
}

bool MessageReader::check_lengths(std::uint64_t longest_payload) {
  const std::size_t header_limit = type() == MessageType::hello ? maximum_hello_bytes : maximum_header_bytes;
  if (prefix_.header_bytes > header_limit) {
    return fail(DecodeReason::bad_header_length,
                fmt::format("header length: found {}; expected at most {}", prefix_.header_bytes, header_limit));
  }
  const std::uint64_t payload_limit = type() == MessageType::shot ? longest_payload : 0;
  if (prefix_.payload_bytes > payload_limit) {
    return fail(DecodeReason::bad_payload_length, fmt::format("payload length: found {}; expected {}{}", prefix_.payload_bytes,
                                                              payload_limit == 0 ? "" : "at most ", payload_limit));
  }
  return true;
}

bool MessageReader::check_checksum(std::span<const std::byte> header) {
  if (message_checksum(std::span(bytes_).first<checksummed_prefix_bytes>(), header) == prefix_.checksum) return true;
  return fail(DecodeReason::bad_checksum, fmt::format("{} checksum: found {:08x}; expected the CRC-32C of prefix and header",
                                                      name_of(type()), prefix_.checksum));
}

bool MessageReader::read_hello(std::span<const std::byte> header) {
  if (!check_checksum(header)) return false;
  // Each event takes two bytes on the wire and many times that once it is a message: counted before it is one.
  if (const auto events = count_field(header, wire::Hello::kEventsFieldNumber); events > maximum_events) {
    return fail(DecodeReason::bad_hello, fmt::format("Hello events: found {}; expected at most {}", events, maximum_events));
  }
  // A peer must not be able to make the library write to our standard error.
  const google::protobuf::LogSilencer silencer;
  // A message that is used again keeps what the largest of its fields ever took, event by event.
  hello_ = std::make_unique<wire::Hello>();
  if (!parse_message(header, *hello_)) {
    if (const auto wide = find_wide_number(header, *wire::Hello::descriptor()))
      return fail(DecodeReason::bad_header, fmt::format("Hello {}", *wide));
    return fail(DecodeReason::bad_header, "Hello header: found bytes that are not this message; expected echoform.wire.Hello");
  }
  if (const int event = event_of_unknown_form(*hello_); event >= 0) {
    return fail(DecodeReason::bad_hello,
                fmt::format("Hello event {}: found a form that this server does not know; expected an element", event));
  }
  hello_->DiscardUnknownFields();
  return true;
}

void MessageReader::forget_hello() {
  hello_ = std::make_unique<wire::Hello>();
}

bool MessageReader::read_shot(std::span<const std::byte> header) {
  if (!check_checksum(header)) return false;
  if (!parse_message(header, *shot_message_)) {
    if (const auto wide = find_wide_number(header, *wire::Shot::descriptor()))
      return fail(DecodeReason::bad_header, fmt::format("Shot {}", *wide));
    return fail(DecodeReason::bad_header, "Shot header: found bytes that are not this message; expected echoform.wire.Shot");
  }
  const std::uint64_t time = shot_message_->acquisition_time();
  if (time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(DecodeReason::bad_header, fmt::format("Shot acquisition_time: found {}; expected nanoseconds below 2^63", time));
  }
  shot_ = {.sequence = shot_message_->sequence(),
           .transmit = shot_message_->transmit(),
           .acquisition_time = WallTime(static_cast<std::int64_t>(time))};
  session_ = shot_message_->session();
  return true;
}

bool MessageReader::read_end(std::span<const std::byte> header) {
  if (!check_checksum(header)) return false;
  session_ = parse_message(header, *end_message_) ? end_message_->session() : 0;
  return true;
}

bool MessageReader::check_shot(const FrameLayout& layout) {
  if (shot_.transmit >= layout.events()) {
    return fail(DecodeReason::bad_transmit, fmt::format("Shot transmit (frame {}): found {}; expected below the Hello's {}",
                                                        shot_.sequence, shot_.transmit, layout.events_text()));
  }
  const std::size_t expected = layout.shot_bytes(shot_.transmit).count;
  if (prefix_.payload_bytes != expected) {
    return fail(
        DecodeReason::bad_payload_length,
        fmt::format("Shot payload (frame {}, transmit {}): found {} bytes; expected {} ({} A-scans of {} bytes by the Hello)",
                    shot_.sequence, shot_.transmit, prefix_.payload_bytes, expected, layout.shot(shot_.transmit).count,
                    layout.bytes_per_row()));
  }
  return true;
}

bool MessageReader::fail(DecodeReason reason, std::string text) {
  error_ = {reason, std::move(text)};
  return false;
}

}  // namespace echoform
