// What the connections of one TCP source share.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "transport/acquisition/handler_memory.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/acquisition/live_counters.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/peers/peer_counters.hpp"

namespace echoform {

class TcpSession;

/// One I/O thread with its connections. Only that thread uses the members.
struct IoThread {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  boost::asio::steady_timer timer{context};
  std::vector<std::shared_ptr<TcpSession>> sessions;
  std::vector<std::byte> scratch = std::vector<std::byte>(std::size_t{256} << 10);  ///< discarded payloads end here
  HandlerMemory tick_memory;
  bool closing = false;
  std::thread thread;
};

/// The open connections of each sender. They are recorded so that the connections of one sender can be checked against each
/// other.
class ConnectionBook {
 public:
  /// Records a connection. Throws InputError, to be sent back to the sender, if the Hello contradicts the sender's other
  /// connections or repeats one of them.
  void enter(const HelloContents& hello);
  void leave(const SenderIdentity& identity) noexcept;

 private:
  struct Entry {
    std::uint32_t connection_count = 0;
    std::uint32_t open = 0;  ///< bit i: connection i
    Acquisition acquisition;
  };
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> senders_;
};

/// Connections before their Hello, the oldest first. When the maximum number of connections is open, the oldest of these is
/// closed for a new connection. So silent peers do not keep out peers that send.
class Strangers {
 public:
  using Session = std::shared_ptr<TcpSession>;
  void enter(const Session& session);
  /// Removes a session that has received its Hello or has ended. False if it was removed before: oldest() has chosen it to be
  /// closed for another.
  [[nodiscard]] bool leave(const TcpSession* session) noexcept;
  /// Removes and returns the session to close for another; null if there is none.
  [[nodiscard]] Session oldest();

 private:
  std::mutex mutex_;
  std::list<std::pair<const TcpSession*, std::weak_ptr<TcpSession>>> sessions_;
};

/// Maximum number of connections that were sent a Reject and whose peer has not closed yet. Further ones are closed without
/// waiting.
inline constexpr std::size_t maximum_leaving = 64;

struct SourceState {
  SourceState(TcpSourceOptions chosen, const Clock& time) : options(std::move(chosen)), clock(time) {}

  const TcpSourceOptions options;
  const Clock& clock;
  StreamHost* host = nullptr;  ///< set by start()
  LiveSourceCounters counters;
  ConnectionBook connections;
  Strangers strangers;
  PeerCounters peers;
  std::optional<boost::asio::thread_pool> hello_reader{1};  ///< parses Hellos; gone once stopped
  std::optional<boost::asio::thread_pool> set_up{1};        ///< opens streams; likewise
  std::atomic<std::size_t> leaving{0};
  PeerWarnings warnings{clock};

  template <class MakeLine>
  void warn(PeerWarning cause, const MakeLine& make_line) {
    warnings.warn(cause, make_line);
  }
};

}  // namespace echoform
