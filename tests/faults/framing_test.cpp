// Messages that arrive in pieces, in heaps, or not whole.
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;

class Framing : public OnBackends {};
ECHOFORM_ON_BACKENDS(Framing);

/// Sends in pieces of these lengths, in turn, each of which the server has read before the next one leaves.
void send_in_pieces(ServerBench& bench, RawPeer& peer, const Bytes& bytes, const std::vector<std::size_t>& lengths) {
  std::size_t turn = 0;
  for (std::size_t at = 0; at < bytes.size(); ++turn) {
    const std::size_t length = std::min(lengths[turn % lengths.size()], bytes.size() - at);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    bench.send_and_wait(peer, {begin, begin + static_cast<std::ptrdiff_t>(length)});
    at += length;
  }
}

TEST_P(Framing, OneByteReads) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  RawPeer peer(bench.port());
  send_in_pieces(bench, peer, hello_message(acquisition), {1});
  ASSERT_TRUE(peer.accepted());
  send_in_pieces(bench, peer, frame_message(acquisition, 1) + frame_message(acquisition, 2) + end_message(), {1});
  EXPECT_TRUE(peer.closed());
  bench.expect_change(before, {.received = 2, .published = 2, .accepted = 1});
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

TEST_P(Framing, SplitMessages) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  RawPeer peer(bench.port());
  // Around the lengths of a prefix (24), of prefix and header (about 35) and of a whole shot (about 800).
  send_in_pieces(bench, peer, hello_message(acquisition), {23, 2, 25, 7});
  ASSERT_TRUE(peer.accepted());
  Bytes all;
  for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) all = std::move(all) + frame_message(acquisition, sequence);
  send_in_pieces(bench, peer, all + end_message(), {23, 24, 25, 3, 799, 34, 1021, 36, 2});
  EXPECT_TRUE(peer.closed());
  bench.expect_change(before, {.received = 6, .published = 6, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 3, 4, 5, 6});
  bench.expect_good_sender();
}

TEST_P(Framing, CoalescedMessages) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  Bytes all = hello_message(acquisition);
  std::vector<std::uint64_t> sequences;
  for (std::uint64_t sequence = 1; sequence <= 12; ++sequence) {
    all = std::move(all) + frame_message(acquisition, sequence);
    sequences.push_back(sequence);
  }
  RawPeer peer(bench.port());
  peer.send(all + end_message());  // with one call, before the answer to the Hello
  ASSERT_TRUE(peer.accepted());
  EXPECT_TRUE(peer.closed());
  bench.expect_change(before, {.received = 12, .published = 12, .accepted = 1});
  bench.expect_images(acquisition, sequences);
  bench.expect_good_sender();
}

TEST_P(Framing, TruncationInMidFrame) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  Bytes cut = shot_of(acquisition, 3, 1);
  cut.resize(cut.size() / 2);
  bench.send_and_wait(*peer, frame_message(acquisition, 1) + frame_message(acquisition, 2) + shot_of(acquisition, 3, 0) + cut);
  peer->close();
  bench.expect_change(before, {.received = 3,
                               .published = 2,
                               .dropped = {{DropReason::incomplete, 1}},
                               .decode_errors = {{DecodeReason::truncated, 1}},
                               .accepted = 1});
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

TEST_P(Framing, DisconnectInMidFrame) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1) + shot_of(acquisition, 2, 0) + shot_of(acquisition, 2, 1));
  peer->close();
  bench.expect_change(before,
                      {.received = 2, .published = 1, .dropped = {{DropReason::incomplete, 1}}, .accepted = 1, .lost = 1});
  bench.expect_images(acquisition, {1});
  bench.expect_good_sender();
}

// One of two connections breaks within a shot that the other does not bring: only that frame is lost, the other one goes on.
TEST_P(Framing, DisconnectOfOneOfTwoConnections) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto hello = [&](std::uint32_t index) {
    return hello_message(acquisition,
                         {.session = 9, .connection_index = index, .connection_count = 2, .sender = "two", .token = {}});
  };
  RawPeer first(bench.port()), second(bench.port());
  first.send(hello(0));
  second.send(hello(1));
  ASSERT_TRUE(first.accepted() && second.accepted());
  bench.send_and_wait(first, shot_of(acquisition, 1, 0) + shot_of(acquisition, 1, 2));
  Bytes cut = shot_of(acquisition, 1, 1);
  cut.resize(cut.size() - 1);
  bench.send_and_wait(second, cut);
  second.close();
  ASSERT_TRUE(bench.reaches([&] { return bench.server->source().counters().connections_open == 1; }));
  // What the other left unwritten may come by this connection.
  bench.send_and_wait(first,
                      shot_of(acquisition, 1, 1) + shot_of(acquisition, 1, 3) + frame_message(acquisition, 2) + end_message());
  EXPECT_TRUE(first.closed());
  bench.expect_change(before, {.received = 2, .published = 2, .decode_errors = {{DecodeReason::truncated, 1}}, .accepted = 2});
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

}  // namespace
}  // namespace echoform::faults
