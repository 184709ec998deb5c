#include "transport/acquisition/decoder.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "proto/acquisition.pb.h"

namespace echoform {

AcquisitionDecoder::AcquisitionDecoder()
    : look_ahead_{}, prefix_copy_{}, hello_(std::make_unique<wire::Hello>()), shot_message_(std::make_unique<wire::Shot>()) {}

AcquisitionDecoder::~AcquisitionDecoder() = default;

DecodeEvent AcquisitionDecoder::next() {
  for (;;) {
    switch (state_) {
      case State::prefix: {
        if (available() < prefix_bytes) return DecodeEvent::need_bytes;
        take_prefix();
        break;
      }
      case State::hello_header: {
        const std::size_t taken = std::min(available(), hello_header_.size() - hello_filled_);
        std::copy_n(look_ahead_.begin() + static_cast<std::ptrdiff_t>(consumed_), taken,
                    hello_header_.begin() + static_cast<std::ptrdiff_t>(hello_filled_));
        consumed_ += taken;
        hello_filled_ += taken;
        if (hello_filled_ < hello_header_.size()) return DecodeEvent::need_bytes;
        return take_hello();
      }
      case State::header:
        if (available() < prefix_.header_bytes) return DecodeEvent::need_bytes;
        return take_header();
      case State::payload:
        if (payload_left_ > 0) return DecodeEvent::need_bytes;
        state_ = State::prefix;
        return DecodeEvent::shot_complete;
      case State::hello_ready:
        return DecodeEvent::hello;
      case State::shot_ready:
        return DecodeEvent::shot;
      case State::ended:
        return DecodeEvent::end;
      case State::failed:
        return DecodeEvent::failed;
    }
  }
}

AcquisitionDecoder::ReadTargets AcquisitionDecoder::read_targets() noexcept {
  if (consumed_ > 0) {
    std::memmove(look_ahead_.data(), look_ahead_.data() + consumed_, available());
    filled_ -= consumed_;
    consumed_ = 0;
  }
  const std::span<std::byte> rest(look_ahead_.data() + filled_, look_ahead_.size() - filled_);
  if (state_ == State::hello_header) {
    // The sender waits for the answer, so nothing follows that would be worth a look-ahead.
    return {std::span(hello_header_).subspan(hello_filled_), {}};
  }
  if (state_ == State::payload) {
    const auto first = target_.first(std::min(target_.size(), payload_left_));
    if (first.size() < payload_left_) return {first, {}};
    return {first, payload_left_ >= look_ahead_bytes ? rest.first(std::min(rest.size(), short_look_ahead_bytes)) : rest};
  }
  return {rest, {}};
}

void AcquisitionDecoder::commit(std::size_t bytes) noexcept {
  if (state_ == State::hello_header) {
    hello_filled_ += std::min(bytes, hello_header_.size() - hello_filled_);
    return;
  }
  if (state_ == State::payload) {
    const std::size_t first = std::min({bytes, target_.size(), payload_left_});
    payload_left_ -= first;
    if (!discarding_) target_ = target_.subspan(first);
    bytes -= first;
  }
  filled_ += std::min(bytes, look_ahead_.size() - filled_);
}

void AcquisitionDecoder::take_prefix() {
  std::memcpy(prefix_copy_.data(), look_ahead_.data() + consumed_, prefix_bytes);
  consumed_ += prefix_bytes;
  prefix_ = read_prefix(prefix_copy_);
  if (!prefix_.magic_matches) {
    fail(DecodeReason::bad_magic, fmt::format("message magic: found {:02x} {:02x} {:02x} {:02x}; expected 45 46 52 4d (\"EFRM\")",
                                              std::to_integer<int>(prefix_copy_[0]), std::to_integer<int>(prefix_copy_[1]),
                                              std::to_integer<int>(prefix_copy_[2]), std::to_integer<int>(prefix_copy_[3])));
    return;
  }
  if (prefix_.version != wire_version) {
    fail(DecodeReason::bad_version, fmt::format("message version: found {}; expected {}", prefix_.version, wire_version));
    return;
  }
  const auto type = static_cast<MessageType>(prefix_.type);
  if (prefix_.type < 1 || prefix_.type > 5) {
    fail(DecodeReason::bad_type, fmt::format("message type: found {}; expected 1 to 5", prefix_.type));
    return;
  }
  if (type == MessageType::accept || type == MessageType::reject) {
    fail(DecodeReason::unexpected_message,
         fmt::format("message type: found {} from a sender; expected Hello (1), Shot (4) or End (5)", prefix_.type));
    return;
  }
  if (type == MessageType::hello && accepted_) {
    fail(DecodeReason::unexpected_message, "message type: found a second Hello (1); expected Shot (4) or End (5)");
    return;
  }
  if (type != MessageType::hello && !accepted_) {
    fail(DecodeReason::unexpected_message, fmt::format("message type: found {} before the Hello; expected Hello (1)",
                                                       type == MessageType::shot ? "a Shot (4)" : "an End (5)"));
    return;
  }
  const std::size_t header_limit = type == MessageType::hello ? maximum_hello_bytes : maximum_header_bytes;
  if (prefix_.header_bytes > header_limit) {
    fail(DecodeReason::bad_header_length,
         fmt::format("header length: found {}; expected at most {}", prefix_.header_bytes, header_limit));
    return;
  }
  const std::uint64_t payload_limit = type == MessageType::shot ? elements_ * a_scan_bytes_ : 0;
  if (prefix_.payload_bytes > payload_limit) {
    fail(DecodeReason::bad_payload_length, fmt::format("payload length: found {}; expected {}{}", prefix_.payload_bytes,
                                                       payload_limit == 0 ? "" : "at most ", payload_limit));
    return;
  }
  if (type == MessageType::hello) {
    hello_header_.resize(prefix_.header_bytes);
    hello_filled_ = 0;
    state_ = State::hello_header;
  } else {
    state_ = State::header;
  }
}

bool AcquisitionDecoder::checksum_matches(std::span<const std::byte> header) const noexcept {
  return message_checksum(std::span(prefix_copy_).first<checksummed_prefix_bytes>(), header) == prefix_.checksum;
}

DecodeEvent AcquisitionDecoder::take_hello() {
  if (!checksum_matches(hello_header_)) {
    return fail(DecodeReason::bad_checksum,
                fmt::format("Hello checksum: found {:08x}; expected the CRC-32C of prefix and header", prefix_.checksum));
  }
  {
    // A peer must not be able to make the library write to our standard error.
    const google::protobuf::LogSilencer silencer;
    if (!hello_->ParseFromArray(hello_header_.data(), static_cast<int>(hello_header_.size()))) {
      return fail(DecodeReason::bad_header, "Hello header: found bytes that are not this message; expected echoform.wire.Hello");
    }
  }
  hello_->DiscardUnknownFields();
  hello_header_ = {};
  state_ = State::hello_ready;
  return DecodeEvent::hello;
}

void AcquisitionDecoder::accept(const Acquisition& acquisition) {
  elements_ = acquisition.elements();
  a_scan_bytes_ = acquisition.bytes_per_a_scan();
  matrix_ = acquisition.matrix;
  accepted_ = true;
  hello_->Clear();
  state_ = State::prefix;
}

DecodeEvent AcquisitionDecoder::take_header() {
  const std::span<const std::byte> header(look_ahead_.data() + consumed_, prefix_.header_bytes);
  const bool is_shot = static_cast<MessageType>(prefix_.type) == MessageType::shot;
  if (!checksum_matches(header)) {
    return fail(DecodeReason::bad_checksum, fmt::format("{} checksum: found {:08x}; expected the CRC-32C of prefix and header",
                                                        is_shot ? "Shot" : "End", prefix_.checksum));
  }
  consumed_ += prefix_.header_bytes;
  if (is_shot) return take_shot(header);
  state_ = State::ended;
  return DecodeEvent::end;
}

DecodeEvent AcquisitionDecoder::take_shot(std::span<const std::byte> header) {
  if (!shot_message_->ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    return fail(DecodeReason::bad_header, "Shot header: found bytes that are not this message; expected echoform.wire.Shot");
  }
  const std::uint64_t time = shot_message_->acquisition_time();
  if (time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(DecodeReason::bad_header, fmt::format("Shot acquisition_time: found {}; expected nanoseconds below 2^63", time));
  }
  shot_ = {.sequence = shot_message_->sequence(),
           .transmit = shot_message_->transmit(),
           .acquisition_time = WallTime(static_cast<std::int64_t>(time))};
  if (shot_.transmit >= elements_) {
    return fail(DecodeReason::bad_transmit,
                fmt::format("Shot transmit (frame {}): found {}; expected below the Hello's {} elements", shot_.sequence,
                            shot_.transmit, elements_));
  }
  const std::size_t a_scans = matrix_ == MatrixKind::full ? elements_ : elements_ - shot_.transmit;
  const std::size_t expected = a_scans * a_scan_bytes_;
  if (prefix_.payload_bytes != expected) {
    return fail(
        DecodeReason::bad_payload_length,
        fmt::format("Shot payload (frame {}, transmit {}): found {} bytes; expected {} ({} A-scans of {} bytes by the Hello)",
                    shot_.sequence, shot_.transmit, prefix_.payload_bytes, expected, a_scans, a_scan_bytes_));
  }
  payload_bytes_ = expected;
  state_ = State::shot_ready;
  return DecodeEvent::shot;
}

void AcquisitionDecoder::receive_payload(std::span<std::byte> place) noexcept {
  const std::size_t taken = std::min(available(), payload_bytes_);
  if (taken > 0) std::memcpy(place.data(), look_ahead_.data() + consumed_, taken);
  consumed_ += taken;
  payload_left_ = payload_bytes_ - taken;
  target_ = place.subspan(taken);
  discarding_ = false;
  state_ = State::payload;
}

void AcquisitionDecoder::discard_payload(std::span<std::byte> scratch) noexcept {
  const std::size_t taken = std::min(available(), payload_bytes_);
  consumed_ += taken;
  payload_left_ = payload_bytes_ - taken;
  target_ = scratch;
  discarding_ = true;
  state_ = State::payload;
}

bool AcquisitionDecoder::within_message() const noexcept {
  switch (state_) {
    case State::prefix:
      return available() > 0;
    case State::hello_header:
    case State::header:
    case State::shot_ready:
    case State::payload:
      return true;
    default:
      return false;
  }
}

DecodeEvent AcquisitionDecoder::fail(DecodeReason reason, std::string text) {
  error_ = {reason, std::move(text)};
  state_ = State::failed;
  return DecodeEvent::failed;
}

}  // namespace echoform
