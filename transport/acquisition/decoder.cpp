#include "transport/acquisition/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace echoform {

AcquisitionDecoder::AcquisitionDecoder() : look_ahead_{} {}

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
        if (available() < reader_.prefix().header_bytes) return DecodeEvent::need_bytes;
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
    // The sender waits for the answer, so nothing follows the Hello, and reading ahead gains nothing.
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
  const auto prefix = std::span<const std::byte>(look_ahead_).subspan(consumed_).first<prefix_bytes>();
  consumed_ += prefix_bytes;
  if (!reader_.read_prefix(prefix)) {
    fail_by_reader();
    return;
  }
  const MessageType type = reader_.type();
  if (type == MessageType::hello && accepted_) {
    fail(DecodeReason::unexpected_message, "message type: found a second Hello (1); expected Shot (4) or End (5)");
    return;
  }
  if (type != MessageType::hello && !accepted_) {
    fail(DecodeReason::unexpected_message, fmt::format("message type: found {} before the Hello; expected Hello (1)",
                                                       type == MessageType::shot ? "a Shot (4)" : "an End (5)"));
    return;
  }
  if (!reader_.check_lengths()) {
    fail_by_reader();
    return;
  }
  if (type == MessageType::hello) {
    hello_header_.resize(reader_.prefix().header_bytes);
    hello_filled_ = 0;
    state_ = State::hello_header;
  } else {
    state_ = State::header;
  }
}

DecodeEvent AcquisitionDecoder::take_hello() {
  if (!reader_.check_checksum(hello_header_)) return fail_by_reader();
  state_ = State::hello_ready;
  return DecodeEvent::hello;
}

void AcquisitionDecoder::accept(FrameLayout layout) {
  layout_ = std::move(layout);
  accepted_ = true;
  hello_header_ = {};
  state_ = State::prefix;
}

DecodeEvent AcquisitionDecoder::take_header() {
  const std::span<const std::byte> header(look_ahead_.data() + consumed_, reader_.prefix().header_bytes);
  const bool is_shot = reader_.type() == MessageType::shot;
  if (!(is_shot ? reader_.read_shot(header) && reader_.check_shot(layout_) : reader_.read_end(header))) return fail_by_reader();
  consumed_ += header.size();
  if (!is_shot) {
    state_ = State::ended;
    return DecodeEvent::end;
  }
  payload_bytes_ = reader_.prefix().payload_bytes;
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
