#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <thread>

#include "acquisition/frame_layout.hpp"
#include "formats/frame_writer.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/mfmc_encoder.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// 12 bits, so that every encoding holds it.
int count_of(std::size_t frame, std::size_t a_scan, std::size_t n) {
  return static_cast<int>((977 * frame + 31 * a_scan + 7 * n) % 4096) - 2048;
}

Acquisition acquisition_of(MatrixKind matrix, SampleEncoding encoding) {
  Acquisition a;
  a.probe = make_linear_probe(5, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.probe.elements[3].normal = {0.6, 0.0, 0.8};
  a.probe.elements[2].length = Metres(12e-3);
  a.probe.elements[4].dead = true;
  a.matrix = matrix;
  a.encoding = encoding;
  a.samples = 7;  // odd: packed A-scans end in half a pair
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(-1e-6);
  a.time_offset = Seconds(0.25e-6);
  a.sample_scale = encoding == SampleEncoding::float32 ? 1.0 : 0.5;
  return a;
}

std::vector<std::byte> frame_of(const Acquisition& a, std::size_t frame) {
  std::vector<std::byte> bytes(a.frame_bytes());
  for (std::size_t k = 0; k < a.a_scans(); ++k) {
    std::byte* const row = bytes.data() + k * a.bytes_per_a_scan();
    for (std::size_t n = 0; n < a.samples; ++n) {
      const int count = count_of(frame, k, n);
      if (a.encoding == SampleEncoding::int16) {
        const auto value = static_cast<std::int16_t>(count);
        std::memcpy(row + 2 * n, &value, 2);
      } else if (a.encoding == SampleEncoding::float32) {
        const auto value = static_cast<float>(count);
        std::memcpy(row + 4 * n, &value, 4);
      } else {
        for (unsigned bit = 0; bit < 12; ++bit) {
          if ((static_cast<unsigned>(count) >> bit & 1U) == 0) continue;
          const std::size_t at = 12 * n + bit;
          row[at / 8] |= std::byte{1} << (at % 8);
        }
      }
    }
  }
  return bytes;
}

void expect_frames(const std::filesystem::path& path, const Acquisition& a, std::size_t frames) {
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), frames);
  std::vector<float> samples(a.a_scans() * a.samples);
  const float scale = a.encoding == SampleEncoding::float32 ? 1.0F : 0.5F;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    recording->read_frame(frame, samples);
    for (std::size_t i = 0; i < a.elements(); ++i) {
      for (std::size_t j = a.matrix == MatrixKind::full ? 0 : i; j < a.elements(); ++j) {
        const std::size_t k = FrameLayout(a).row_of(i, j).value();
        for (std::size_t n = 0; n < a.samples; ++n) {
          ASSERT_EQ(samples[k * a.samples + n], scale * static_cast<float>(count_of(frame, k, n)))
              << "frame " << frame << ", A-scan " << k << ", sample " << n;
        }
      }
    }
  }
}

class MfmcWriterOf : public ::testing::TestWithParam<std::tuple<MatrixKind, SampleEncoding>> {};

TEST_P(MfmcWriterOf, IsReadBackAsItWasWritten) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  const Acquisition a = acquisition_of(std::get<0>(GetParam()), std::get<1>(GetParam()));
  {
    const auto writer =
        make_frame_writer(path, a, {.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}, .recorded = WallTime(1)});
    for (std::size_t frame = 0; frame < 3; ++frame) writer->append(frame_of(a, frame));
    EXPECT_EQ(writer->frames(), 3U);
    EXPECT_EQ(writer->bytes(), 3 * a.a_scans() * a.samples * (a.encoding == SampleEncoding::float32 ? 4 : 2));
    writer->close();
    writer->close();
  }
  EXPECT_EQ(scratch.files(), 1U);
  expect_frames(path, a, 3);
  const auto recording = open_recording(path);
  // The very counts, or floats.
  const Acquisition stored = recording->stored();
  EXPECT_EQ(stored.encoding, a.encoding == SampleEncoding::float32 ? SampleEncoding::float32 : SampleEncoding::int16);
  EXPECT_EQ(stored.sample_scale, a.sample_scale);
  std::vector<std::byte> bytes(stored.frame_bytes());
  recording->read_stored(2, bytes);
  Acquisition as_stored = a;
  as_stored.encoding = stored.encoding;
  EXPECT_EQ(bytes, frame_of(as_stored, 2));
  const Acquisition& found = recording->acquisition();
  EXPECT_EQ(found.matrix, a.matrix);
  EXPECT_NEAR(found.sample_rate.value, 40e6, 1e-6);
  EXPECT_NEAR(found.start_time.value, -1.25e-6, 1e-18);
  EXPECT_EQ(recording->material().longitudinal_velocity.value, 6320.0);
  EXPECT_EQ(recording->material().shear_velocity.value, 3130.0);
  EXPECT_EQ(found.probe.centre_frequency, a.probe.centre_frequency);
  EXPECT_EQ(found.probe.bandwidth, a.probe.bandwidth);
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const Element& element = found.probe.elements[i];
    EXPECT_EQ(element.centre, a.probe.elements[i].centre);
    EXPECT_NEAR(element.normal.x, a.probe.elements[i].normal.x, 1e-12);
    EXPECT_NEAR(element.normal.z, a.probe.elements[i].normal.z, 1e-12);
    EXPECT_NEAR(element.width.value, 0.5e-3, 1e-12);
    EXPECT_NEAR(element.length.value, a.probe.elements[i].length.value, 1e-12);
    EXPECT_EQ(element.dead, i == 4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MfmcWriterOf,
                         ::testing::Combine(::testing::Values(MatrixKind::full, MatrixKind::half),
                                            ::testing::Values(SampleEncoding::int16, SampleEncoding::packed12,
                                                              SampleEncoding::float32)));

