// From a shot's first byte to its last, sender and receiver take nothing from the heap.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/eventually.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/whole_messages.hpp"
#include "transport/acquisition/message_handler.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/acquisition/zeromq_sender.hpp"
#include "transport/acquisition/zeromq_source.hpp"

namespace echoform {
namespace {

using namespace testing_support;

/// An intake that itself takes nothing: one slot, overwritten for ever.
class OneSlotIntake final : public FrameIntake {
 public:
  explicit OneSlotIntake(Acquisition acquisition) : acquisition_(std::move(acquisition)), slot_(acquisition_.frame_bytes()) {}
  const Acquisition& acquisition() const noexcept override { return acquisition_; }
  LaneId open_lane(std::function<void()> wake) override {
    wake_ = std::move(wake);
    return 0;
  }
  void close_lane(LaneId) override {}
  ShotPlace begin_shot(LaneId, const ShotHeader& header, std::size_t bytes) override {
    const auto count = shots.load();
    // Now and then it has no place, and says a moment later that it has, so that the way round by the wake is walked too.
    if (count % 64 == 63 && !std::exchange(waited_, true)) {
      wake_();
      return {.verdict = ShotVerdict::wait, .place = {}, .ticket = 0};
    }
    waited_ = false;
    if (count % 64 == 62) {
      ++shots;
      return {.verdict = ShotVerdict::discarded, .place = {}, .ticket = 0};
    }
    return {.verdict = ShotVerdict::accepted, .place = std::span(slot_).subspan(header.transmit * bytes, bytes), .ticket = 0};
  }
  void finish_shot(LaneId, std::uint64_t) override { ++shots; }
  void abandon_shot(LaneId, std::uint64_t) override {}
  void expire() override {}

  std::atomic<std::uint64_t> shots{0};

 private:
  Acquisition acquisition_;
  Bytes slot_;
  std::function<void()> wake_;
  bool waited_ = false;
};

class OneSlotHost final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    if (!intake) intake = std::make_shared<OneSlotIntake>(acquisition);
    return intake;
  }
  std::shared_ptr<OneSlotIntake> intake;
};

TEST(AcquisitionMemory, NothingIsAllocatedInSteadyState) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizer has the allocator";
  OneSlotHost host;
  TcpSourceOptions options;
  options.port = 0;
  const auto source = make_tcp_source(options);
  source->start(host);
  const Acquisition acquisition = make_acquisition(16, 512);
  SenderOptions sender_options;
  sender_options.port = source->port();
  AcquisitionSender sender(acquisition, sender_options);
  const Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
  const auto send = [&](std::uint64_t frames, std::uint64_t first) {
    const std::uint64_t until = host.intake->shots + frames * 16;
    for (std::uint64_t i = 0; i < frames; ++i) sender.send_frame({first + i, WallTime(5), -static_cast<EncoderCount>(i)}, frame);
    return eventually([&] { return host.intake->shots == until; });
  };
  ASSERT_TRUE(send(50, 0));
  const std::uint64_t before = test::allocations();
  EXPECT_TRUE(send(500, 50));
  const std::uint64_t after = test::allocations();
  EXPECT_EQ(after - before, 0U);
  // That the counter counts.
  const auto canary = std::make_unique<Bytes>(100);
  const std::uint64_t counted = test::allocations();
  EXPECT_EQ(canary->size(), 100U);
  EXPECT_EQ(counted - after, 2U);
  sender.finish();
}

TEST(MessageMemory, AShotAndARepeatedHelloTakeNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizer has the allocator";
  const Acquisition acquisition = make_acquisition(16, 512);
  const auto messages = frame_of(acquisition, 7, 1, random_bytes(acquisition.frame_bytes(), 1));
  OneSlotHost host;
  const SystemClock clock;
  LiveSourceCounters counters;
  PeerWarnings warnings(clock);
  MessageHandler handler({}, host, clock, counters, warnings, [] {});
  const auto give_frame = [&] {
    for (const Bytes& message : messages) {
      const std::span<const std::byte> part = message;
      auto verdict = handler.take({&part, 1});
      while (verdict == MessageHandler::Verdict::wait) verdict = handler.resume();
      handler.tick();
    }
  };
  for (int i = 0; i < 10; ++i) give_frame();
  const std::uint64_t shots = host.intake->shots;
  const std::uint64_t before = test::allocations();
  for (int i = 0; i < 100; ++i) give_frame();
  EXPECT_EQ(test::allocations() - before, 0U);
  EXPECT_EQ(host.intake->shots - shots, 1600U);
}

// libzmq takes memory for each message that does not fit into the message itself: a block for the one that is sent, and one on
// the other side for the one that is received. That the door cannot avoid; that there is nothing besides is what this shows.
TEST(ZeromqMemory, LibzmqTakesABlockForAMessageOnEachSideAndNobodyElseAny) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizer has the allocator";
  OneSlotHost host;
  const auto source = make_zeromq_source({.port = 0});
  source->start(host);
  const Acquisition acquisition = make_acquisition(16, 512);  // shots of 16 KiB
  ZeromqSender sender(acquisition, {.port = source->port()});
  const Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
  std::uint64_t sequence = 0;
  const auto send = [&](std::uint64_t frames) {
    const std::uint64_t until = (sequence + frames) * acquisition.elements();
    for (std::uint64_t i = 0; i < frames; ++i) sender.send_frame({sequence++, WallTime(5), -static_cast<EncoderCount>(i)}, frame);
    return eventually([&] { return host.intake && host.intake->shots == until; });
  };
  ASSERT_TRUE(send(50));
  const std::uint64_t before = test::allocations();
  EXPECT_TRUE(send(500));
  const std::uint64_t taken = test::allocations() - before;
  const std::uint64_t messages = 500 * (acquisition.elements() + 1);
  RecordProperty("allocations_per_message", std::to_string(static_cast<double>(taken) / static_cast<double>(messages)));
  EXPECT_GE(taken, messages) << "that the counter counts";
  // Two a message, and now and then a block of its queues, which hold 256 messages each and are kept as they become free.
  EXPECT_LE(taken, 2 * messages + messages / 64);
  sender.finish();
}

}  // namespace
}  // namespace echoform
