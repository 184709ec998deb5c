// The sending end of the acquisition protocol over TCP: what the simulated source and the replay of recordings use.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "acquisition/acquisition.hpp"
#include "base/clock.hpp"
#include "base/errors.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/frame_sender.hpp"

namespace echoform {

struct SenderOptions {
  std::string host = "127.0.0.1";  ///< name or address
  std::uint16_t port = 17171;
  std::size_t connections = 1;  ///< 1 .. 8; a frame's shots are striped over them, so that more than shots stay idle
  std::string token{};
  std::string name = "Echoform";  ///< name and version, for the server's log
  std::uint64_t session = 0;      ///< 0: chosen at random
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds accept_timeout{60000};  ///< the server may plan its imaging first
  /// Total time to wait, with growing pauses between attempts, for a server that reports that it is busy with another sender
  /// (perhaps one that was killed a moment ago). 0: it is asked once.
  std::chrono::milliseconds busy_timeout{5000};
  std::size_t socket_buffer_bytes = 0;  ///< send buffer asked of the system; 0: the system's own tuning
  std::stop_token stop{};               ///< ends connecting and waiting for the answer early: RuntimeFault
  /// Replaces the wait before the next attempt, for tests.
  std::function<void(std::chrono::milliseconds)> pause{};
};

/// The server rejected the Hello for now: its reason, and that the same Hello may be accepted in a little while.
class ServerBusy final : public InputError {
 public:
  using InputError::InputError;
};

class AcquisitionSender final : public FrameSender {
 public:
  /// Connects, sends Hello on every connection and waits until all are accepted. Throws InputError if an option is out of
  /// its range, or if no server could take the acquisition (its limits, or a Hello that is too long). Throws InputError with
  /// the server's reason if the server rejects the Hello (ServerBusy after busy_timeout), RuntimeFault if the server cannot
  /// be reached or does not answer.
  AcquisitionSender(const Acquisition& acquisition, const SenderOptions& options);
  ~AcquisitionSender() override;
  AcquisitionSender(const AcquisitionSender&) = delete;
  AcquisitionSender& operator=(const AcquisitionSender&) = delete;

  /// Sends one frame: acquisition.frame_bytes() bytes, rows as the layout has them. Shot `transmit` goes over connection
  /// transmit % connections. Returns when all is handed to the system, which is when `frame` may be reused; blocks while the
  /// server does not read. Allocates nothing. RuntimeFault if a connection is lost, with the server's reason if it gave one.
  void send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) override;

  /// Sends one shot over one connection, for sources that have shots rather than frames. `payload` holds its A-scans. Do not
  /// call it while send_frame() runs. InputError if the connection or transmit does not exist or the payload's size is
  /// wrong.
  void send_shot(std::size_t connection, const ShotHeader& shot, std::span<const std::byte> payload);

  /// Sends End on every connection and waits until the server has read all. The sender cannot send afterwards.
  void finish() override;

  /// Aborts a send that blocks, which then throws RuntimeFault. Any thread may call it.
  void cancel() noexcept override;

  [[nodiscard]] std::uint64_t session() const noexcept override;
  /// Bytes handed to the system since the Hello, prefixes and headers included.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
