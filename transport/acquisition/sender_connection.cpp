#include "transport/acquisition/sender_connection.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/socket.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/hello.hpp"
#include "transport/wire_numbers.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Parses a server's answer. The parser does not write to our standard error when the bytes are no answer.
template <class Message>
bool parse_answer(const std::string& header, Message& message) {
  const google::protobuf::LogSilencer silencer;
  return parse_message(std::as_bytes(std::span(header)), message);
}

}  // namespace

SenderConnection::SenderConnection(const SenderOptions& options)
    : server_(fmt::format("{}:{}", options.host, options.port)), stop_(options.stop) {
  error_code error;
  tcp::resolver resolver(context_);
  const auto endpoints = resolver.resolve(options.host, std::to_string(options.port), error);
  if (error) throw RuntimeFault(fmt::format("cannot find {}: {}", server_, error.message()));
  bool done = false;
  asio::async_connect(socket_, endpoints, [&](const error_code& result, const tcp::endpoint&) {
    error = result;
    done = true;
  });
  if (!run_for(options.connect_timeout) || !done) {
    throw RuntimeFault(fmt::format("cannot connect to {}: no answer within {} ms", server_, options.connect_timeout.count()));
  }
  if (error) throw RuntimeFault(fmt::format("cannot connect to {}: {}", server_, error.message()));
  socket_.set_option(tcp::no_delay(true), error);
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  if (options.socket_buffer_bytes > 0) {
    socket_.set_option(asio::socket_base::send_buffer_size(static_cast<int>(options.socket_buffer_bytes)), error);
  }
}

/// Runs the operation begun on the socket. Returns false if it took too long or a stop was requested; the operation is then
/// cancelled and has ended.
bool SenderConnection::run_for(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds slice{50};  // the longest delay until a stop is noticed
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  context_.restart();
  do {
    context_.run_until(std::min(deadline, std::chrono::steady_clock::now() + slice));
    if (context_.stopped()) return true;
  } while (!stop_.stop_requested() && std::chrono::steady_clock::now() < deadline);
  // The operation is cancelled and the socket stays open: cancel() may be using the descriptor.
  error_code ignored;
  socket_.cancel(ignored);
  context_.run();
  return false;
}

void SenderConnection::send_hello(std::span<const std::byte> message) {
  std::array<asio::const_buffer, 1> buffers{asio::buffer(message.data(), message.size())};
  write_all(buffers);
}

bool SenderConnection::read_answer(std::chrono::milliseconds timeout, MessageType& type, std::string& header) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto read = [&](void* to, std::size_t bytes) {
    error_code error = asio::error::would_block;
    asio::async_read(socket_, asio::buffer(to, bytes), [&](const error_code& result, std::size_t) { error = result; });
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return run_for(std::max(left, std::chrono::milliseconds(0))) && !error;
  };
  std::array<std::byte, prefix_bytes> bytes{};
  if (!read(bytes.data(), bytes.size())) return false;
  const MessagePrefix prefix = read_prefix(bytes);
  if (!prefix.magic_matches || prefix.version != wire_version || prefix.header_bytes > maximum_answer_bytes ||
      prefix.payload_bytes != 0)
    return false;
  header.resize(prefix.header_bytes);
  if (!header.empty() && !read(header.data(), header.size())) return false;
  type = static_cast<MessageType>(prefix.type);
  return message_checksum(std::span(bytes).first<checksummed_prefix_bytes>(), std::as_bytes(std::span(header))) ==
         prefix.checksum;
}

void SenderConnection::await_accept(std::chrono::milliseconds timeout, std::uint64_t frame_bytes) {
  MessageType type{};
  std::string header;
  if (!read_answer(timeout, type, header)) {
    throw RuntimeFault(
        fmt::format("{} did not answer the Hello as an Echoform server does within {} ms", server_, timeout.count()));
  }
  if (type == MessageType::reject) {
    wire::Reject reject;
    if (!parse_answer(header, reject)) reject.set_reason("a reason that cannot be read");
    const std::string line = fmt::format("{} rejected the Hello: {}", server_, printable(reject.reason(), 1000));
    if (reject.retry()) throw ServerBusy(line);
    throw InputError(line);
  }
  wire::Accept accept;
  if (type != MessageType::accept || !parse_answer(header, accept)) {
    throw RuntimeFault(fmt::format("{} answered the Hello with neither Accept nor Reject", server_));
  }
  if (accept.frame_bytes() != frame_bytes) {
    throw RuntimeFault(fmt::format("{} expects frames of {} bytes; these have {}", server_, accept.frame_bytes(), frame_bytes));
  }
  // Waiting for an answer made the descriptor non-blocking; a blocking descriptor takes a whole batch with one call.
  error_code ignored;
  socket_.native_non_blocking(false, ignored);
}

