// The sending end of the acquisition protocol over ZeroMQ: a PUSH socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "acquisition/acquisition.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/frame_sender.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

struct ZeromqSenderOptions {
  std::string host = "127.0.0.1";  ///< name or address
  std::uint16_t port = default_zeromq_port;
  std::string token{};
  std::string name = "Echoform";             ///< name and version, for the server's log
  std::uint64_t session = 0;                 ///< 0: chosen at random
  std::size_t queued_frames = 2;             ///< that may wait within ZeroMQ; 1 .. 64
  std::chrono::milliseconds patience{5000};  ///< after this time a line reports that nobody takes frames; finish() waits so long
  std::optional<CurveClientKeys> keys{};     ///< for a server with CURVE
};

/// A sender that receives no answers, so that it does not learn whether a server accepts it. It waits in send_frame() until
/// a server is connected, sends its Hello before every frame, and goes on when a server comes back.
class ZeromqSender final : public FrameSender {
 public:
  /// Throws InputError if an option is out of its range. Connects by itself, in the background.
  ZeromqSender(const Acquisition& acquisition, const ZeromqSenderOptions& options);
  ~ZeromqSender() override;
  ZeromqSender(const ZeromqSender&) = delete;
  ZeromqSender& operator=(const ZeromqSender&) = delete;

  /// Copies the frame into ZeroMQ's messages, shot by shot.
  void send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) override;
  /// Send the Hello and single shots, for sources that have shots rather than frames.
  void send_hello();
  void send_shot(const ShotHeader& shot, std::span<const std::byte> payload);
  void finish() override;
  void cancel() noexcept override;
  [[nodiscard]] std::uint64_t session() const noexcept override;
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
