#include "transport/acquisition/tcp_session.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/admission.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Counters = LiveSourceCounters;

/// The time in which a peer must read a Reject that it was sent, and close the connection.
constexpr std::chrono::milliseconds leave_timeout{1000};

/// Describes the end of a connection for people, to whom "End of file" means nothing.
std::string how_it_ended(const error_code& error) {
  if (error == asio::error::eof) return "the connection was closed";
  return fmt::format("the connection failed ({})", error.message());
}

}  // namespace

TcpSession::TcpSession(std::shared_ptr<SourceState> source, std::shared_ptr<IoThread> thread, Socket socket,
                       const Socket::endpoint_type& from)
    : source_(std::move(source)),
      thread_(std::move(thread)),
      socket_(std::move(socket)),
      peer_(fmt::format("{}:{}", from.address().to_string(), from.port())),
      started_(source_->clock.steady()),
      last_progress_(started_),
      message_began_(started_) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  // The server only reads: without probes, a sender that lost its power or cable would keep others out for hours.
  for (const auto& [option, value] : {std::pair{TCP_KEEPIDLE, 10}, std::pair{TCP_KEEPINTVL, 5}, std::pair{TCP_KEEPCNT, 3}}) {
    static_cast<void>(::setsockopt(socket_.native_handle(), IPPROTO_TCP, option, &value, sizeof(value)));
  }
}

void TcpSession::start() {
  counted_open_ = true;  // the acceptor has counted it
  source_->strangers.enter(shared_from_this());
  proceed();
}

void TcpSession::refuse(const std::string& reason) {
  Counters::add(source_->counters.rejected);
  source_->peers.refuse(PeerRefusal::too_many);
  reject(reason, true);
}

void TcpSession::give_way() {
  if (state_ != State::hello) return;
  Counters::add(source_->counters.rejected);
  source_->peers.refuse(PeerRefusal::silent);
  source_->warn(PeerWarning::silent, [&] { return fmt::format("{}: no complete Hello, and others want the place", peer_); });
  reject("Hello: found none complete while all places were taken; expected one at once", true);
}

void TcpSession::proceed() try {
  for (;;) {
    switch (decoder_.next()) {
      case DecodeEvent::need_bytes:
        return read();
      case DecodeEvent::hello:
        return take_hello();
      case DecodeEvent::shot:
        if (!begin_shot()) return;
        break;
      case DecodeEvent::shot_complete:
        message_began_ = last_progress_;
        if (shot_open_) {
          shot_open_ = false;
          intake_->finish_shot(lane_, ticket_);
        } else {
          Counters::add(source_->counters.discarded);
        }
        Counters::add(source_->counters.shots);
        break;
      case DecodeEvent::end:
        spdlog::info("{}: sender \"{}\" has finished", peer_, identity_.sender);
        return close();
      case DecodeEvent::failed:
        return fail_decoding();
    }
  }
} catch (const std::exception& error) {
  end_after(error);
}

void TcpSession::read() {
  const auto targets = decoder_.read_targets();
  const std::array<asio::mutable_buffer, 2> buffers{asio::buffer(targets[0].data(), targets[0].size()),
                                                    asio::buffer(targets[1].data(), targets[1].size())};
  reading_ = true;
  socket_.async_read_some(
      buffers, HandlerWithMemory(read_memory_, [self = shared_from_this()](const error_code& error, std::size_t bytes) {
        self->on_read(error, bytes);
      }));
}

void TcpSession::on_read(const error_code& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::closed) return;
  if (error || state_ == State::leaving) Counters::add(source_->counters.bytes, bytes);
  if (state_ == State::leaving) {
    if (error && error != asio::error::operation_aborted) return close();
    return drain();
  }
  if (error) return on_end_of_connection(error);
  last_progress_ = source_->clock.steady();
  if (!decoder_.within_message()) message_began_ = last_progress_;
  decoder_.commit(bytes);
  // The counter changes after the state that it counts: an observer of the counter may advance the clock.
  Counters::add(source_->counters.bytes, bytes);
  proceed();
}

