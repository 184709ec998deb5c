#include "transport/acquisition/message_handler.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/acquisition.pb.h"

namespace echoform {
namespace {

using Counters = LiveSourceCounters;

/// A refused sender repeats its Hello. The handler ignores the Hellos of a refused session for this time.
constexpr std::chrono::seconds refusal_holds{1};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

MessageHandler::MessageHandler(MessageHandlerOptions options, StreamHost& host, const Clock& clock, LiveSourceCounters& counters,
                               PeerWarnings& warnings, std::function<void()> wake)
    : options_(std::move(options)),
      host_(host),
      clock_(clock),
      counters_(counters),
      warnings_(warnings),
      wake_(std::move(wake)) {}

MessageHandler::~MessageHandler() {
  close();
}

MessageHandler::Verdict MessageHandler::take(MessageParts parts) try {
  for (const auto& part : parts) Counters::add(counters_.bytes, part.size());
  return take_message(parts);
} catch (const std::exception& error) {
  end_after(error);
  return Verdict::taken;
}

MessageHandler::Verdict MessageHandler::resume() try {
  if (!std::exchange(waiting_, false) || !active_) return Verdict::taken;
  active_->heard = clock_.steady();
  return place_shot();
} catch (const std::exception& error) {
  end_after(error);
  return Verdict::taken;
}

MessageHandler::Verdict MessageHandler::take_message(MessageParts parts) {
  if (parts.empty() || parts.front().size() < prefix_bytes) {
    fail(DecodeReason::truncated, fmt::format("message: found {} bytes; expected at least the {} of the prefix",
                                              parts.empty() ? 0 : parts.front().size(), prefix_bytes));
    return Verdict::taken;
  }
  if (!reader_.read_prefix(parts.front().first<prefix_bytes>()) || !reader_.check_lengths()) {
    fail_by_reader();
    return Verdict::taken;
  }
  std::span<const std::byte> header;
  if (!split(parts, header)) return Verdict::taken;
  switch (reader_.type()) {
    case MessageType::hello:
      take_hello(header);
      break;
    case MessageType::shot:
      if (reader_.read_shot(header)) return take_shot();
      fail_by_reader();
      break;
    default:
      if (reader_.read_end(header)) {
        take_end();
      } else {
        fail_by_reader();
      }
      break;
  }
  return Verdict::taken;
}

bool MessageHandler::split(MessageParts parts, std::span<const std::byte>& header) {
  const std::span<const std::byte> first = parts.front();
  const std::size_t head = prefix_bytes + reader_.prefix().header_bytes;
  const std::uint64_t stated = reader_.prefix().payload_bytes;
  if (first.size() < head) {
    fail(DecodeReason::truncated,
         fmt::format("message: found {} bytes; expected at least the {} of prefix and header", first.size(), head));
    return false;
  }
  if (parts.size() > 2 || (parts.size() == 2 && first.size() > head)) {
    fail(DecodeReason::bad_payload_length,
         fmt::format("message parts: found {}{}; expected one, or two of which the second is the payload",
                     parts.size() > 2 ? "more than two" : "two",
                     parts.size() > 2 ? "" : fmt::format(" and {} bytes behind the header of the first", first.size() - head)));
    return false;
  }
  header = first.subspan(prefix_bytes, head - prefix_bytes);
  payload_ = parts.size() == 2 ? parts[1] : first.subspan(head);
  if (payload_.size() != stated) {
    fail(payload_.size() < stated ? DecodeReason::truncated : DecodeReason::bad_payload_length,
         fmt::format("message: found {} bytes of payload; expected the {} that its prefix states", payload_.size(), stated));
    return false;
  }
  return true;
}

void MessageHandler::take_hello(std::span<const std::byte> header) {
  // The token is among these bytes, so the time of the comparison must not depend on how many of them agree.
  if (active_ && equal_in_constant_time(text_of(active_->hello), text_of(header)) && reader_.check_checksum(header)) {
    active_->heard = clock_.steady();
    return;
  }
  if (!reader_.check_checksum(header)) return fail_by_reader();
  const HelloSummary hello = summarise_hello(header);
  const std::uint64_t session = hello.session;
  if (!hello.whole) {
    const DecodeError error = damaged_hello();
    return fail(error.reason, error.text);
  }
  if (const Refused* const before = find_refused(session); before != nullptr && clock_.steady() < before->until) return;
  try {
    refuse_early(hello, options_.token, host_);
    if (session == 0) {
      throw InputError("Hello session", "0", "a number drawn at random, which every message of the sender carries");
    }
    if (active_ && active_->session != session) throw StreamBusy();
  } catch (const WrongToken& error) {
    return refuse(session, {}, error.what());
  } catch (const StreamBusy& error) {
    return refuse(session, printable(hello.sender), error.what());
  } catch (const InputError& error) {
    return refuse(session, printable(hello.sender), error.what(), DecodeReason::bad_hello);
  }
  // From here on, the work delays only this sender.
  ReadHello read = read_hello_header(header, options_.token, options_.limits);
  if (!read.contents) {
    if (read.error.reason != DecodeReason::bad_hello) return fail(read.error.reason, read.error.text);
    return refuse(session, printable(hello.sender), read.error.text, read.error.reason);
  }
  const HelloContents& contents = *read.contents;
  try {
    if (contents.identity.connection_count != 1) {
      throw InputError("Hello connection_count", fmt::format("{}", contents.identity.connection_count), "1 over ZeroMQ");
    }
    if (active_ && active_->session == session && active_->acquisition != contents.acquisition) {
      throw InputError("Hello", "an acquisition that differs from this session's first", "the same until its End");
    }
  } catch (const InputError& error) {
    return refuse(session, contents.identity.sender, error.what(), DecodeReason::bad_hello);
  }
  if (active_) {
    active_->hello.assign(header.begin(), header.end());
    active_->heard = clock_.steady();
    return;
  }
  open(contents, header);
}

void MessageHandler::open(const HelloContents& contents, std::span<const std::byte> header) {
  const std::uint64_t session = contents.identity.session;
  StreamOffer offer = open_stream(host_, contents);
  if (!offer.intake) return refuse(session, contents.identity.sender, offer.refusal, {}, offer.answer);
  LaneId lane = 0;
  try {
    lane = offer.intake->open_lane(wake_);
  } catch (const InputError& error) {
    // Another sender may have taken the stream over since it was opened.
    return refuse(session, contents.identity.sender, error.what());
  }
  active_.emplace(Active{.session = session,
                         .sender = contents.identity.sender,
                         .hello = {header.begin(), header.end()},
                         .acquisition = contents.acquisition,
                         .layout = std::move(offer.layout),
                         .intake = std::move(offer.intake),
                         .lane = lane,
                         .heard = clock_.steady()});
  if (Refused* const before = find_refused(session)) *before = {};
  // The order matters: a reader that sees the sender accepted but not open concludes that the session has ended.
  counters_.open = 1;
  counters_.accepted.fetch_add(1);
  spdlog::info("{}: sender \"{}\" accepted", options_.name, active_->sender);
}

void MessageHandler::take_end() {
  const std::uint64_t session = reader_.session();
  if (session == 0) {
    return fail(DecodeReason::unexpected_message,
                "End session: found none; expected the Hello's, as on every message over ZeroMQ");
  }
  if (Refused* const before = find_refused(session)) *before = {};
  if (!active_ || active_->session != session) return;
  spdlog::info("{}: sender \"{}\" has finished", options_.name, active_->sender);
  close();
}

MessageHandler::Verdict MessageHandler::take_shot() {
  const std::uint64_t session = reader_.session();
  if (session == 0) {
    fail(DecodeReason::bad_header, "Shot session: found none; expected the Hello's, as on every message over ZeroMQ");
    return Verdict::taken;
  }
  if (!active_ || active_->session != session) {
    skip_shot();
    return Verdict::taken;
  }
  active_->heard = clock_.steady();
  if (!reader_.check_shot(active_->layout)) {
    fail_by_reader();
    return Verdict::taken;
  }
  return place_shot();
}

MessageHandler::Verdict MessageHandler::place_shot() {
  const ShotPlace place = active_->intake->begin_shot(active_->lane, reader_.shot(), payload_.size());
  switch (place.verdict) {
    case ShotVerdict::accepted:
      std::memcpy(place.place.data(), payload_.data(), payload_.size());
      active_->intake->finish_shot(active_->lane, place.ticket);
      Counters::add(counters_.shots);
      return Verdict::taken;
    case ShotVerdict::discarded:
      Counters::add(counters_.shots);
      Counters::add(counters_.discarded);
      return Verdict::taken;
    case ShotVerdict::wait:
      waiting_ = true;
      return Verdict::wait;
    case ShotVerdict::invalid:
      break;
  }
  fail(DecodeReason::bad_transmit,
       fmt::format(
           "Shot (frame {}, transmit {}): found one that the stream has no place for; expected one that the Hello describes",
           reader_.shot().sequence, reader_.shot().transmit));
  return Verdict::taken;
}

/// Skips a shot of a sender that was refused, or whose Hello has not come yet. A server that starts in mid-frame meets such
/// shots.
void MessageHandler::skip_shot() {
  Counters::add(counters_.shots);
  Counters::add(counters_.discarded);
  const std::uint64_t session = reader_.session();
  if (find_refused(session) != nullptr) return;
  note_refused(session).until = SteadyTime(0);
  warnings_.warn(PeerWarning::unknown_sender, [&] {
    return fmt::format("{}: shots of a sender whose Hello was not accepted are thrown away", options_.name);
  });
}

void MessageHandler::fail(DecodeReason reason, const std::string& text) {
  counters_.add(reason);
  warnings_.warn(PeerWarning::damaged,
                 [&] { return fmt::format("{}: {}: {}", options_.name, words::decode_reason.of(reason), text); });
}

void MessageHandler::refuse(std::uint64_t session, const std::string& sender, const std::string& reason,
                            std::optional<DecodeReason> error, const std::string& answer) {
  Refused& entry = note_refused(session);
  entry.until = clock_.steady() + refusal_holds;
  if (entry.reason == reason) return;
  entry.reason = reason;
  Counters::add(counters_.rejected);
  if (error) counters_.add(*error);
  counters_.note_rejection(answer.empty() ? reason : answer);
  warnings_.warn(PeerWarning::rejected, [&] {
    return sender.empty() ? fmt::format("{}: a sender is rejected: {}", options_.name, reason)
                          : fmt::format("{}: sender \"{}\" rejected: {}", options_.name, sender, reason);
  });
}

MessageHandler::Refused* MessageHandler::find_refused(std::uint64_t session) {
  const auto at = std::ranges::find(refused_, session, &Refused::session);
  return at == refused_.end() ? nullptr : &*at;
}

MessageHandler::Refused& MessageHandler::note_refused(std::uint64_t session) {
  if (Refused* const known = find_refused(session)) return *known;
  Refused& oldest = *std::ranges::min_element(refused_, {}, &Refused::until);
  oldest = {.session = session, .until = SteadyTime(0), .reason = {}};
  return oldest;
}

void MessageHandler::tick() try {
  if (!active_) return;
  active_->intake->expire();
  if (waiting_ || clock_.steady() - active_->heard < options_.idle_timeout) return;
  warnings_.warn(PeerWarning::silent, [&] {
    return fmt::format("{}: sender \"{}\" sent nothing for {} ms; it may go on with a Hello", options_.name, active_->sender,
                       std::chrono::duration_cast<std::chrono::milliseconds>(options_.idle_timeout).count());
  });
  close();
  Counters::add(counters_.timed_out);
} catch (const std::exception& error) {
  end_after(error);
}

void MessageHandler::close() {
  waiting_ = false;
  if (!active_) return;
  active_->intake->close_lane(active_->lane);
  active_.reset();
  counters_.open = 0;
}

void MessageHandler::end_after(const std::exception& error) {
  spdlog::error("{}: {}", options_.name, error.what());
  close();
}

}  // namespace echoform
