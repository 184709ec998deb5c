// Sender to slot, over real sockets: every encoding and matrix kind, bit by bit.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/eventually.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"

namespace echoform {
namespace {

using namespace testing_support;

using Case = std::tuple<SampleEncoding, MatrixKind, std::size_t>;

class RoundTrip : public testing::TestWithParam<Case> {
 protected:
  RoundTrip() {
    host_.slots = frames;
    TcpSourceOptions options;
    options.port = 0;
    source_ = make_tcp_source(options);
    source_->start(host_);
    sender_options_.port = source_->port();
    sender_options_.connections = std::get<2>(GetParam());
  }
  static constexpr std::uint64_t frames = 6;
  // An odd count of samples, so that packed A-scans end within a byte; a shot of 9 elements does not fill a look-ahead.
  const Acquisition acquisition_ = make_acquisition(9, 333, std::get<1>(GetParam()), std::get<0>(GetParam()));
  FakeHost host_;
  std::unique_ptr<TcpSource> source_;
  SenderOptions sender_options_;
};

TEST_P(RoundTrip, WholeFrames) {
  AcquisitionSender sender(acquisition_, sender_options_);
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    sender.send_frame({sequence, WallTime(static_cast<std::int64_t>(1000 + sequence)), position_of(sequence)},
                      random_bytes(acquisition_.frame_bytes(), sequence));
  }
  sender.finish();
  const auto intake = host_.intake(sender.session());
  ASSERT_EQ(intake->frames, frames);
  EXPECT_TRUE(intake->acquisition() == acquisition_);
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    EXPECT_EQ(intake->samples(sequence), random_bytes(acquisition_.frame_bytes(), sequence)) << sequence;
    EXPECT_EQ(intake->time(sequence).count(), static_cast<std::int64_t>(1000 + sequence));
    EXPECT_EQ(intake->positions(sequence), std::vector(acquisition_.elements(), position_of(sequence)));
  }
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  EXPECT_EQ(source_->counters().shots_received, frames * acquisition_.elements());
  EXPECT_EQ(source_->counters().connections_lost, 0U);
  EXPECT_TRUE(eventually([&] { return source_->counters().connections_open == 0; }));
}

TEST_P(RoundTrip, ShotsInRandomOrderOnRandomConnections) {
  AcquisitionSender sender(acquisition_, sender_options_);
  std::mt19937_64 engine(3);
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    const Bytes frame = random_bytes(acquisition_.frame_bytes(), 100 + sequence);
    std::vector<std::uint32_t> order(acquisition_.elements());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), engine);
    for (const std::uint32_t transmit : order) {
      sender.send_shot(engine() % sender_options_.connections,
                       {.sequence = sequence, .transmit = transmit, .acquisition_time = WallTime(1)},
                       shot_payload(acquisition_, frame, transmit));
    }
  }
  sender.finish();
  const auto intake = host_.intake(sender.session());
  ASSERT_EQ(intake->frames, frames);
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    EXPECT_EQ(intake->samples(sequence), random_bytes(acquisition_.frame_bytes(), 100 + sequence)) << sequence;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         testing::Combine(testing::Values(SampleEncoding::int16, SampleEncoding::packed12,
                                                          SampleEncoding::float32),
                                          testing::Values(MatrixKind::full, MatrixKind::half, MatrixKind::half_summed),
                                          testing::Values(std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8})));

TEST(RoundTripOfEvents, EveryFormOnSeveralConnections) {
  for (const Acquisition& acquisition : {acquisition_of_waves(33), acquisition_of_positions(33), acquisition_of_codes(33),
                                         acquisition_of_passive(33), acquisition_of_turned_passive(33)}) {
    FakeHost host;
    TcpSourceOptions options;
    options.port = 0;
    const auto source = make_tcp_source(options);
    source->start(host);
    SenderOptions to;
    to.port = source->port();
    to.connections = 3;
    AcquisitionSender sender(acquisition, to);
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence)
      sender.send_frame({sequence, WallTime(1)}, random_bytes(acquisition.frame_bytes(), sequence));
    sender.finish();
    const auto intake = host.intake(sender.session());
    ASSERT_EQ(intake->frames, 3U);
    EXPECT_EQ(intake->acquisition(), acquisition);
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence)
      EXPECT_EQ(intake->samples(sequence), random_bytes(acquisition.frame_bytes(), sequence)) << sequence;
    EXPECT_EQ(source->counters().shots_received, 3 * acquisition.events.size());
    EXPECT_EQ(source->counters().decode_errors_total(), 0U);
  }
}

}  // namespace
}  // namespace echoform
