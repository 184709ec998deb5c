#include "transport/acquisition/message_reader.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "proto/acquisition.pb.h"
#include "transport/acquisition/hello.hpp"
#include "transport/wire_numbers.hpp"

namespace echoform {
namespace {

std::string_view name_of(MessageType type) {
  return type == MessageType::hello ? "Hello" : type == MessageType::shot ? "Shot" : "End";
}

/// A field of `message` that the parser did not know, with a number up to `last`; null where there is none.
const google::protobuf::UnknownField* unknown_field(const google::protobuf::Message& message, int last) {
  const google::protobuf::UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
  for (int k = 0; k < fields.field_count(); ++k) {
    if (fields.field(k).number() <= last) return &fields.field(k);
  }
  return nullptr;
}

/// Describes what this server does not know in an event, or what has another wire type than expected; usually nothing. An unknown
/// field in the event's form must not be skipped: without it, the form would describe another wave.
std::optional<std::string> unknown_of(const wire::TransmitEvent& event) {
  const auto line = [](const google::protobuf::Message& message, int number, std::string_view stranger,
                       std::string_view expected) {
    const auto* const known = message.GetDescriptor()->FindFieldByNumber(number);
    if (known == nullptr) return fmt::format("found {}; expected {}", stranger, expected);
    return fmt::format("found {} in another wire type than its own; expected a {}", known->name(), known->type_name());
  };
  if (const auto* const field = unknown_field(event, wire::TransmitEvent::kReceiversFieldNumber))
    return line(event, field->number(), "a form that this server does not know", known_event_forms());
  const auto* const form = event.GetReflection()->GetOneofFieldDescriptor(event, event.GetDescriptor()->FindOneofByName("form"));
  if (form == nullptr || form->message_type() == nullptr) return std::nullopt;
  const google::protobuf::Message& message = event.GetReflection()->GetMessage(event, form);
  const auto* const field = unknown_field(message, google::protobuf::FieldDescriptor::kMaxNumber);
  if (field == nullptr) return std::nullopt;
  return line(message, field->number(), fmt::format("a {} with a field that this server does not know", form->name()),
              fmt::format("fields 1 to {}", form->message_type()->field_count()));
}

/// Describes what this server does not know in a position. If it were skipped, the probe would be placed elsewhere.
std::optional<std::string> unknown_of(const wire::Pose& pose) {
  const auto* const field = unknown_field(pose, google::protobuf::FieldDescriptor::kMaxNumber);
  if (field == nullptr) return std::nullopt;
  return fmt::format("found field {}, not known or in another wire type than its own; expected fields 1 to {}", field->number(),
                     wire::Pose::descriptor()->field_count());
}

/// Describes the first event or position that has something unknown.
std::optional<std::string> unknown_event(const wire::Hello& hello) {
  for (int position = 0; position < hello.positions_size(); ++position) {
    if (const auto found = unknown_of(hello.positions(position))) return fmt::format("Hello position {}: {}", position, *found);
  }
  for (int event = 0; event < hello.events_size(); ++event) {
    if (const auto found = unknown_of(hello.events(event))) return fmt::format("Hello event {}: {}", event, *found);
  }
  return std::nullopt;
}

}  // namespace

DecodeError damaged_hello() {
  return {DecodeReason::bad_header, "Hello header: found bytes that are not this message; expected echoform.wire.Hello"};
}

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

bool MessageReader::check_lengths() {
  const std::size_t header_limit = type() == MessageType::hello ? maximum_hello_bytes : maximum_header_bytes;
  if (prefix_.header_bytes > header_limit) {
    return fail(DecodeReason::bad_header_length,
                fmt::format("header length: found {}; expected at most {}", prefix_.header_bytes, header_limit));
  }
  if (type() != MessageType::shot && prefix_.payload_bytes != 0) {
    return fail(DecodeReason::bad_payload_length, fmt::format("payload length: found {}; expected 0", prefix_.payload_bytes));
  }
  return true;
}

bool MessageReader::check_checksum(std::span<const std::byte> header) {
  if (message_checksum(std::span(bytes_).first<checksummed_prefix_bytes>(), header) == prefix_.checksum) return true;
  return fail(DecodeReason::bad_checksum, fmt::format("{} checksum: found {:08x}; expected the CRC-32C of prefix and header",
                                                      name_of(type()), prefix_.checksum));
}

bool MessageReader::read_hello(std::span<const std::byte> header) {
  // Each event takes two bytes on the wire and many times that once it is parsed, so events are counted before parsing.
  if (const auto events = count_field(header, wire::Hello::kEventsFieldNumber); events > maximum_events) {
    return fail(DecodeReason::bad_hello, fmt::format("Hello events: found {}; expected at most {}", events, maximum_events));
  }
  if (const auto positions = count_field(header, wire::Hello::kPositionsFieldNumber); positions > maximum_positions) {
    return fail(DecodeReason::bad_hello,
                fmt::format("Hello positions: found {}; expected at most {}", positions, maximum_positions));
  }
  // A peer must not be able to make the library write to our standard error.
  const google::protobuf::LogSilencer silencer;
  // A message object that is reused keeps the memory of the largest fields that it ever had, event by event.
  hello_ = std::make_unique<wire::Hello>();
  if (!parse_message(header, *hello_)) {
    if (const auto wide = find_wide_number(header, *wire::Hello::descriptor()))
      return fail(DecodeReason::bad_header, fmt::format("Hello {}", *wide));
    error_ = damaged_hello();
    return false;
  }
  if (const auto unknown = unknown_event(*hello_)) return fail(DecodeReason::bad_hello, *unknown);
  hello_->DiscardUnknownFields();
  return true;
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
  if (shot_message_->has_position() && shot_message_->position() == no_position) {
    return fail(DecodeReason::bad_header, fmt::format("Shot position: found {}; expected a count above -2^63", no_position));
  }
  shot_ = {.sequence = shot_message_->sequence(),
           .transmit = shot_message_->transmit(),
           .acquisition_time = WallTime(static_cast<std::int64_t>(time)),
           .position = {}};
  if (shot_message_->has_position()) shot_.position = shot_message_->position();
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
