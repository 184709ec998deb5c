#include "recording/capture_replay.hpp"

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/wire_numbers.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Steady = std::chrono::steady_clock;

constexpr std::size_t most_queued = std::size_t{64} << 20;
constexpr std::size_t most_endings = 16;
constexpr std::size_t most_remembered = 64;
/// Maximum delay until a stop request is noticed.
constexpr std::chrono::milliseconds slice{50};

struct Connection : std::enable_shared_from_this<Connection> {
  Connection(asio::io_context& context, std::uint32_t numbered, std::size_t& all)
      : socket(context), number(numbered), queued(all) {}

  void add(std::span<const std::byte> bytes) {
    if (over || closing) return;
    queue.emplace_back(bytes.begin(), bytes.end());
    queued += bytes.size();
    if (queue.size() == 1) write();
  }

  void write() {
    asio::async_write(socket, asio::buffer(queue.front()), [self = shared_from_this()](const error_code& error, std::size_t) {
      if (self->over) return;
      if (error) return;  // the reading side receives the reason
      self->sent += self->queue.front().size();
      self->queued -= self->queue.front().size();
      self->queue.pop_front();
      if (!self->queue.empty()) return self->write();
      if (self->closing) self->say_no_more();
    });
  }

  void close() {
    closing = true;
    if (queue.empty()) say_no_more();
  }
  void say_no_more() {
    error_code ignored;
    socket.shutdown(asio::socket_base::shutdown_send, ignored);
  }

  void read() {
    socket.async_read_some(asio::buffer(answers), [self = shared_from_this()](const error_code& error, std::size_t count) {
      if (error) return self->end(error);
      self->hear(std::span<const std::byte>(self->answers).first(count));
      self->read();
    });
  }

  void hear(std::span<const std::byte> bytes) {
    if (heard.size() < prefix_bytes + maximum_answer_bytes) heard.insert(heard.end(), bytes.begin(), bytes.end());
  }

  void end(const error_code& error) {
    over = true;
    if (!queue.empty() || !closing) ending = fmt::format("connection {}: {}", number, rejection(error.message()));
    for (const auto& piece : queue) queued -= piece.size();
    queue.clear();
    error_code ignored;
    socket.close(ignored);
  }

  /// Why the server ended the connection: the last message that it sent, if that states the reason.
  [[nodiscard]] std::string rejection(const std::string& otherwise) const {
    for (std::size_t at = 0; heard.size() - at >= prefix_bytes;) {
      const MessagePrefix prefix = read_prefix(std::span(heard).subspan(at).first<prefix_bytes>());
      const std::size_t left = heard.size() - at - prefix_bytes;
      if (!prefix.magic_matches || prefix.header_bytes > left) break;
      wire::Reject reject;
      if (prefix.type == static_cast<std::uint16_t>(MessageType::reject) &&
          parse_message(std::span<const std::byte>(heard).subspan(at + prefix_bytes, prefix.header_bytes), reject)) {
        return "the server ended it: " + printable(reject.reason(), 1000);
      }
      at += prefix_bytes + prefix.header_bytes;
    }
    return "the server ended it: " + otherwise;
  }

  tcp::socket socket;
  const std::uint32_t number;
  std::size_t& queued;  // total over all connections
  std::deque<std::vector<std::byte>> queue;
  std::uint64_t sent = 0;
  bool closing = false;
  bool over = false;
  std::string ending;
  std::array<std::byte, 4096> answers{};
  std::vector<std::byte> heard;
};

class Replay {
 public:
  Replay(const CaptureReplayOptions& options, const std::stop_token& stop,
         const std::function<void(const CaptureReplayReport&)>& report)
      : options_(options), stop_(stop), report_(report), reader_(options.input), began_(Steady::now()), next_report_(began_) {}

