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

/// One I/O thread with its connections. Everything in it is touched by that thread alone.
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

/// Which connections of which senders are open, so that those of one sender agree with each other.
class ConnectionBook {
 public:
  /// Throws InputError, to be sent back, if the Hello contradicts the sender's other connections or repeats one.
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

/// Connections that have not introduced themselves yet, the oldest first. When all places are taken, the oldest of them gives way
/// to a newcomer: peers that say nothing do not keep out those that do.
class Strangers {
 public:
  using Session = std::shared_ptr<TcpSession>;
  void enter(const Session& session);
  /// Whether it was still one of them: false if it is to give way.
  [[nodiscard]] bool leave(const TcpSession* session) noexcept;
  /// The one that is to give way, no longer one of them; none if there is none.
  [[nodiscard]] Session oldest();

 private:
  std::mutex mutex_;
  std::list<std::pair<const TcpSession*, std::weak_ptr<TcpSession>>> sessions_;
};

/// Connections that were sent a Reject and have not closed yet. Beyond this they are closed without waiting.
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
  std::optional<boost::asio::thread_pool> hello_reader{1};  ///< where Hellos are read; gone once stopped
  std::optional<boost::asio::thread_pool> set_up{1};        ///< where streams are opened; likewise
  std::atomic<std::size_t> leaving{0};
  PeerWarnings warnings{clock};

  template <class MakeLine>
  void warn(PeerWarning cause, const MakeLine& make_line) {
    warnings.warn(cause, make_line);
  }
};

}  // namespace echoform