void TcpSession::on_end_of_connection(const error_code& error) {
  if (decoder_.within_message()) {
    decoder_.fail(DecodeReason::truncated,
                  fmt::format("connection: found its end within a message ({}); expected the rest of it", how_it_ended(error)));
    return fail_decoding();
  }
  if (accepted_) {
    Counters::add(source_->counters.lost);
    source_->warn(PeerWarning::lost, [&] {
      return fmt::format("{}: sender \"{}\" left without an End: {}", peer_, identity_.sender, how_it_ended(error));
    });
  } else {
    Counters::add(source_->counters.rejected);
  }
  close();
}

void TcpSession::take_hello() {
  // If the list does not hold this session any more, the session is to be closed for a new connection, and its give_way() has not
  // run yet.
  if (!source_->strangers.leave(this)) return;
  const HelloSummary hello = summarise_hello(decoder_.hello_header());
  identity_.sender = printable(hello.sender);
  if (!hello.whole) {
    DecodeError error = damaged_hello();
    decoder_.fail(error.reason, std::move(error.text));
    return fail_decoding();
  }
  try {
    refuse_early(hello, source_->options.token, *source_->host);
  } catch (const WrongToken& error) {
    Counters::add(source_->counters.rejected);
    source_->peers.refuse(PeerRefusal::wrong_token);
    source_->warn(PeerWarning::rejected, [&] { return fmt::format("{}: rejected: wrong token", peer_); });
    return reject(error.what());
  } catch (const StreamBusy& error) {
    return reject_sender(error.what(), error.what(), true);
  }
  state_ = State::opening;
  // Reading a long Hello takes as long as many shots of another sender, whose connection may be served by this thread.
  asio::post(*source_->hello_reader, [self = shared_from_this(), header = std::move(decoder_.hello_header())] {
    const TcpSourceOptions& options = self->source_->options;
    ReadHello read;
    try {
      read = read_hello_header(header, options.token, options.limits);
    } catch (const std::exception& error) {  // out of memory
      read.error = {DecodeReason::bad_hello, fmt::format("Hello: cannot be decoded: {}", error.what())};
    }
    asio::post(self->thread_->context, [self, result = std::move(read)]() mutable { self->on_hello(std::move(result)); });
  });
}

void TcpSession::on_hello(ReadHello read) try {
  if (state_ != State::opening) return;
  if (read.contents) {
    try {
      source_->connections.enter(*read.contents);
    } catch (const InputError& error) {
      read = {.contents = std::nullopt, .error = {DecodeReason::bad_hello, error.what()}};
    }
  }
  if (!read.contents) {
    decoder_.fail(read.error.reason, std::move(read.error.text));
    return fail_decoding();
  }
  identity_ = read.contents->identity;
  in_book_ = true;
  open_stream(std::move(*read.contents));
} catch (const std::exception& error) {
  end_after(error);
}

void TcpSession::open_stream(HelloContents contents) {
  asio::post(*source_->set_up, [self = shared_from_this(), contents = std::move(contents)] {
    StreamOffer offer = echoform::open_stream(*self->source_->host, contents);
    asio::post(self->thread_->context, [self, offer = std::move(offer)]() mutable { self->on_stream(std::move(offer)); });
  });
}

void TcpSession::on_stream(StreamOffer offer) try {
  if (state_ != State::opening) return;
  if (!offer.intake) return reject_sender(offer.refusal, offer.answer, offer.retry);
  lane_ = offer.intake->open_lane([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->wake_posted_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(self->thread_->context, HandlerWithMemory(self->wake_memory_, [self] { self->on_wake(); }));
  });
  intake_ = std::move(offer.intake);
  accepted_ = true;
  Counters::add(source_->counters.accepted);
  decoder_.accept(std::move(offer.layout));
  state_ = State::answering;

  wire::Accept accept;
  accept.set_frame_bytes(intake_->acquisition().frame_bytes());
  accept.set_server("Echoform");
  answer_ = encode_message(MessageType::accept, accept.SerializeAsString());
  spdlog::info("{}: sender \"{}\" accepted, connection {} of {}", peer_, identity_.sender, identity_.connection_index + 1,
               identity_.connection_count);
  asio::async_write(socket_, asio::buffer(answer_), [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
    if (self->state_ != State::answering) return;
    if (error) return self->on_end_of_connection(error);
    self->state_ = State::streaming;
    self->last_progress_ = self->source_->clock.steady();
    self->proceed();
  });
} catch (const InputError& error) {
  // Another sender may have taken the stream over since it was opened.
  reject_sender(error.what(), error.what(), dynamic_cast<const StreamBusy*>(&error) != nullptr);
} catch (const std::exception& error) {
  end_after(error);
}