void SenderConnection::add(const ShotHeader& shot, std::span<const std::byte> payload) {
  auto& header = headers_[batched_shots_];
  const std::size_t length = encode_shot(header, shot, payload.size());
  batch_[2 * batched_shots_] = asio::buffer(header.data(), length);
  batch_[2 * batched_shots_ + 1] = asio::buffer(payload.data(), payload.size());
  ++batched_shots_;
  batched_bytes_ += payload.size();
  if (batched_shots_ == batch_shots || batched_bytes_ >= batch_bytes) flush();
}

void SenderConnection::flush() {
  const std::size_t count = std::exchange(batched_shots_, 0);
  batched_bytes_ = 0;
  if (count > 0) write_all(std::span(batch_).first(2 * count));
}

void SenderConnection::write_all(std::span<asio::const_buffer> buffers) {
  // asio's own composed write passes at most 16 buffers on and builds an iterator for them; this loop passes them all.
  while (!buffers.empty()) {
    error_code error;
    const std::size_t written = socket_.write_some(buffers, error);
    if (error == asio::error::interrupted) continue;
    if (error) fail_lost(error.message());
    bytes_sent_.fetch_add(written, std::memory_order_relaxed);
    std::size_t left = written;
    while (!buffers.empty() && left >= buffers.front().size()) {
      left -= buffers.front().size();
      buffers = buffers.subspan(1);
    }
    if (left > 0) buffers.front() += left;
  }
}

void SenderConnection::fail_lost(const std::string& what) {
  // A server that closes the connection states its reason first.
  MessageType type{};
  std::string header;
  wire::Reject reject;
  if (read_answer(std::chrono::milliseconds(500), type, header) && type == MessageType::reject && parse_answer(header, reject)) {
    fail_by(reject);
  }
  throw RuntimeFault(fmt::format("the connection to {} is lost: {}", server_, what));
}

void SenderConnection::fail_by(const wire::Reject& reject) const {
  const std::string line = fmt::format("{} ended the connection: {}", server_, printable(reject.reason(), 1000));
  if (reject.done()) throw FramesTaken(line);
  throw RuntimeFault(line);
}

void SenderConnection::throw_if_ended() {
  std::byte first{};
  if (::recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0) fail_lost("it sent something that is no Reject");
}

void SenderConnection::say_end() {
  flush();
  const auto message = encode_message(MessageType::end, {});
  std::array<asio::const_buffer, 1> buffers{asio::buffer(message.data(), message.size())};
  write_all(buffers);
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
}

void SenderConnection::await_close() {
  error_code error;
  // The server closes once it has read the End; a Reject instead means that it did not take all.
  std::array<std::byte, prefix_bytes> answer{};
  std::size_t got = 0;
  while (got < answer.size()) {
    const std::size_t count = socket_.read_some(asio::buffer(answer.data() + got, answer.size() - got), error);
    if (error == asio::error::interrupted) continue;
    if (error) break;
    got += count;
  }
  if (got == answer.size() && read_prefix(answer).magic_matches &&
      read_prefix(answer).type == static_cast<std::uint16_t>(MessageType::reject)) {
    std::string header(std::min<std::size_t>(read_prefix(answer).header_bytes, maximum_answer_bytes), '\0');
    asio::read(socket_, asio::buffer(header), error);
    wire::Reject reject;
    if (!error && parse_answer(header, reject)) fail_by(reject);
  }
  if (error != asio::error::eof) throw RuntimeFault(fmt::format("the connection to {} is lost: {}", server_, error.message()));
}

void SenderConnection::cancel() noexcept {
  // shutdown() of the descriptor wakes a thread that blocks in a write or read; the socket object itself is not touched.
  ::shutdown(socket_.native_handle(), SHUT_RDWR);
}

}  // namespace echoform