TEST(MfmcWriter, PositionsAreReadBackWhereFramesStateThem) {
  const Scratch scratch;
  const Acquisition a = acquisition_of(MatrixKind::full, SampleEncoding::int16);
  // More frames than counts of one page; the first that states one is in the second page, the last states none.
  constexpr std::size_t frames = 1040;
  const auto position_of = [](std::size_t frame) -> std::optional<EncoderCount> {
    if (frame < 600 || frame % 5 == 4) return std::nullopt;
    // Beyond what a double holds.
    return frame == 700 ? EncoderCount{(1LL << 53) + 1} : 3 * static_cast<EncoderCount>(frame) - 2000;
  };
  const auto path = scratch / "r.mfmc";
  const auto expect_positions = [&](std::size_t count) {
    const auto recording = open_recording(path);
    ASSERT_EQ(recording->frames(), count);
    for (std::size_t frame = 0; frame < count; ++frame) {
      ASSERT_EQ(recording->stamp(frame).position, position_of(frame)) << frame;
      ASSERT_EQ(recording->stamp(frame).sequence, frame);
    }
  };
  {
    const auto writer = make_frame_writer(path, a);
    const auto bytes = frame_of(a, 0);
    for (std::size_t frame = 0; frame < frames; ++frame) {
      writer->append(bytes, {.sequence = 77, .position = position_of(frame)});
      // While it grows too.
      if (frame == 599 || frame == 600 || frame == 1023 || frame == 1024) expect_positions(frame + 1);
    }
    writer->close();
  }
  expect_positions(frames);
  EXPECT_EQ(check_mfmc(path).violations, std::vector<std::string>{});
}

TEST(MfmcWriter, WithoutPositionsThereIsNoRowOfCounts) {
  const Scratch scratch;
  const Acquisition a = acquisition_of(MatrixKind::half, SampleEncoding::float32);
  {
    const auto writer = make_frame_writer(scratch / "r.mfmc", a);
    for (std::size_t frame = 0; frame < 3; ++frame) writer->append(frame_of(a, frame), {.sequence = frame});
  }
  EXPECT_EQ(open_recording(scratch / "r.mfmc")->stamp(2).position, std::nullopt);
  const formats::Hdf5Session session;
  const formats::Hdf5Handle file = formats::open_hdf5(scratch / "r.mfmc");
  const formats::Hdf5Handle group(H5Gopen2(file.id(), "/SEQUENCES/S1", H5P_DEFAULT));
  EXPECT_EQ(formats::Hdf5Item::require(group, formats::encoder_count_dataset, "S1").shape(), (std::vector<std::size_t>{0, 1}));
}

/// Counts by other writers, or none.
TEST(MfmcWriter, CountsOfAnotherShapeAreNamed) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  const Acquisition a = acquisition_of(MatrixKind::full, SampleEncoding::int16);
  const auto replace_counts = [&](hid_t type, std::vector<hsize_t> shape) {
    const formats::Hdf5Session session;
    const formats::Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const formats::Hdf5Handle group(H5Gopen2(file.id(), "/SEQUENCES/S1", H5P_DEFAULT));
    ASSERT_GE(H5Ldelete(group.id(), formats::encoder_count_dataset, H5P_DEFAULT), 0);
    if (shape.empty()) return;
    const formats::Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    const formats::Hdf5Handle counts(
        H5Dcreate2(group.id(), formats::encoder_count_dataset, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const std::vector<std::int32_t> values{5, 50, 6, 60};
    ASSERT_GE(H5Dwrite(counts.id(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  };
  {
    const auto writer = make_frame_writer(path, a);
    for (std::size_t frame = 0; frame < 3; ++frame) writer->append(frame_of(a, frame), {.position = 9});
  }
  // Two encoders, of which the first counts, and fewer rows than frames.
  replace_counts(H5T_STD_I16BE, {2, 2});
  EXPECT_EQ(open_recording(path)->stamp(1).position, EncoderCount{6});
  EXPECT_EQ(open_recording(path)->stamp(2).position, std::nullopt);
  replace_counts(H5T_IEEE_F64LE, {2, 2});
  EXPECT_THAT(
      input_error([&] { static_cast<void>(open_recording(path)); }),
      HasSubstr("/SEQUENCES/S1/ECHOFORM_ENCODER_COUNT: found something else than integers; expected a dataset of integers, "
                "frames x encoders"));
  replace_counts(H5T_STD_I64LE, {4});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(path)); }), HasSubstr("ECHOFORM_ENCODER_COUNT: found shape 4;"));
  replace_counts(H5T_STD_I64LE, {});
  EXPECT_EQ(open_recording(path)->stamp(0).position, std::nullopt);
}