void TcpSession::end_after(const std::exception& error) {
  spdlog::error("{}: {}", peer_, error.what());
  close();
}

bool TcpSession::begin_shot() {
  const ShotPlace place = intake_->begin_shot(lane_, decoder_.shot(), decoder_.payload_bytes());
  switch (place.verdict) {
    case ShotVerdict::accepted:
      ticket_ = place.ticket;
      shot_open_ = true;
      state_ = State::streaming;
      decoder_.receive_payload(place.place);
      return true;
    case ShotVerdict::discarded:
      state_ = State::streaming;
      decoder_.discard_payload(thread_->scratch);
      return true;
    case ShotVerdict::wait:
      // Nothing is read until on_wake(). The system's buffers fill meanwhile, and TCP slows the sender down.
      state_ = State::waiting;
      return false;
    case ShotVerdict::invalid:
      break;
  }
  decoder_.fail(
      DecodeReason::bad_transmit,
      fmt::format(
          "Shot (frame {}, transmit {}): found one that the stream has no place for; expected one that the Hello describes",
          decoder_.shot().sequence, decoder_.shot().transmit));
  fail_decoding();
  return false;
}

void TcpSession::on_wake() {
  wake_posted_.store(false, std::memory_order_release);
  if (state_ != State::waiting) return;
  message_began_ = last_progress_ = source_->clock.steady();  // waiting for the server does not count as the sender's delay
  proceed();
}

void TcpSession::fail_decoding() {
  const DecodeError& error = decoder_.error();
  source_->counters.add(error.reason);
  if (!accepted_) {
    Counters::add(source_->counters.rejected);
    source_->peers.refuse(PeerRefusal::bad_request);
  }
  source_->warn(PeerWarning::damaged,
                [&] { return fmt::format("{}: {}: {}", peer_, words::decode_reason.of(error.reason), error.text); });
  if (error.reason == DecodeReason::truncated) return close();
  reject(error.text);
}

void TcpSession::reject(const std::string& reason, bool retry) {
  if (state_ == State::leaving || state_ == State::closed) return;
  wire::Reject message;
  message.set_reason(printable(reason, 1000));
  source_->counters.note_rejection(reason);
  message.set_retry(retry);
  leave_with(message.SerializeAsString());
}

void TcpSession::dismiss(const std::string& reason) {
  if (state_ == State::leaving || state_ == State::closed) return;
  if (state_ != State::streaming && state_ != State::waiting) return close();
  spdlog::info("{}: sender \"{}\" is told: {}", peer_, identity_.sender, reason);
  wire::Reject message;
  message.set_reason(printable(reason, 1000));
  message.set_done(true);
  const bool counted = std::exchange(counted_open_, false);
  leave_with(message.SerializeAsString());
  counted_open_ = counted;  // the connection stays counted until the peer has read the message and closed
}

void TcpSession::leave_with(const std::string& message) {
  state_ = State::leaving;
  last_progress_ = source_->clock.steady();
  release_stream();
  answer_ = encode_message(MessageType::reject, message);
  counted_leaving_ = true;
  if (source_->leaving.fetch_add(1, std::memory_order_relaxed) >= maximum_leaving) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
    socket_.write_some(asio::buffer(answer_), ignored);
    return close();
  }
  asio::async_write(socket_, asio::buffer(answer_), [self = shared_from_this()](const error_code&, std::size_t /*bytes*/) {
    error_code ignored;
    if (self->state_ == State::leaving) self->socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  });
  // Closing with unread bytes would reset the connection and could destroy the Reject before the peer reads it.
  if (!reading_) drain();
}

