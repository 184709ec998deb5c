#include "recording/capture_server.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/decoder.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t read_bytes = std::size_t{256} << 10;

}  // namespace

struct CaptureServer::Implementation {
  class Session;

  explicit Implementation(CaptureServerOptions chosen)
      : options(std::move(chosen)), began(std::chrono::steady_clock::now()), acceptor(context), resolver(context) {
    error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) throw InputError("--listen", '"' + options.address + '"', "an IPv4 or IPv6 address of this machine");
    const tcp::endpoint endpoint(address, options.port);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      throw RuntimeFault(
          fmt::format("cannot listen for acquisition on {}:{}: {}", options.address, options.port, error.message()));
    port = acceptor.local_endpoint().port();
    file.emplace(options.output, std::chrono::system_clock::now().time_since_epoch());
    accept();
    thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "ef-capture");
      context.run();
    });
  }

  [[nodiscard]] std::chrono::nanoseconds now() const { return std::chrono::steady_clock::now() - began; }

  void accept();

  /// Writes a record. False if that fails; then the whole server ends.
  template <class Payload>
  bool record(CaptureRecordType type, std::uint32_t connection, const Payload& payload) {
    if (over) return false;
    try {
      file->append(type, connection, now(), payload);
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex);
      state.fault = error.what();
      over = true;
    }
    std::uint64_t bytes = 0;
    {
      const std::lock_guard lock(mutex);
      state.file_bytes = bytes = file->bytes();
      if (type == CaptureRecordType::sent) state.bytes += payload.size();
    }
    if (options.bytes > 0 && bytes >= options.bytes) over = true;
    if (over && options.ended) options.ended();
    return !over;
  }

  const CaptureServerOptions options;
  const std::chrono::steady_clock::time_point began;
  asio::io_context context{1};
  tcp::acceptor acceptor;
  tcp::endpoint arriving;  // endpoint of the connection that is accepted next: a socket whose peer has gone no longer reports it
  tcp::resolver resolver;
  std::uint16_t port = 0;
  std::optional<CaptureWriter> file;
  std::uint32_t next_connection = 0;
  bool over = false;
  std::set<std::shared_ptr<Session>> sessions;
  mutable std::mutex mutex;
  CaptureProgress state;
  std::thread thread;
  bool stopped = false;
};