TEST(MfmcWriter, RefusesWhatTheFormatCannotSay) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  EXPECT_THAT(input_error([&] {
                static_cast<void>(make_frame_writer(path, acquisition_of(MatrixKind::half_summed, SampleEncoding::int16)));
              }),
              AllOf(HasSubstr("r.mfmc"), HasSubstr("half_summed"), HasSubstr("full or half")));
  Acquisition large = acquisition_of(MatrixKind::full, SampleEncoding::float32);
  large.samples = std::size_t{1} << 26;
  EXPECT_THAT(input_error([&] { static_cast<void>(make_frame_writer(path, large)); }), HasSubstr("4 GiB"));
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(MfmcWriter, OverwritesNothing) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  save(path, {1, 2, 3});
  EXPECT_THAT(
      input_error([&] { static_cast<void>(make_frame_writer(path, acquisition_of(MatrixKind::full, SampleEncoding::int16))); }),
      HasSubstr("there already"));
  EXPECT_EQ(load(path).size(), 3U);
  EXPECT_EQ(scratch.files(), 1U);
}

TEST(MfmcWriter, RefusesFramesOfAnotherSize) {
  const Scratch scratch;
  const Acquisition a = acquisition_of(MatrixKind::full, SampleEncoding::int16);
  const auto writer = make_frame_writer(scratch / "r.mfmc", a);
  auto frame = frame_of(a, 0);
  frame.pop_back();
  EXPECT_THAT(input_error([&] { writer->append(frame); }), HasSubstr("a frame of"));
  writer->append(frame_of(a, 0));
  writer->close();
  expect_frames(scratch / "r.mfmc", a, 1);
}

/// A child writes for ever and says after each frame that it is written; it is killed at an arbitrary moment.
TEST(MfmcWriter, fault_KilledProcessLeavesItsFinishedFrames) {
  Acquisition a = acquisition_of(MatrixKind::full, SampleEncoding::int16);
  for (int round = 0; round < 10; ++round) {
    const Scratch scratch;
    const auto path = scratch / "r.mfmc";
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto writer = make_frame_writer(path, a);
      for (std::size_t frame = 0;; ++frame) {
        writer->append(frame_of(a, frame), {.position = static_cast<EncoderCount>(frame) - 5});
        const char one = 1;
        if (::write(channel[1], &one, 1) != 1) ::_exit(1);
      }
    }
    ::close(channel[1]);
    std::size_t told = 0;
    std::array<char, 4096> some{};
    // Different numbers of frames, among them ones at which the file's index grows.
    while (told < std::size_t{1} << round) {
      const ssize_t count = ::read(channel[0], some.data(), some.size());
      ASSERT_GT(count, 0);
      told += static_cast<std::size_t>(count);
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (ssize_t count = 0; (count = ::read(channel[0], some.data(), some.size())) > 0;) told += static_cast<std::size_t>(count);
    ::close(channel[0]);
    const auto recording = open_recording(path);
    // One more may be whole that the child did not come to tell of.
    ASSERT_GE(recording->frames(), told);
    ASSERT_LE(recording->frames(), told + 1);
    EXPECT_THAT(recording->describe(), HasSubstr("not closed by its writer"));
    for (std::size_t frame = 0; frame < recording->frames(); ++frame)
      ASSERT_EQ(recording->stamp(frame).position, static_cast<EncoderCount>(frame) - 5);
    expect_frames(path, a, recording->frames());
  }
}

TEST(MfmcWriter, fault_FullDiskLeavesTheFramesBefore) {
  const Scratch scratch;
  const auto path = scratch / "r.mfmc";
  Acquisition a = acquisition_of(MatrixKind::full, SampleEncoding::int16);
  a.samples = 4000;
  // In a process of its own, whose limit on the size of files stands in for the disk.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{3 << 20, 3 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::size_t frame = 0;
    try {
      const auto writer = make_frame_writer(path, a);
      for (; frame < 100; ++frame) writer->append(frame_of(a, frame));
    } catch (const RuntimeFault& fault) {
      const bool right = std::string(fault.what()).find("File too large") != std::string::npos &&
                         std::string(fault.what()).find("r.mfmc: frame") != std::string::npos;
      ::_exit(right ? static_cast<int>(frame) : 200);
    }
    ::_exit(201);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  const int frames = WEXITSTATUS(status);
  ASSERT_GE(frames, 5);
  ASSERT_LE(frames, 100);
  expect_frames(path, a, static_cast<std::size_t>(frames));
  EXPECT_THAT(open_recording(path)->describe(), ::testing::Not(HasSubstr("not closed")));
}

}  // namespace
}  // namespace echoform::test
