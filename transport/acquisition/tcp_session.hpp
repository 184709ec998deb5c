// One connection of the TCP source, from its Hello to its end. It lives on one I/O thread. Only the intake's wake-up and the
// opened stream come from other threads, and both are posted to this one.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/decoder.hpp"
#include "transport/acquisition/handler_memory.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/acquisition/source_state.hpp"

namespace echoform {

class TcpSession : public std::enable_shared_from_this<TcpSession> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// `from` is the peer's address, as reported when the connection was accepted.
  TcpSession(std::shared_ptr<SourceState> source, std::shared_ptr<IoThread> thread, Socket socket,
             const Socket::endpoint_type& from);

  /// Begins to read the Hello.
  void start();
  /// Sends `reason` to a connection beyond the maximum, and ends it.
  void refuse(const std::string& reason);
  /// Closes a connection before its Hello, so that another gets its place. Call it on the connection's own thread.
  void give_way();
  /// Informs an accepted sender that nothing is wrong and that no more frames are needed, then ends. A connection whose
  /// sender is not accepted ends at once.
  void dismiss(const std::string& reason);
  /// Checks the time-outs. Call it every tick.
  void tick(SteadyTime now);
  /// Ends at once, and leaves the I/O thread's list.
  void close();

  [[nodiscard]] IoThread& thread() const noexcept { return *thread_; }
  [[nodiscard]] FrameIntake* intake() const noexcept { return intake_.get(); }

 private:
  enum class State : std::uint8_t {
    hello,      ///< reading the Hello
    opening,    ///< the Hello is read, and the pipeline prepares the stream
    answering,  ///< writing the Accept
    streaming,
    waiting,  ///< the intake has no slot; not reading
    leaving,  ///< the Reject is being sent; bytes that still come are discarded until the peer closes
    closed,
  };

  void proceed();
  void read();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_end_of_connection(const boost::system::error_code& error);
  void take_hello();
  void on_hello(ReadHello read);
  void open_stream(HelloContents contents);
  void on_stream(StreamOffer offer);
  /// Finds a place for the shot. False: wait, or the session has ended.
  bool begin_shot();
  void on_wake();
  /// `retry`: the sender may try again in a little while.
  void reject(const std::string& reason, bool retry = false);
  /// Sends the Reject, and waits for the peer to close.
  void leave_with(const std::string& message);
  /// Rejects a sender whose Hello was valid: also counts and logs it, with `line` for the log.
  void reject_sender(const std::string& line, const std::string& reason, bool retry);
  void fail_decoding();
  void drain();
  void release_stream();
  void end_after(const std::exception& error);

  std::shared_ptr<SourceState> source_;
  std::shared_ptr<IoThread> thread_;  // outlives the socket
  Socket socket_;
  std::string peer_;
  State state_ = State::hello;
  AcquisitionDecoder decoder_;

  SenderIdentity identity_;
  bool in_book_ = false;
  bool accepted_ = false;
  bool counted_open_ = false;
  bool counted_leaving_ = false;
  std::shared_ptr<FrameIntake> intake_;
  LaneId lane_ = 0;
  bool shot_open_ = false;
  std::uint64_t ticket_ = 0;

  SteadyTime started_;
  SteadyTime last_progress_;
  SteadyTime message_began_;  // of the message that is being read
  bool reading_ = false;

  std::vector<std::byte> answer_;
  HandlerMemory read_memory_;
  HandlerMemory wake_memory_;
  std::atomic<bool> wake_posted_{false};
};

}  // namespace echoform
