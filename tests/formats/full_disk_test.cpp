// Writers on a disk that is full at whatever size: an error in one line, no crash, and nothing half-written.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "formats/frame_writer.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/full_disk.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kibi = 1024;

Acquisition acquisition_of(int elements, bool passive) {
  Acquisition acquisition;
  for (int k = 0; k < elements; ++k) {
    Element element;
    element.centre = {Metres(1e-3 * k), Metres(0.0), Metres(0.0)};
    acquisition.probe.elements.push_back(element);
  }
  acquisition.samples = 20;
  acquisition.sample_rate = Hertz(4e7);
  acquisition.probe.centre_frequency = Hertz(5e6);
  acquisition.encoding = SampleEncoding::float32;
  if (passive) acquisition.events = {{PassiveEvent{}, {}}};
  return acquisition;
}

/// Two frames into a new recording, of 12 elements; or of 40, whose laws alone are more than 64 KiB.
void record(const std::filesystem::path& path) {
  const Acquisition of = acquisition_of(path.stem() == "large" ? 40 : 12, path.extension() == ".hdf5");
  const auto writer = make_frame_writer(path, of, {.material = {MetresPerSecond(6000.0), MetresPerSecond(3000.0)}});
  std::vector<float> samples(of.a_scans() * of.samples);
  std::iota(samples.begin(), samples.end(), 1.0F);
  writer->append(std::as_bytes(std::span(samples)));
  if (most_frames_of_file(path) != 1) writer->append(std::as_bytes(std::span(samples)));
  writer->close();
}

void write_image(const std::filesystem::path& path) {
  ImageFile image;
  image.grid.x = {Metres(-0.01), Metres(0.01), 120};
  image.grid.z = {Metres(0.001), Metres(0.02), 140};
  std::vector<float> envelope(image.grid.pixels());
  for (std::size_t k = 0; k < envelope.size(); ++k) envelope[k] = static_cast<float>(k % 977);
  image.envelope = envelope;
  make_image_writer(path)->write(image);
}

/// What a process of its own comes to that has `write` write: its line and exit code. A limit on the size of files stands for a
/// disk that is full there: the system refuses what goes beyond it, whoever writes and however.
struct Outcome {
  int signal = 0;
  bool failed = false;  // with an error
  std::string line;
};

Outcome outcome_of(const std::function<void()>& write) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string line;
    int code = 0;
    try {
      write();
    } catch (const std::exception& error) {
      line = error.what();
      code = 1;
    }
    static_cast<void>(!::write(ends[1], line.data(), line.size()));
    H5close();  // as at the end of every program
    ::_exit(code);
  }
  ::close(ends[1]);
  Outcome outcome;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;)
    outcome.line.append(piece.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.failed = WIFEXITED(status) && WEXITSTATUS(status) != 0;
  return outcome;
}

void limit_files(std::uint64_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

struct Output {
  std::string name;
  std::string file;
  void (*write)(const std::filesystem::path&);
};

/// One of each format that is written, and a recording whose laws alone are more than 64 KiB.
std::vector<Output> outputs() {
  std::vector<Output> all{{"large_mfmc", "large.mfmc", record}};
  for (const std::string& extension : frame_file_extensions()) all.push_back({extension.substr(1), "r" + extension, record});
  for (const std::string& extension : image_writer_extensions())
    all.push_back({"image_" + extension.substr(1), "i" + extension, write_image});
  return all;
}

class FullDiskOf : public ::testing::TestWithParam<Output> {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return scratch_ / GetParam().file; }

  /// `write` under disks of several sizes, in a process of its own each: the file is there whole, or it is not there and an error
  /// says so. Of recordings what came before the disk was full may be there.
  void expect_whole_or_nothing(const std::function<void(std::uint64_t size)>& write) const {
    GetParam().write(path());
    const std::uint64_t needed = load(path()).size();
    std::size_t failures = 0;
    // Where the disk is full in the middle, and just before the end.
    for (const std::uint64_t size :
         {std::uint64_t{0}, 4 * kibi, 12 * kibi, 28 * kibi, 52 * kibi, needed - std::min(needed, 3 * kibi), needed + 64 * kibi}) {
      std::filesystem::remove(path());
      const Outcome outcome = outcome_of([&] { write(size); });
      ASSERT_EQ(outcome.signal, 0) << "a disk of " << size << " bytes ends the program";
      if (!outcome.failed) {
        ASSERT_EQ(scratch_.files(), 1U) << size;
        // Identifiers of DICOM files differ in length.
        ASSERT_NEAR(static_cast<double>(load(path()).size()), static_cast<double>(needed), 64.0) << size;
        continue;
      }
      ++failures;
      ASSERT_THAT(outcome.line, AllOf(HasSubstr(path().string()), Not(HasSubstr("\n")))) << size;
      if (scratch_.files() == 0) continue;
      ASSERT_EQ(GetParam().write, &record) << "half-written on a disk of " << size << " bytes: " << outcome.line;
      ASSERT_EQ(scratch_.files(), 1U) << size;
      const auto recording = open_recording(path());
      std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
      for (std::size_t frame = 0; frame < recording->frames(); ++frame) recording->read_frame(frame, samples);
    }
    EXPECT_GE(failures, 2U) << needed;
  }

  Scratch scratch_;
};

TEST_P(FullDiskOf, OfAnySizeLeavesAWholeFileOrNone) {
  expect_whole_or_nothing([this](std::uint64_t size) {
    limit_files(size);
    GetParam().write(path());
  });
}

// The room was there when it was asked for, and is not when HDF5 writes: others filled the disk, or it fails.
TEST_P(FullDiskOf, ThatFillsWhileItIsWrittenLeavesAWholeFileOrNone) {
  const std::string file = GetParam().file;
  if (file.ends_with(".mat") || file.ends_with(".dcm")) GTEST_SKIP() << "written by streams of the C library";
  expect_whole_or_nothing([this](std::uint64_t size) {
    const FullDisk disk(size);
    GetParam().write(path());
  });
}

INSTANTIATE_TEST_SUITE_P(Outputs, FullDiskOf, ::testing::ValuesIn(outputs()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace echoform::test