void TcpSession::reject_sender(const std::string& line, const std::string& reason, bool retry) {
  Counters::add(source_->counters.rejected);
  source_->warn(PeerWarning::rejected,
                [&] { return fmt::format("{}: sender \"{}\" rejected: {}", peer_, identity_.sender, line); });
  reject(reason, retry);
}

void TcpSession::drain() {
  reading_ = true;
  socket_.async_read_some(
      asio::buffer(thread_->scratch),
      HandlerWithMemory(read_memory_, [self = shared_from_this()](const error_code& error, std::size_t bytes) {
        self->on_read(error, bytes);
      }));
}

void TcpSession::tick(SteadyTime now) {
  const TcpSourceOptions& options = source_->options;
  const auto silence = now - last_progress_;
  switch (state_) {
    case State::hello:
      if (now - started_ < options.hello_timeout) return;
      Counters::add(source_->counters.timed_out);
      Counters::add(source_->counters.rejected);
      source_->peers.refuse(PeerRefusal::silent);
      source_->warn(PeerWarning::silent,
                    [&] { return fmt::format("{}: no complete Hello within {} ms", peer_, options.hello_timeout.count()); });
      return reject(fmt::format("Hello: found none complete within {} ms; expected one", options.hello_timeout.count()));
    case State::streaming: {
      const bool within = decoder_.within_message();
      if (within && options.message_timeout.count() != 0 && now - message_began_ >= options.message_timeout) {
        Counters::add(source_->counters.timed_out);
        source_->warn(PeerWarning::silent, [&] {
          return fmt::format("{}: sender \"{}\" took {} ms over one message", peer_, identity_.sender,
                             options.message_timeout.count());
        });
        return reject(fmt::format("connection: found a message of which a part is missing after {} ms; expected the whole of it",
                                  options.message_timeout.count()));
      }
      const auto limit = within ? options.stall_timeout : options.idle_timeout;
      if (limit.count() == 0 || silence < limit) return;
      Counters::add(source_->counters.timed_out);
      source_->warn(PeerWarning::silent, [&] {
        return fmt::format("{}: sender \"{}\" sent nothing for {} ms {}", peer_, identity_.sender, limit.count(),
                           within ? "within a message" : "between messages");
      });
      return reject(fmt::format("connection: found no byte for {} ms {}; expected {}", limit.count(),
                                within ? "within a message" : "between messages",
                                within ? "the rest of it" : "a Shot or an End"));
    }
    case State::leaving:
      if (silence >= leave_timeout) close();
      return;
    case State::opening:
    case State::answering:
    case State::waiting:
      last_progress_ = now;
      return;
    case State::closed:
      return;
  }
}

void TcpSession::release_stream() {
  if (intake_) {
    if (std::exchange(shot_open_, false)) {
      // A read into the slot may be outstanding. Only this thread reads, so no read is outstanding after the cancellation.
      error_code ignored;
      if (socket_.is_open()) socket_.cancel(ignored);
      intake_->abandon_shot(lane_, ticket_);
    }
    intake_->close_lane(lane_);
    intake_.reset();
  }
  if (std::exchange(in_book_, false)) source_->connections.leave(identity_);
  static_cast<void>(source_->strangers.leave(this));
  if (std::exchange(counted_open_, false)) source_->counters.open.fetch_sub(1, std::memory_order_relaxed);
}

void TcpSession::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();  // the list below may hold the last other reference to the session
  state_ = State::closed;
  error_code ignored;
  socket_.close(ignored);
  release_stream();
  if (std::exchange(counted_leaving_, false)) source_->leaving.fetch_sub(1, std::memory_order_relaxed);
  std::erase(thread_->sessions, self);
}

}  // namespace echoform
