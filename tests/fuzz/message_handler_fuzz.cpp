// Whole messages in one row, as ZeroMQ's PULL gives them out: three bytes of choices and length before each.
#include <spdlog/spdlog.h>

#include <array>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "tests/fuzz/input.hpp"
#include "transport/acquisition/message_handler.hpp"

namespace echoform {
namespace {

using Bytes = std::vector<std::byte>;

// Small enough that a slot can be made for every shot.
constexpr AcquisitionLimits limits{.elements = 16, .samples = 256, .frame_bytes = std::size_t{1} << 16};

/// Gives every shot a place of its own size, so that the sanitizer sees a byte too many, and checks what it is asked.
class CheckingIntake final : public FrameIntake {
 public:
  explicit CheckingIntake(Acquisition acquisition) : acquisition_(std::move(acquisition)) {}
  const Acquisition& acquisition() const noexcept override { return acquisition_; }
  LaneId open_lane(std::function<void()>) override {
    fuzz::require(lanes++ == 0, "one lane at a time");
    return 3;
  }
  void close_lane(LaneId lane) override { fuzz::require(lane == 3 && --lanes == 0, "the lane that was opened"); }
  ShotPlace begin_shot(LaneId lane, const ShotHeader& header, std::size_t bytes) override {
    fuzz::require(lanes == 1 && lane == 3 && !open, "on the open lane, one shot at a time");
    fuzz::require(header.transmit < acquisition_.event_count(), "an event of the frame");
    fuzz::require(header.position != no_position, "a count, or none");
    fuzz::require(bytes == FrameLayout(acquisition_).shot_bytes(header.transmit).count, "the shot's bytes");
    if (waits > 0) {
      --waits;
      return {.verdict = ShotVerdict::wait, .place = {}, .ticket = 0};
    }
    if (header.sequence % 5 == 4) return {.verdict = ShotVerdict::discarded, .place = {}, .ticket = 0};
    place_.assign(bytes, std::byte{0});
    open = true;
    return {.verdict = ShotVerdict::accepted, .place = place_, .ticket = header.sequence};
  }
  void finish_shot(LaneId, std::uint64_t) override { fuzz::require(std::exchange(open, false), "a shot that was begun"); }
  void abandon_shot(LaneId, std::uint64_t) override { open = false; }
  void expire() override {}

  int lanes = 0;
  int waits = 0;
  bool open = false;

 private:
  const Acquisition acquisition_;
  Bytes place_;
};

class Host final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    fuzz::require(acquisition.elements() <= limits.elements && acquisition.frame_bytes() <= limits.frame_bytes,
                  "the limits hold");
    intake = std::make_shared<CheckingIntake>(acquisition);
    return intake;
  }
  std::shared_ptr<CheckingIntake> intake;
};

void mend_checksum(Bytes& message) {
  if (message.size() < prefix_bytes) return;
  const MessagePrefix prefix = read_prefix(std::span<const std::byte>(message).first<prefix_bytes>());
  if (prefix.header_bytes > message.size() - prefix_bytes) return;
  const std::uint32_t checksum = message_checksum(std::span<const std::byte>(message).first<checksummed_prefix_bytes>(),
                                                  std::span<const std::byte>(message).subspan(prefix_bytes, prefix.header_bytes));
  std::memcpy(message.data() + checksummed_prefix_bytes, &checksum, sizeof checksum);
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  spdlog::set_level(spdlog::level::off);
  fuzz::Input input(data, size);
  ManualClock clock;
  Host host;
  LiveSourceCounters counters;
  PeerWarnings warnings(clock);
  MessageHandlerOptions options;
  options.limits = limits;
  if (size > 0 && (data[0] & 16U) != 0) options.token = "secret";
  MessageHandler handler(options, host, clock, counters, warnings, [] {});
  std::uint64_t messages = 0;
  std::uint64_t total = 0;
  while (!input.empty()) {
    const auto choices = input.take<std::uint8_t>();
    const std::size_t stated = input.take<std::uint16_t>();
    const std::size_t length = std::min(stated, input.rest().size());
    const auto bytes = std::as_bytes(input.rest().first(length));
    Bytes message(bytes.begin(), bytes.end());
    input = fuzz::Input(input.rest().data() + length, input.rest().size() - length);
    if ((choices & 1U) != 0) mend_checksum(message);
    std::array<std::span<const std::byte>, 2> parts{std::span<const std::byte>(message), {}};
    if ((choices & 2U) != 0 && message.size() >= prefix_bytes) {
      const std::size_t head =
          std::min<std::size_t>(message.size(), prefix_bytes + read_prefix(parts[0].first<prefix_bytes>()).header_bytes);
      parts = {parts[0].first(head), parts[0].subspan(head)};
    }
    if (host.intake) host.intake->waits = (choices & 4U) != 0 ? 2 : 0;
    auto verdict = handler.take(std::span(parts).first((choices & 2U) != 0 ? 2 : 1));
    for (int i = 0; verdict == MessageHandler::Verdict::wait; ++i) {
      fuzz::require(i < 2, "it waits only as long as it is told to");
      handler.tick();
      verdict = handler.resume();
    }
    if ((choices & 8U) != 0) clock.advance(std::chrono::seconds(3));
    handler.tick();
    ++messages;
    total += message.size();
    const SourceCounters now = counters.read();
    fuzz::require(now.bytes_received == total, "all bytes are counted, once");
    fuzz::require(now.decode_errors_total() + now.shots_received + now.connections_accepted <= messages,
                  "a message counts as one thing at most");
    fuzz::require(now.shots_discarded <= now.shots_received, "what is thrown away was received");
    fuzz::require(now.connections_open == (host.intake && host.intake->lanes == 1 ? 1U : 0U), "open is who has a lane");
    if (const std::string rejection = counters.last_rejection(); !rejection.empty()) fuzz::require_one_line(rejection);
  }
  handler.close();
  fuzz::require(!host.intake || (host.intake->lanes == 0 && !host.intake->open), "nothing stays open");
  return 0;
}
