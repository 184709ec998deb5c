// MFMC files of a probe that moves by its encoder's counts: a placement for each frame, while they grow and after a kill.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/frame_writer.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::test {
namespace {

Acquisition four_elements() {
  Acquisition a;
  a.probe = make_linear_probe(4, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.samples = 6;
  a.sample_rate = Hertz(40e6);
  return a;
}

/// Around an axis along y, 30 mm below the array, a third of a turn beyond where it began with every 20 counts.
Pose pose_of(EncoderCount count) {
  const double angle = static_cast<double>(count) * 2.0944 / 20.0;
  return {{Metres(-0.03 * std::sin(angle)), Metres(0.0), Metres(0.03 - 0.03 * std::cos(angle))},
          {std::cos(angle), 0.0, -std::sin(angle)},
          {0.0, 1.0, 0.0}};
}

/// None states one now and then.
std::optional<EncoderCount> count_of(std::size_t frame) {
  if (frame % 7 == 3) return std::nullopt;
  return static_cast<EncoderCount>(frame) - 20;
}

FrameWriterOptions placed() {
  FrameWriterOptions options;
  options.pose = pose_of;
  return options;
}

void expect_places(const std::filesystem::path& path, std::size_t frames) {
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), frames);
  EXPECT_TRUE(recording->placed_by_encoder());
  EXPECT_EQ(recording->probe_at(Pose{}), four_elements().probe);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    ASSERT_EQ(recording->stamp(frame).position, count_of(frame));
    const Pose expected = count_of(frame) ? pose_of(*count_of(frame)) : Pose{};
    const auto found = recording->pose(frame);
    ASSERT_TRUE(found.has_value());
    ASSERT_NEAR(found->origin.x.value, expected.origin.x.value, 1e-15) << frame;
    ASSERT_NEAR(found->origin.z.value, expected.origin.z.value, 1e-15) << frame;
    ASSERT_NEAR(found->x.x, expected.x.x, 1e-15) << frame;
    ASSERT_NEAR(found->x.z, expected.x.z, 1e-15) << frame;
    // Elements are where a plain turn has them, above the part or below.
    const Probe probe = recording->probe(frame);
    for (std::size_t k = 0; k < 4; ++k) {
      const double along = four_elements().probe.elements[k].centre.x.value;
      ASSERT_NEAR(probe.elements[k].centre.x.value, expected.origin.x.value + along * expected.x.x, 1e-15);
      ASSERT_NEAR(probe.elements[k].centre.z.value, expected.origin.z.value + along * expected.x.z, 1e-15);
      ASSERT_NEAR(probe.elements[k].normal.z, expected.x.x, 1e-15);
    }
  }
}

TEST(MfmcPlaced, EachFrameHasItsPlacement) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  const Acquisition a = four_elements();
  {
    const auto writer = make_frame_writer(path, a, placed());
    const std::vector<std::byte> frame(a.frame_bytes());
    // Placements of a page are 170.
    for (std::size_t k = 0; k < 520; ++k) {
      writer->append(frame, {.position = count_of(k)});
      if (k == 0 || k == 169 || k == 170 || k == 511 || k == 512) expect_places(path, k + 1);
    }
    writer->close();
  }
  expect_places(path, 520);
  EXPECT_EQ(check_mfmc(path).violations, std::vector<std::string>{});
}

TEST(MfmcPlaced, PositionsWithinAFrameAreThePlacementsOfOne) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  Acquisition a = four_elements();
  a.positions = {pose_of(0), pose_of(1)};
  // Turned about its middle, all of the probe stays above the part.
  for (Pose& pose : a.positions) pose.origin.z = pose.origin.z - Metres(1e-3);
  for (std::uint32_t position = 0; position < 2; ++position) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      TransmitEvent& event = a.events.emplace_back();
      event.form.emplace<ElementEvent>(ElementEvent{k});
      event.position = position;
    }
  }
  {
    const auto writer = make_frame_writer(path, a, placed());
    writer->append(std::vector<std::byte>(a.frame_bytes()), {.position = 3});
    writer->close();
  }
  const auto recording = open_recording(path);
  EXPECT_FALSE(recording->placed_by_encoder());
  EXPECT_EQ(recording->acquisition().positions.size(), 2U);
  EXPECT_EQ(recording->pose(0), std::nullopt);
}

/// As mfmc_writer_test.cpp has it of files without placements.
TEST(MfmcPlaced, fault_KilledProcessLeavesItsFinishedFrames) {
  const Acquisition a = four_elements();
  for (int round = 0; round < 9; ++round) {
    const Scratch scratch;
    const auto path = scratch / "r.mfmc";
    std::array<int, 2> channel{};
    ASSERT_EQ(::pipe(channel.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto writer = make_frame_writer(path, a, placed());
      const std::vector<std::byte> frame(a.frame_bytes());
      for (std::size_t k = 0;; ++k) {
        writer->append(frame, {.position = count_of(k)});
        const char one = 1;
        if (::write(channel[1], &one, 1) != 1) ::_exit(1);
      }
    }
    ::close(channel[1]);
    std::size_t told = 0;
    std::array<char, 4096> some{};
    while (told < std::size_t{1} << round) {
      const ssize_t count = ::read(channel[0], some.data(), some.size());
      ASSERT_GT(count, 0);
      told += static_cast<std::size_t>(count);
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (ssize_t count = 0; (count = ::read(channel[0], some.data(), some.size())) > 0;) told += static_cast<std::size_t>(count);
    ::close(channel[0]);
    const std::size_t frames = open_recording(path)->frames();
    ASSERT_GE(frames, told);
    ASSERT_LE(frames, told + 1);
    expect_places(path, frames);
  }
}

}  // namespace
}  // namespace echoform::test
