// Samples that are no numbers, far too large or at the end of their range, and elements that are dead.
#include <cstring>
#include <limits>

#include "methods/display_settings.hpp"
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;

class Samples : public OnBackends {};
ECHOFORM_ON_BACKENDS(Samples);

template <class Number>
void put(Bytes& frame, std::size_t sample, Number value) {
  std::memcpy(frame.data() + sample * sizeof(Number), &value, sizeof(Number));
}

Bytes message_of(const Acquisition& acquisition, const Bytes& frame, std::uint64_t sequence) {
  Bytes message;
  for (std::uint32_t transmit = 0; transmit < acquisition.elements(); ++transmit) {
    message = std::move(message) + shot_of(acquisition, frame, sequence, transmit);
  }
  return message;
}

/// A configuration whose images depend on those before: what a frame leaves behind shows in the next.
Configuration with_running_reference(BackendKind backend) {
  Configuration configuration = base_configuration(backend);
  section<OutputSection>(configuration).reference = ReferenceMode::running;
  return configuration;
}

TEST_P(Samples, NanAndInfinity) {
  ServerBench bench(with_running_reference(GetParam()));
  const Acquisition acquisition = base_acquisition(SampleEncoding::float32);
  const Books before = bench.books();
  Bytes bad = frame_of(acquisition, 2);
  Bytes mended = bad;
  const std::size_t pair = 97 * 3;  // anywhere
  const float wrong[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::signaling_NaN(), std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity()};
  for (std::size_t i = 0; i < 5; ++i) {
    put(bad, pair + 17 * i, wrong[i]);
    put(mended, pair + 17 * i, 0.0F);
  }
  const auto peer = bench.accepted_peer(acquisition);
  peer->send(frame_message(acquisition, 1) + message_of(acquisition, bad, 2) + frame_message(acquisition, 3) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 3, .published = 3, .invalid = 5, .accepted = 1});
  // The engine beside the server sees the frames in the same order, with 0 where there was no number.
  bench.expect_image(acquisition, 0, frame_of(acquisition, 1));
  bench.expect_image(acquisition, 1, mended);
  bench.expect_image(acquisition, 2, frame_of(acquisition, 3));
}

// Sums over pairs, spectra and elements would overflow, and the running reference would not come down for hundreds of frames.
TEST_P(Samples, FarTooLarge) {
  ServerBench bench(with_running_reference(GetParam()));
  const Acquisition acquisition = base_acquisition(SampleEncoding::float32);
  const Books before = bench.books();
  Bytes bad = frame_of(acquisition, 2);
  Bytes mended = bad;
  // Pairs (0, 1) and (1, 0), whose samples are added.
  const std::size_t forward = 96 * 1, back = 96 * 4;
  for (const std::size_t sample : {forward + 50, back + 50}) {
    put(bad, sample, 3.0e38F);
    put(mended, sample, 0.0F);
  }
  put(bad, forward + 60, -std::numeric_limits<float>::max());
  put(mended, forward + 60, 0.0F);
  put(bad, forward + 61, 0x1p56F);  // the least that is too large
  put(mended, forward + 61, 0.0F);
  const auto peer = bench.accepted_peer(acquisition);
  peer->send(frame_message(acquisition, 1) + message_of(acquisition, bad, 2) + frame_message(acquisition, 3) +
             frame_message(acquisition, 4) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 4, .published = 4, .invalid = 4, .accepted = 1});
  bench.expect_image(acquisition, 0, frame_of(acquisition, 1));
  bench.expect_image(acquisition, 1, mended);
  bench.expect_image(acquisition, 2, frame_of(acquisition, 3));
  bench.expect_image(acquisition, 3, frame_of(acquisition, 4));
}

// A whole frame of the largest samples that count: every pixel stays a number.
TEST_P(Samples, LargestThatCount) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition(SampleEncoding::float32);
  const Books before = bench.books();
  Bytes large = frame_of(acquisition, 1);
  for (std::size_t sample = 0; sample < large.size() / 4; ++sample) put(large, sample, std::nextafter(0x1p56F, 0.0F));
  const auto peer = bench.accepted_peer(acquisition);
  peer->send(message_of(acquisition, large, 1) + frame_message(acquisition, 2) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 2, .published = 2, .accepted = 1});
  const auto images = bench.album->images();
  const auto* const pixels = reinterpret_cast<const float*>(images[0].envelope.data());
  for (std::size_t pixel = 0; pixel < images[0].envelope.size() / sizeof(float); ++pixel)
    ASSERT_TRUE(std::isfinite(pixels[pixel]));
  bench.expect_image(acquisition, 0, large);
  bench.expect_image(acquisition, 1, frame_of(acquisition, 2));
  bench.expect_good_sender(acquisition);
}

TEST_P(Samples, Saturated) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  Bytes bad = frame_of(acquisition, 2);
  for (std::size_t i = 0; i < 7; ++i)
    put<std::int16_t>(bad, 100 + 31 * i, i % 2 == 0 ? std::int16_t{32767} : std::int16_t{-32768});
  const auto peer = bench.accepted_peer(acquisition);
  peer->send(frame_message(acquisition, 1) + message_of(acquisition, bad, 2) + frame_message(acquisition, 3) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 3, .published = 3, .clipped = 7, .accepted = 1});
  bench.expect_image(acquisition, 0, frame_of(acquisition, 1));
  bench.expect_image(acquisition, 1, bad);
  bench.expect_image(acquisition, 2, frame_of(acquisition, 3));
  bench.expect_good_sender();
}

// A dead element: its shots may be left out or hold rubbish, and what the others received of it stays.
TEST_P(Samples, DeadElements) {
  ServerBench bench(GetParam());
  Acquisition acquisition = base_acquisition();
  acquisition.probe.elements[2].dead = true;
  const Books before = bench.books();
  const auto silenced = [&](std::uint64_t sequence) {
    Bytes frame = frame_of(acquisition, sequence);
    const std::size_t row = acquisition.bytes_per_a_scan() * acquisition.elements();
    std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(2 * row), row, std::byte{0});
    return frame;
  };
  const auto peer = bench.accepted_peer(acquisition);
  peer->send(frame_message(acquisition, 1) + shot_of(acquisition, 2, 0) + shot_of(acquisition, 2, 1) +
             shot_of(acquisition, 2, 3) + frame_message(acquisition, 3) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 3, .published = 3, .accepted = 1});
  EXPECT_EQ(bench.books().source.shots_discarded - before.source.shots_discarded, 2U);
  bench.expect_image(acquisition, 0, silenced(1));
  bench.expect_image(acquisition, 1, silenced(2));
  bench.expect_image(acquisition, 2, silenced(3));
  bench.expect_good_sender();  // with all elements alive: the server plans anew
}

// A probe of which nothing is left is refused, and the one before it goes on.
TEST_P(Samples, AllElementsDead) {
  ServerBench bench(GetParam());
  bench.expect_good_sender(base_acquisition(), 1);
  const Books before = bench.books();
  Acquisition acquisition = base_acquisition();
  for (Element& element : acquisition.probe.elements) element.dead = true;
  RawPeer peer(bench.port());
  peer.send(hello_message(acquisition));
  EXPECT_EQ(peer.reject_reason(), "dead elements: found all 4 of the probe; expected at least one that is alive");
  bench.expect_change(before, {.rejected = 1});
  bench.expect_good_sender();
  EXPECT_EQ(bench.engines_made, 1);
}

}  // namespace
}  // namespace echoform::faults
