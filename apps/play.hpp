// Sending frames until they end or the user stops: what simulate, replay and demo share.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "apps/common.hpp"
#include "apps/keys.hpp"
#include "formats/recording.hpp"
#include "simulators/frame_cycle.hpp"
#include "simulators/playback.hpp"
#include "transport/acquisition/sender.hpp"

namespace echoform {

struct PlayOptions {
  SenderOptions sender;
  std::optional<CurveClientKeys> keys;  ///< over ZeroMQ, for a server with CURVE
  bool zeromq = false;                  ///< over ZeroMQ, to the same host and port, rather than TCP
  std::optional<double> rate;           ///< frames/s; none: as fast as possible
  bool skip_late = false;               ///< leave frames out rather than send them late
  bool loop = true;
  std::optional<std::uint64_t> frames;
};

/// Connects, plays and says good-bye. Once `stop` is requested the frame on its way gets a second to leave.
PlaybackProgress play(FrameSource& source, const PlayOptions& options, std::stop_token stop, const ReportProgress& report = {});

/// The frames of a simulated source. Throws as FrameCycle; the log says how far it is where that takes long.
[[nodiscard]] FrameCycle synthesised(const SimulatorConfiguration& configuration);

/// Plays with a live line on standard error and a summary on standard output.
int play_and_report(FrameSource& source, const PlayOptions& options);

/// --connect, --zeromq, --server-key, --key, --rate, --connections, --frames, --token-file, --skip-late: into texts, resolved by
/// play_options().
struct PlayTexts {
  std::string connect = "127.0.0.1:17171";
  std::string zeromq;
  KeyFiles keys;
  std::string rate;
  std::size_t connections = 1;
  std::uint64_t frames = 0;
  std::string token_file;  ///< empty: the environment's ECHOFORM_TOKEN, if it has one
  bool skip_late = false;
};
void add_play_options(CLI::App& options, PlayTexts& texts);
[[nodiscard]] PlayOptions play_options(const PlayTexts& texts);

/// Sets all elements to the mean width and length, since a Hello carries one width and one length. Logs a line where the
/// elements differ by more than rounding.
void use_one_element_size(Probe& probe);

/// A recording as frames in one of the wire's encodings, or in that of the file itself (`encoding` none). The former hold
/// amplitudes, integers scaled so that the recording's highest peak just fits; sample_scale undoes it. Recordings below
/// `memory_limit` bytes are read once, others frame by frame.
class RecordingSource final : public FrameSource {
 public:
  RecordingSource(std::unique_ptr<Recording> recording, std::optional<SampleEncoding> encoding,
                  std::size_t memory_limit = std::size_t{512} << 20);

  [[nodiscard]] const Acquisition& acquisition() const noexcept override { return acquisition_; }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return recording_->frames(); }
  [[nodiscard]] bool cyclic() const noexcept override { return false; }
  [[nodiscard]] std::span<const std::byte> frame(std::uint64_t index) override;
  [[nodiscard]] std::optional<EncoderCount> position(std::uint64_t number) const override {
    return recording_->stamp(number % frames()).position;
  }
  [[nodiscard]] std::string describe() const override { return recording_->describe(); }

 private:
  void encode(std::uint64_t index, std::span<std::byte> bytes);

  std::unique_ptr<Recording> recording_;
  Acquisition acquisition_;
  std::vector<float> values_;
  std::vector<std::byte> bytes_;  ///< of all frames, or of one
  bool as_stored_;
  bool in_memory_ = false;
};

}  // namespace echoform