/// One connection, and the connection to the server behind if there is one.
class CaptureServer::Implementation::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Implementation& server, tcp::socket socket, tcp::endpoint peer, std::uint32_t number)
      : server_(server),
        number_(number),
        sender_(std::move(socket)),
        peer_(std::move(peer)),
        behind_(server.context),
        timer_(server.context),
        from_sender_(read_bytes),
        from_server_(server.options.connect_host.empty() ? 0 : std::size_t{16} << 10) {}

  void start() {
    error_code ignored;
    sender_.set_option(tcp::no_delay(true), ignored);
    if (!server_.record(CaptureRecordType::open, number_, fmt::format("{}:{}", peer_.address().to_string(), peer_.port())))
      return end("");
    if (server_.options.connect_host.empty()) {
      timer_.expires_after(server_.options.hello_timeout);
      timer_.async_wait([self = shared_from_this()](const error_code& cancelled) {
        if (!cancelled) self->end("no complete Hello in time");
      });
      return read_sender();
    }
    server_.resolver.async_resolve(
        server_.options.connect_host, std::to_string(server_.options.connect_port),
        [self = shared_from_this()](const error_code& error, const tcp::resolver::results_type& places) {
          if (error) return self->end("the server behind: " + error.message());
          asio::async_connect(self->behind_, places, [self](const error_code& failed, const tcp::endpoint&) {
            if (failed) return self->end("the server behind: " + failed.message());
            error_code none;
            self->behind_.set_option(tcp::no_delay(true), none);
            self->read_sender();
            self->read_server();
          });
        });
  }

  /// Writes how the connection ended, and closes it.
  void end(const std::string& how) {
    if (std::exchange(ended_, true)) return;
    static_cast<void>(server_.record(CaptureRecordType::close, number_, how));
    error_code ignored;
    timer_.cancel();
    sender_.close(ignored);
    behind_.close(ignored);
    {
      const std::lock_guard lock(server_.mutex);
      --server_.state.connections_open;
    }
    server_.sessions.erase(shared_from_this());
  }

 private:
  void read_sender() {
    sender_.async_read_some(asio::buffer(from_sender_), [self = shared_from_this()](const error_code& error, std::size_t count) {
      if (self->ended_) return;
      if (error) return self->sender_left(error);
      const auto bytes = std::span<const std::byte>(self->from_sender_).first(count);
      if (!self->server_.record(CaptureRecordType::sent, self->number_, bytes)) return self->end("");
      if (self->server_.options.connect_host.empty()) return self->answer(bytes);
      asio::async_write(self->behind_, asio::buffer(bytes.data(), bytes.size()), [self](const error_code& failed, std::size_t) {
        if (self->ended_) return;
        if (failed) return self->end("the server behind: " + failed.message());
        self->read_sender();
      });
    });
  }

  void sender_left(const error_code& error) {
    if (error != asio::error::eof || server_.options.connect_host.empty()) {
      return end(error == asio::error::eof ? "closed by the sender" : error.message());
    }
    // The server behind may still send something.
    error_code ignored;
    behind_.shutdown(asio::socket_base::shutdown_send, ignored);
  }

  void read_server() {
    behind_.async_read_some(asio::buffer(from_server_), [self = shared_from_this()](const error_code& error, std::size_t count) {
      if (self->ended_) return;
      if (error) return self->end(error == asio::error::eof ? "closed by the server" : error.message());
      const auto bytes = std::span<const std::byte>(self->from_server_).first(count);
      if (!self->server_.record(CaptureRecordType::answer, self->number_, bytes)) return self->end("");
      asio::async_write(self->sender_, asio::buffer(bytes.data(), bytes.size()), [self](const error_code& failed, std::size_t) {
        if (self->ended_) return;
        if (failed) return self->end(failed.message());
        self->read_server();
      });
    });
  }

  /// Acts as the server: answers the Hello with Accept or Reject, skips the shots, and ends the connection at the End.
  void answer(std::span<const std::byte> bytes) {
    for (;;) {
      switch (decoder_.next()) {
        case DecodeEvent::need_bytes: {
          if (bytes.empty()) return read_sender();
          std::size_t taken = 0;
          for (const auto target : decoder_.read_targets()) {
            const auto piece = bytes.first(std::min(bytes.size(), target.size()));
            std::copy(piece.begin(), piece.end(), target.begin());
            bytes = bytes.subspan(piece.size());
            taken += piece.size();
          }
          decoder_.commit(taken);
          break;
        }
        case DecodeEvent::hello:
          try {
            const HelloContents contents = read_hello();
            decoder_.accept(FrameLayout(contents.acquisition));
            wire::Accept accept;
            accept.set_frame_bytes(contents.acquisition.frame_bytes());
            accept.set_server("Echoform");
            timer_.cancel();
            spdlog::info("connection {}: sender \"{}\"", number_, contents.identity.sender);
            // The sender waits for this answer, so nothing else is being sent.
            return say(MessageType::accept, accept.SerializeAsString(), std::vector<std::byte>(bytes.begin(), bytes.end()));
          } catch (const InputError& error) {
            return refuse(error.what());
          }
        case DecodeEvent::shot:
          decoder_.discard_payload(scratch_);
          break;
        case DecodeEvent::shot_complete:
          break;
        case DecodeEvent::end:
          return end("end");
        case DecodeEvent::failed:
          return refuse(decoder_.error().text);
      }
    }
  }

  /// Throws InputError, whose line goes to the sender.
  [[nodiscard]] HelloContents read_hello() {
    const std::string& token = server_.options.token;
    refuse_wrong_token(summarise_hello(decoder_.hello_header()), token);
    ReadHello read = read_hello_header(decoder_.hello_header(), token, server_.options.limits);
    if (!read.contents) throw InputError(read.error.text);
    return std::move(*read.contents);
  }

  void refuse(const std::string& reason) {
    wire::Reject reject;
    reject.set_reason(printable(reason, 1000));
    spdlog::warn("connection {}: {}", number_, reason);
    answer_ = encode_message(MessageType::reject, reject.SerializeAsString());
    static_cast<void>(server_.record(CaptureRecordType::answer, number_, std::span<const std::byte>(answer_)));
    asio::async_write(sender_, asio::buffer(answer_), [self = shared_from_this(), reason](const error_code&, std::size_t) {
      error_code ignored;
      if (!self->ended_) self->sender_.shutdown(asio::socket_base::shutdown_send, ignored);
      self->end("rejected: " + reason);
    });
  }

  void say(MessageType type, const std::string& header, std::vector<std::byte> rest) {
    answer_ = encode_message(type, header);
    if (!server_.record(CaptureRecordType::answer, number_, std::span<const std::byte>(answer_))) return end("");
    asio::async_write(sender_, asio::buffer(answer_),
                      [self = shared_from_this(), rest = std::move(rest)](const error_code& error, std::size_t) {
                        if (self->ended_) return;
                        if (error) return self->end(error.message());
                        self->answer(rest);
                      });
  }

  Implementation& server_;
  const std::uint32_t number_;
  tcp::socket sender_;
  tcp::endpoint peer_;
  tcp::socket behind_;
  asio::steady_timer timer_;
  std::vector<std::byte> from_sender_;
  std::vector<std::byte> from_server_;
  std::vector<std::byte> answer_;
  AcquisitionDecoder decoder_;
  std::array<std::byte, 4096> scratch_{};
  bool ended_ = false;
};

void CaptureServer::Implementation::accept() {
  acceptor.async_accept(context, arriving, [this](const error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (error) {
      // Probably there are no file descriptors left. Other connections may close.
      auto retry = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(100));
      return retry->async_wait([this, retry](const error_code&) {
        if (acceptor.is_open()) accept();
      });
    }
    bool room = false;
    {
      const std::lock_guard lock(mutex);
      room = state.connections_open < options.connections && !over;
      ++(room ? state.connections : state.connections_refused);
      if (room) ++state.connections_open;
    }
    if (room) {
      const auto session = std::make_shared<Session>(*this, std::move(socket), arriving, next_connection++);
      sessions.insert(session);
      session->start();
    }
    accept();
  });
}

CaptureServer::CaptureServer(CaptureServerOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}

CaptureServer::~CaptureServer() {
  try {
    stop();
  } catch (const RuntimeFault&) {  // callers that need the error call stop()
  }
}

std::uint16_t CaptureServer::port() const noexcept {
  return implementation_->port;
}

CaptureProgress CaptureServer::progress() const {
  const std::lock_guard lock(implementation_->mutex);
  return implementation_->state;
}

void CaptureServer::stop() {
  Implementation& me = *implementation_;
  if (std::exchange(me.stopped, true)) return;
  asio::post(me.context, [&me] {
    error_code ignored;
    me.acceptor.close(ignored);
    me.resolver.cancel();
    const auto sessions = me.sessions;
    for (const auto& session : sessions) session->end("the capture ends");
  });
  me.thread.join();
  me.file->close(me.now());
  const std::lock_guard lock(me.mutex);
  me.state.file_bytes = me.file->bytes();
}

}  // namespace echoform