  CaptureReplayReport run() {
    std::optional<std::chrono::nanoseconds> first;
    while (const auto record = reader_.next()) {
      if (!first) first = record->time;
      // Times count from the first record, so that replay does not wait through the silence before it.
      const auto due = began_ + (record->time - *first);
      if (!work([&] { return Steady::now() >= due && queued_ < most_queued; }, due)) break;
      latest_ = std::max<std::chrono::nanoseconds>(latest_, Steady::now() - due);
      take(*record);
      if (connections_.size() > most_remembered) forget_ended();
    }
    if (!stop_.stop_requested() && !reader_.damage().empty()) throw InputError(reader_.damage());
    for (auto& [number, connection] : connections_) {
      if (!connection->closing) connection->close();
    }
    const auto limit = Steady::now() + options_.farewell;
    const auto gone = [&] {
      return std::all_of(connections_.begin(), connections_.end(), [](const auto& c) { return c.second->over; });
    };
    static_cast<void>(work([&] { return gone() || Steady::now() >= limit; }, limit));
    CaptureReplayReport last = progress();
    for (auto& [number, connection] : connections_) connection->over = true;
    return last;
  }

 private:
  void take(const CaptureRecord& record) {
    const auto found = connections_.find(record.connection);
    switch (record.type) {
      case CaptureRecordType::open:
        if (found == connections_.end()) connect(record.connection);
        return;
      case CaptureRecordType::sent:
        if (found != connections_.end()) found->second->add(record.payload);
        return;
      case CaptureRecordType::close:
        if (found != connections_.end()) found->second->close();
        return;
      case CaptureRecordType::answer:
      case CaptureRecordType::end:
        return;
    }
  }

  void connect(std::uint32_t number) {
    const auto connection = std::make_shared<Connection>(context_, number, queued_);
    error_code error;
    tcp::resolver resolver(context_);
    const auto places = resolver.resolve(options_.host, std::to_string(options_.port), error);
    if (!error) asio::connect(connection->socket, places, error);
    if (error) throw RuntimeFault(fmt::format("cannot connect to {}:{}: {}", options_.host, options_.port, error.message()));
    connection->socket.set_option(tcp::no_delay(true), error);
    connections_.emplace(number, connection);
    connection->read();
  }

  /// Runs the connections until `done`. `due` is when `done` may become true by itself. False once a stop is requested.
  template <class Done>
  bool work(Done&& done, Steady::time_point due) {
    for (;;) {
      if (stop_.stop_requested()) return false;
      if (report_ && Steady::now() >= next_report_) {
        next_report_ += std::chrono::seconds(1);
        report_(progress());
      }
      if (done()) return true;
      context_.restart();
      const auto now = Steady::now();
      const auto until = due > now ? std::min<Steady::time_point>(due, now + slice) : now + slice;
      // Without any work, run_one_until() would return at once.
      const auto guard = asio::make_work_guard(context_);
      static_cast<void>(context_.run_one_until(until));
    }
  }

  void forget_ended() {
    for (auto at = connections_.begin(); at != connections_.end();) {
      const Connection& connection = *at->second;
      if (!connection.over) {
        ++at;
        continue;
      }
      forgotten_.bytes += connection.sent;
      ++forgotten_.connections;
      if (!connection.ending.empty() && forgotten_.endings.size() < most_endings) forgotten_.endings.push_back(connection.ending);
      at = connections_.erase(at);
    }
  }

  [[nodiscard]] CaptureReplayReport progress() const {
    CaptureReplayReport now = forgotten_;
    now.connections += connections_.size();
    now.elapsed = Steady::now() - began_;
    now.latest = latest_;
    for (const auto& [number, connection] : connections_) {
      now.bytes += connection->sent;
      if (!connection->ending.empty() && now.endings.size() < most_endings) now.endings.push_back(connection->ending);
    }
    return now;
  }

  const CaptureReplayOptions& options_;
  const std::stop_token& stop_;
  const std::function<void(const CaptureReplayReport&)>& report_;
  CaptureReader reader_;
  const Steady::time_point began_;
  Steady::time_point next_report_;
  std::chrono::nanoseconds latest_{0};
  std::size_t queued_ = 0;
  CaptureReplayReport forgotten_;  // reports of connections that are gone
  asio::io_context context_{1};
  std::map<std::uint32_t, std::shared_ptr<Connection>> connections_;
};

}  // namespace

CaptureReplayReport replay_capture(const CaptureReplayOptions& options, const std::stop_token& stop,
                                   const std::function<void(const CaptureReplayReport&)>& report) {
  return Replay(options, stop, report).run();
}

}  // namespace echoform
