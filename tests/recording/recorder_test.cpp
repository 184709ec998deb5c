#include "recording/recorder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <thread>

#include "base/sanitizers.hpp"
#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "pipeline/scan.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/recording/disk.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/process.hpp"
#include "tests/support/sleeper.hpp"

namespace echoform::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Acquisition acquisition_of(std::size_t samples = 8, MatrixKind matrix = MatrixKind::full) {
  Acquisition a;
  a.probe = make_linear_probe(3, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.matrix = matrix;
  a.samples = samples;
  a.sample_rate = Hertz(40e6);
  return a;
}

std::shared_ptr<const ImagingSetup> setup_of(const Acquisition& acquisition) {
  auto setup = std::make_shared<ImagingSetup>();
  setup->acquisition = acquisition;
  setup->material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  return setup;
}

template <class Error, class Call>
void expect_throw(const Call& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected " << text;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

/// 2026-03-14 09:26:53 UTC.
constexpr WallTime pi_day{1'773'480'413'000'000'000};

/// What a pipeline does with its sinks, by hand.
class RecorderTest : public ::testing::Test {
 protected:
  RecorderOptions options() {
    RecorderOptions options;
    options.files.folder = scratch_ / "";
    options.waiting_frames = 3;
    return options;
  }
  Recorder& make(const RecorderOptions& options) {
    recorder_ = std::make_unique<Recorder>(options, "[recorder]", disk_.maker());
    return *recorder_;
  }
  void open(const Acquisition& acquisition) {
    setup_ = setup_of(acquisition);
    recorder_->setup_changed(setup_);
    slot_.samples = Buffer(new std::byte[acquisition.frame_bytes()](), acquisition.frame_bytes(),
                           [](void* data) { delete[] static_cast<std::byte*>(data); });
  }
  void publish(std::size_t frames = 1) {
    for (std::size_t k = 0; k < frames; ++k) {
      slot_.sequence = ++sequence_;
      std::memset(slot_.samples.data(), static_cast<int>(sequence_), slot_.samples.size());
      recorder_->publish({slot_, *setup_, {}, pi_day, SteadyTime(0)});
    }
  }
  /// A recording for which the pipeline waits without end, on a disk that writes nothing.
  void open_held() {
    disk_.hold();
    auto chosen = options();
    chosen.wait = true;
    chosen.wait_limit = endless;
    make(chosen);
    open(acquisition_of());
  }
  /// Every frame is accounted for.
  RecorderStatus status() {
    const RecorderStatus status = recorder_->status();
    const auto& left_out = status.frames_not_recorded;
    EXPECT_EQ(status.frames_offered, status.frames_recorded + status.frames_waiting +
                                         std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0}));
    return status;
  }
  [[nodiscard]] bool all_written() {
    return eventually([&] { return status().frames_waiting == 0; });
  }
  static std::vector<std::uint64_t> sequences(const StoredFile& file) {
    std::vector<std::uint64_t> list;
    for (std::size_t k = 0; k < file.frames.size(); ++k) {
      list.push_back(file.stamps[k].sequence);
      for (const std::byte value : file.frames[k]) {
        EXPECT_EQ(value, static_cast<std::byte>(file.stamps[k].sequence));
        if (value != static_cast<std::byte>(file.stamps[k].sequence)) break;
      }
    }
    return list;
  }

  Scratch scratch_;
  Disk disk_;
  std::unique_ptr<Recorder> recorder_;
  std::shared_ptr<const ImagingSetup> setup_;
  FrameSlot slot_;
  std::uint64_t sequence_ = 0;
};

using NotRecordedCounts = std::array<std::uint64_t, not_recorded_reasons>;

constexpr auto name = "echoform-20260314T092653Z.mfmc";

TEST_F(RecorderTest, AnotherPathOfAScanIsAnotherFile) {
  make(options());
  const auto open_scan = [&](double metres) {
    auto scanned = std::make_shared<ImagingSetup>(*setup_of(acquisition_of()));
    auto scan = std::make_shared<Scan>();
    scan->pose = [metres](EncoderCount count) {
      return Pose{{static_cast<double>(count) * Metres(metres), Metres(0.0), Metres(0.0)}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    };
    scanned->scan = std::move(scan);
    recorder_->setup_changed(scanned);
  };
  open(acquisition_of());
  open_scan(1e-3);
  publish();
  open_scan(1e-3);  // the imaging alone has changed
  publish();
  open_scan(2e-3);
  publish();
  recorder_->stop();
  ASSERT_EQ(disk_.order.size(), 2U);
  const StoredFile first = disk_.file(disk_.order[0]);
  EXPECT_EQ(sequences(first).size(), 2U);
  EXPECT_EQ(first.options.pose(3).origin.x, Metres(3 * 1e-3));
  EXPECT_EQ(disk_.file(disk_.order[1]).options.pose(3).origin.x, Metres(3 * 2e-3));
}

TEST_F(RecorderTest, WritesWhatIsPublishedWithItsTimes) {
  make(options());
  open(acquisition_of());
  slot_.acquisition_time = pi_day + std::chrono::milliseconds(3);
  slot_.position = -8;
  publish(2);
  recorder_->stop();
  const StoredFile file = disk_.file(name);
  EXPECT_THAT(sequences(file), ElementsAre(1, 2));
  EXPECT_EQ(file.stamps[1].acquisition_time, slot_.acquisition_time);
  EXPECT_EQ(file.stamps[1].position, EncoderCount{-8});
  EXPECT_EQ(file.acquisition, acquisition_of());
  EXPECT_EQ(file.options.material, setup_->material);
  EXPECT_EQ(file.options.recorded, slot_.acquisition_time);
  EXPECT_TRUE(file.closed);
  EXPECT_EQ(status().frames_recorded, 2U);
  EXPECT_EQ(status().bytes_recorded, 2 * acquisition_of().frame_bytes());
  EXPECT_FALSE(status().recording);
  EXPECT_EQ(status().file, (scratch_ / name).string());
}

TEST_F(RecorderTest, MfmcFilesHoldTheSamples) {
  recorder_ = std::make_unique<Recorder>(options(), "[recorder]");
  open(acquisition_of(8, MatrixKind::half));
  for (int k = 0; k < 5; ++k) {
    publish();
    ASSERT_TRUE(all_written());
  }
  recorder_->stop();
  const auto recording = open_recording(scratch_ / name);
  ASSERT_EQ(recording->frames(), 5U);
  std::vector<float> samples(6 * 8);
  recording->read_frame(4, samples);
  EXPECT_EQ(samples[7], 0x0505);
}

TEST_F(RecorderTest, FramesThatTheDiskDoesNotKeepUpWithAreCountedAndPublishReturns) {
  disk_.hold();
  make(options());
  open(acquisition_of());
  publish(3 + 4);  // the disk stands still: three buffers, then nothing
  EXPECT_EQ(status().frames_waiting, 3U);
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{4, 0, 0, 0}));
  disk_.let_go();
  recorder_->stop();
  EXPECT_EQ(status().frames_recorded, 3U);
  EXPECT_THAT(sequences(disk_.file(name)), ElementsAre(1, 2, 3));
}

TEST_F(RecorderTest, HoldsThePipelineBackIfToldTo) {
  disk_.hold();
  auto chosen = options();
  chosen.wait = true;
  make(chosen);
  open(acquisition_of());
  std::thread pipeline([&] { publish(6); });
  ASSERT_TRUE(disk_.wait_entered(1));
  disk_.let_go();
  pipeline.join();
  recorder_->stop();
  EXPECT_EQ(status().frames_recorded, 6U);
}

TEST_F(RecorderTest, AStuckDiskHoldsThePipelineBackForALimitedTime) {
  disk_.hold();
  auto chosen = options();
  chosen.wait = true;
  chosen.wait_limit = std::chrono::nanoseconds(1);
  make(chosen);
  open(acquisition_of());
  publish(5);
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{2, 0, 0, 0}));
  disk_.let_go();
}

TEST_F(RecorderTest, StoppingSaysThatADiskIsStuckAndWaitsNoLonger) {
  disk_.hold();
  auto chosen = options();
  chosen.wait_limit = std::chrono::nanoseconds(1);
  make(chosen);
  open(acquisition_of());
  publish(2);
  ASSERT_TRUE(disk_.wait_entered(1));
  try {
    recorder_->stop();
    ADD_FAILURE() << "it did not say so";
  } catch (const RuntimeFault& fault) {
    EXPECT_STREQ(fault.what(), "recording is stopped, but frames still wait for the disk");
  }
  EXPECT_FALSE(status().recording);
  publish();
  disk_.let_go();
  recorder_->finish();
  EXPECT_THAT(sequences(disk_.file(name)), ElementsAre(1, 2));
  EXPECT_TRUE(disk_.file(name).closed);
}

TEST_F(RecorderTest, AFileThatHoldsNoMoreFramesIsFinishedAtOnce) {
  auto chosen = options();
  chosen.pattern = "r.mat";
  make(chosen);
  open(acquisition_of());
  publish();
  ASSERT_TRUE(all_written());
  EXPECT_EQ(status().frames_recorded, 1U);
  EXPECT_TRUE(disk_.file("r.mat").closed);
  publish();
  recorder_->stop();
  EXPECT_THAT(disk_.order, ElementsAre("r.mat", "r-2.mat"));
}

TEST_F(RecorderTest, StoppingReleasesAPipelineThatIsHeldBack) {
  open_held();
  Sleeper pipeline([&] { publish(4); });
  ASSERT_TRUE(disk_.wait_entered(1));
  ASSERT_TRUE(pipeline.sleeps()) << "of three buffers none is free";
  Sleeper stopper([&] { recorder_->stop(); });
  EXPECT_TRUE(pipeline.returns()) << "while the disk still stands";
  disk_.let_go();
  EXPECT_TRUE(stopper.returns());
  EXPECT_EQ(status().frames_offered, 3U);
  EXPECT_EQ(status().frames_recorded, 3U);
}

TEST_F(RecorderTest, AFrameThatIsWrittenWakesThePipelineThatWaitsForItsBuffer) {
  open_held();
  Sleeper pipeline([&] { publish(4); });
  ASSERT_TRUE(disk_.wait_entered(1));
  ASSERT_TRUE(pipeline.sleeps());
  disk_.let_go(1);
  EXPECT_TRUE(pipeline.returns());
  disk_.let_go();
  recorder_->finish();  // and ends what nothing has woken
  EXPECT_EQ(status().frames_recorded, 4U);
}

TEST_F(RecorderTest, StoppingWaitsForTheFileAndIsWokenOnceItIsClosed) {
  auto chosen = options();
  chosen.wait_limit = endless;
  make(chosen);
  open(acquisition_of());
  disk_.set(&Disk::hold_close, true);
  publish();
  Sleeper stopper([&] { recorder_->stop(); });
  ASSERT_TRUE(disk_.wait_closing(1));
  ASSERT_TRUE(stopper.sleeps()) << "the file is open";
  disk_.set(&Disk::hold_close, false);
  EXPECT_TRUE(stopper.returns());
  EXPECT_TRUE(disk_.file(name).closed);
  recorder_->finish();  // and ends what nothing has woken
}

TEST_F(RecorderTest, AFailingDiskEndsTheRecordingAloneAndSaysWhy) {
  disk_.hold();
  disk_.fail_at = 1;
  make(options());
  open(acquisition_of());
  publish(3);
  disk_.let_go();
  // The file is given up once the frames behind the bad one are counted.
  ASSERT_TRUE(all_written());
  EXPECT_FALSE(status().recording);
  EXPECT_THAT(status().fault, HasSubstr("the disk is full"));
  publish(2);
  EXPECT_EQ(status().frames_recorded, 1U);
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 4, 0, 0}));
  const std::string second = recorder_->start();
  EXPECT_TRUE(status().recording);
  publish();
  recorder_->stop();
  EXPECT_EQ(status().fault, "");
  EXPECT_EQ(status().frames_recorded, 2U);
  EXPECT_THAT(sequences(disk_.file(second)), ElementsAre(6));
}

TEST_F(RecorderTest, fault_RecorderGoesOnInANewFileWhenDescriptorsAreBack) {
  // It judges each object that is called by way of a pipe.
  if (ECHOFORM_ADDRESS_SANITIZER) GTEST_SKIP() << "the sanitizer of undefined behaviour wants descriptors itself";
  recorder_ = std::make_unique<Recorder>(options(), "[recorder]");
  open(acquisition_of());
  const auto publish_one = [&] {
    publish();
    ASSERT_TRUE(all_written());
  };
  publish_one();
  recorder_->stop();  // and gives its file's descriptor back
  recorder_->start();
  const CapturedLog log;
  {
    const testing_support::FewDescriptors none(0);
    publish_one();
    publish_one();
    EXPECT_TRUE(status().recording) << "it waits for descriptors";
  }
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 0, 0, 2}));
  publish_one();
  recorder_->stop();
  EXPECT_EQ(status().frames_recorded, 2U);
  EXPECT_EQ(status().fault, "");
  EXPECT_EQ(open_recording(status().file)->frames(), 1U);
  const std::string lines = log.text();
  EXPECT_THAT(lines, HasSubstr("recording pauses until a file can be opened: "));
  EXPECT_EQ(lines.find("recording pauses"), lines.rfind("recording pauses")) << "one line";
  EXPECT_THAT(lines, HasSubstr("2 frames were left out for lack of file descriptors"));
}

/// A recording whose stop() has not waited for the disk: one frame of it is with the disk, `waiting` more behind it, and another
/// recording has begun.
class OldRun : public RecorderTest {
 protected:
  ~OldRun() override {
    disk_.set(&Disk::hold_close, false);
    disk_.let_go();
    recorder_.reset();  // while its log is there
  }
  void begin(std::size_t waiting, std::chrono::nanoseconds flush_interval = {}) {
    auto chosen = options();
    chosen.waiting_frames = 6;
    chosen.wait_limit = std::chrono::nanoseconds(1);
    chosen.flush_interval = flush_interval;
    make(chosen);
    open(acquisition_of());
    disk_.hold();
    publish(1 + waiting);
    ASSERT_TRUE(disk_.wait_entered(1));
    EXPECT_THROW(recorder_->stop(), RuntimeFault);
    ASSERT_EQ(recorder_->start("second.mfmc"), "second.mfmc");
  }
  /// Whose only frame is number `sequence`.
  void expect_the_new_one_to_go_on(std::uint64_t sequence) {
    EXPECT_TRUE(status().recording);
    EXPECT_EQ(status().fault, "");
    recorder_->finish();
    EXPECT_EQ(status().fault, "");
    EXPECT_THAT(sequences(disk_.file("second.mfmc")), ElementsAre(sequence));
    EXPECT_TRUE(disk_.file("second.mfmc").closed);
    EXPECT_THAT(log_.text(), Not(HasSubstr("recording ends")));
  }

  const CapturedLog log_;
};

TEST_F(OldRun, AFrameOfItThatCannotBeWrittenEndsNoNewOne) {
  disk_.fail_at = 0;
  begin(2);
  publish();
  disk_.let_go();
  ASSERT_TRUE(all_written());
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 3, 0, 0})) << "those behind it are of the same recording";
  EXPECT_THAT(log_.text(), HasSubstr("error: a recording that was stopped: held file: the disk is full"));
  expect_the_new_one_to_go_on(4);
  EXPECT_EQ(status().frames_recorded, 1U);
  EXPECT_EQ(disk_.order.size(), 2U) << "its file, and the new one's";
}

TEST_F(OldRun, ItsFileThatCannotBeClosedEndsNoNewOne) {
  begin(1);
  publish();
  disk_.set(&Disk::fail_close, true);
  disk_.let_go(2);
  ASSERT_TRUE(disk_.wait_entered(3)) << "its file is closed before the new one's frame is written";
  disk_.set(&Disk::fail_close, false);
  disk_.let_go();
  ASSERT_TRUE(all_written());
  EXPECT_EQ(status().frames_not_recorded, NotRecordedCounts{});
  EXPECT_EQ(status().frames_recorded, 3U);
  EXPECT_THAT(log_.text(), HasSubstr("error: a recording that was stopped: held file: no close"));
  expect_the_new_one_to_go_on(3);
}

TEST_F(OldRun, ItsFileThatIsClosedLateAndCannotBeEndsNoNewOne) {
  auto chosen = options();
  chosen.wait_limit = std::chrono::nanoseconds(1);
  make(chosen);
  open(acquisition_of());
  publish();
  ASSERT_TRUE(all_written());
  disk_.set(&Disk::hold_close, true);
  disk_.set(&Disk::fail_close, true);
  EXPECT_THROW(recorder_->stop(), RuntimeFault);
  ASSERT_TRUE(disk_.wait_closing(1));
  recorder_->start("second.mfmc");
  publish();
  disk_.set(&Disk::hold_close, false);
  ASSERT_TRUE(disk_.wait_entered(2));
  disk_.set(&Disk::fail_close, false);
  ASSERT_TRUE(all_written());
  EXPECT_EQ(status().frames_recorded, 2U);
  EXPECT_THAT(log_.text(), HasSubstr("error: a recording that was stopped: held file: no close"));
  expect_the_new_one_to_go_on(2);
}

TEST_F(OldRun, ItsFileIsClosedThoughNoFrameOfTheNewOneComes) {
  begin(1);
  disk_.let_go();
  {
    std::unique_lock lock(disk_.mutex);
    ASSERT_TRUE(disk_.changed.wait_for(lock, patience, [&] { return disk_.files.contains(name) && disk_.files[name].closed; }));
  }
  publish();
  ASSERT_TRUE(all_written());
  expect_the_new_one_to_go_on(3);
}

TEST_F(OldRun, ItsFileThatCannotBeForcedToTheDiskEndsNoNewOne) {
  begin(0, std::chrono::nanoseconds(1));
  disk_.set(&Disk::fail_flush, true);
  disk_.let_go();
  {
    std::unique_lock lock(disk_.mutex);
    ASSERT_TRUE(disk_.changed.wait_for(lock, patience, [&] { return !disk_.order.empty() && disk_.files[name].flushes > 0; }));
    disk_.fail_flush = false;
  }
  publish();
  ASSERT_TRUE(all_written());
  EXPECT_EQ(status().frames_recorded, 2U);
  EXPECT_THAT(log_.text(), HasSubstr("error: a recording that was stopped: held file: no flush"));
  expect_the_new_one_to_go_on(2);
}

TEST_F(RecorderTest, AFaultOfItsOwnIsSaidOnceAsTheEndOfTheRecording) {
  const CapturedLog log;
  disk_.fail_at = 0;
  make(options());
  open(acquisition_of());
  publish();
  ASSERT_TRUE(all_written());
  EXPECT_FALSE(status().recording);
  EXPECT_THAT(log.text(), HasSubstr("error: recording ends: held file: the disk is full\n"));
  EXPECT_EQ(status().fault, "held file: the disk is full");
  recorder_.reset();  // logs no more
}

TEST_F(RecorderTest, FramesThatAreMissedForLackOfDescriptorsAreCountedBySpellAndRecording) {
  const CapturedLog log;
  make(options());
  open(acquisition_of());
  const auto publish_each = [&](std::size_t frames, bool files) {
    disk_.set(&Disk::no_descriptors, !files);
    for (std::size_t k = 0; k < frames; ++k) {
      publish();
      ASSERT_TRUE(all_written());
    }
  };
  const auto times_said = [&](std::string_view line) {
    const std::string text = log.text();
    std::size_t times = 0;
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++times;
    return times;
  };
  constexpr std::string_view pauses = "error: recording pauses until a file can be opened: held file: no descriptors";
  publish_each(2, false);
  EXPECT_TRUE(status().recording) << "it waits for descriptors";
  EXPECT_EQ(times_said(pauses), 1U);
  recorder_->stop();
  // Those two are not the next recording's, which says anew that it pauses.
  recorder_->start();
  publish_each(3, false);
  EXPECT_EQ(times_said(pauses), 2U);
  publish_each(2, true);
  EXPECT_EQ(times_said("frames were left out for lack of file descriptors"), 1U);
  EXPECT_EQ(times_said(": 3 frames were left out for lack of file descriptors"), 1U);
  // A spell that begins later counts for itself.
  open(acquisition_of(9));
  publish_each(1, false);
  EXPECT_EQ(times_said(pauses), 3U);
  publish_each(1, true);
  EXPECT_EQ(times_said(": 1 frames were left out for lack of file descriptors"), 1U);
  recorder_->stop();
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 0, 0, 6}));
  EXPECT_EQ(status().frames_recorded, 3U);
  EXPECT_EQ(status().fault, "");
  // One that suffices from the start has nothing to say.
  recorder_->start();
  publish_each(1, false);
  recorder_->stop();
  recorder_->start();
  publish_each(1, true);
  recorder_->stop();
  EXPECT_EQ(times_said("frames were left out"), 2U);
  recorder_.reset();  // logs no more
}

TEST_F(RecorderTest, RoomIsLeftOnTheDisk) {
  auto chosen = options();
  chosen.files.min_free_bytes = std::uint64_t{1} << 60;
  make(chosen);
  open(acquisition_of());
  publish(2);
  recorder_->stop();
  EXPECT_THAT(status().fault, HasSubstr("shall stay free"));
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 2, 0, 0}));
  EXPECT_TRUE(disk_.order.empty());
}

TEST_F(RecorderTest, StartIsRefusedWhereTheDiskHasNoRoom) {
  auto chosen = options();
  chosen.at_start = false;
  chosen.files.min_free_bytes = std::uint64_t{1} << 60;
  make(chosen);
  open(acquisition_of());
  expect_throw<RuntimeFault>([&] { recorder_->start(); }, "shall stay free");
  EXPECT_FALSE(status().recording);
  publish(2);
  EXPECT_EQ(status().frames_offered, 0U);
}

TEST_F(RecorderTest, StartIsRefusedWhereTheDiskTakesNothing) {
  auto chosen = options();
  chosen.at_start = false;
  make(chosen);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit nothing{0, before.rlim_max};  // stands in for a full disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  expect_throw<RuntimeFault>([&] { recorder_->start(); }, "cannot be written");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status().recording);
  EXPECT_EQ(scratch_.files(), 0U) << "nothing is left of the trial";
  recorder_->start();
  EXPECT_TRUE(status().recording);
}

TEST_F(RecorderTest, NamesThatAreTooLongAreFoundAtOnce) {
  auto chosen = options();
  chosen.at_start = false;
  chosen.pattern = std::string(250, 'r') + ".mfmc";
  expect_throw<InputError>([&] { make(chosen); }, "[recorder] file: ");
  chosen.pattern = "{name}-{time}.mfmc";
  chosen.name = std::string(250, 's');  // of the stream
  expect_throw<InputError>([&] { make(chosen); }, "a file name of 279 bytes; expected at most 223");
  chosen.name = "echoform";
  make(chosen);
  expect_throw<InputError>([&] { recorder_->start(std::string(240, 'r') + ".mfmc"); },
                           "a file name of 252 bytes; expected at most 223");
  EXPECT_FALSE(status().recording);
  // The longest that will do is written in fact.
  const std::string longest = std::string(223 - 7 - 5, 'r') + ".mfmc";
  recorder_ = std::make_unique<Recorder>(chosen, "[recorder]");
  recorder_->start(longest);
  open(acquisition_of());
  publish();
  recorder_->stop();
  EXPECT_EQ(status().fault, "");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / longest));
}

TEST_F(RecorderTest, AnotherAcquisitionBeginsAnotherFile) {
  make(options());
  open(acquisition_of());
  publish();
  open(acquisition_of());  // the imaging changed, or the sender came back
  publish();
  ASSERT_TRUE(all_written());
  open(acquisition_of(9));
  publish();
  recorder_->stop();
  ASSERT_THAT(disk_.order, ElementsAre(name, "echoform-20260314T092653Z-2.mfmc"));
  EXPECT_THAT(sequences(disk_.file(disk_.order[0])), ElementsAre(1, 2));
  EXPECT_TRUE(disk_.file(disk_.order[0]).closed);
  EXPECT_EQ(disk_.file(disk_.order[1]).acquisition, acquisition_of(9));
}

TEST_F(RecorderTest, SendersThatChangeFasterThanTheDiskTakeNoFurtherMemory) {
  disk_.hold();
  make(options());
  open(acquisition_of());
  publish(2);
  open(acquisition_of(16));
  publish(2);  // no buffers of this size before the first sender's frames are written
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{2, 0, 0, 0}));
  disk_.let_go();
  ASSERT_TRUE(all_written());
  publish(2);
  recorder_->stop();
  EXPECT_THAT(sequences(disk_.file(name)), ElementsAre(1, 2));
  EXPECT_THAT(sequences(disk_.file("echoform-20260314T092653Z-2.mfmc")), ElementsAre(5, 6));
}

TEST_F(RecorderTest, FilesEndAtTheirLimitsAndTheOldestIsDeleted) {
  auto chosen = options();
  chosen.files.frames_per_file = 2;
  chosen.files.keep_files = 2;
  chosen.pattern = "r.mfmc";
  chosen.waiting_frames = 8;
  make(chosen);
  open(acquisition_of());
  publish(7);
  recorder_->stop();
  // The first name is free again once its file is deleted.
  EXPECT_THAT(disk_.order, ElementsAre("r.mfmc", "r-2.mfmc", "r-3.mfmc", "r.mfmc"));
  EXPECT_EQ(scratch_.files(), 2U);
  EXPECT_THAT(sequences(disk_.file("r-3.mfmc")), ElementsAre(5, 6));
}

TEST_F(RecorderTest, BytesAreALimitToo) {
  auto chosen = options();
  chosen.files.bytes_per_file = 3 * acquisition_of().frame_bytes() - 1;
  chosen.waiting_frames = 8;
  make(chosen);
  open(acquisition_of());
  publish(4);
  recorder_->stop();
  ASSERT_EQ(disk_.order.size(), 2U);
  EXPECT_THAT(sequences(disk_.file(disk_.order[0])), ElementsAre(1, 2));
}

TEST_F(RecorderTest, IsStartedAndStoppedWhileFramesCome) {
  auto chosen = options();
  chosen.at_start = false;
  make(chosen);
  open(acquisition_of());
  publish(2);
  EXPECT_EQ(status().frames_offered, 0U);
  recorder_->start("first.mfmc");
  publish(2);
  EXPECT_THROW(recorder_->start(), InputError);
  recorder_->stop();
  recorder_->stop();
  publish();
  const std::string second = recorder_->start();
  publish();
  recorder_->stop();
  EXPECT_THAT(sequences(disk_.file("first.mfmc")), ElementsAre(3, 4));
  EXPECT_THAT(sequences(disk_.file(second)), ElementsAre(6));
  EXPECT_EQ(status().frames_offered, 3U);
  for (const char* const bad : {"../up.mfmc", "/etc/x.mfmc", "noend", "x.{what}.mfmc", "x.txt"}) {
    EXPECT_THROW(recorder_->start(bad), InputError) << bad;
    EXPECT_FALSE(status().recording);
  }
}

TEST_F(RecorderTest, WhatTheFormatCannotHoldIsCounted) {
  make(options());
  open(acquisition_of(8, MatrixKind::half_summed));
  publish(2);
  EXPECT_EQ(status().frames_not_recorded, (NotRecordedCounts{0, 0, 2, 0}));
  open(acquisition_of());
  publish();
  recorder_->stop();
  EXPECT_EQ(status().frames_recorded, 1U);
}

TEST_F(RecorderTest, ForcesFilesToTheDisk) {
  auto chosen = options();
  chosen.flush_interval = std::chrono::nanoseconds(1);
  make(chosen);
  open(acquisition_of());
  publish();
  {
    std::unique_lock lock(disk_.mutex);
    ASSERT_TRUE(disk_.changed.wait_for(lock, patience, [&] { return !disk_.order.empty() && disk_.files[name].flushes > 0; }));
    disk_.fail_flush = true;
  }
  publish();
  ASSERT_TRUE(eventually([&] { return !status().fault.empty(); }));
  EXPECT_FALSE(status().recording);
  recorder_->stop();
}

TEST_F(RecorderTest, AFileThatCannotBeClosedIsSaid) {
  disk_.fail_close = true;
  make(options());
  open(acquisition_of());
  publish();
  recorder_->stop();
  EXPECT_THAT(status().fault, HasSubstr("no close"));
}

TEST_F(RecorderTest, AllocatesNothingForAFrame) {
  make(options());
  open(acquisition_of());
  disk_.hold();  // the disk's own thread may allocate
  publish();
  ASSERT_TRUE(disk_.wait_entered(1));
  const std::uint64_t before = allocations();
  publish(4);
  const std::uint64_t after = allocations();
  disk_.let_go();
  if (!counts_allocations()) GTEST_SKIP() << "sanitizers bring an allocator of their own";
  EXPECT_EQ(after, before);
}

TEST(RecorderOptionsTest, AreCheckedAtOnce) {
  const Scratch scratch;
  RecorderOptions options;
  const auto message = [&] { return input_error([&] { Recorder(options, "scan.toml: [recorder]"); }); };
  options.files.folder = scratch / "absent";
  EXPECT_THAT(message(), HasSubstr("scan.toml: [recorder] folder: "));
  EXPECT_THAT(message(), HasSubstr("expected an existing directory"));
  options.files.folder = scratch / "";
  options.pattern = "{name}.dat";
  EXPECT_EQ(message(), fmt::format("scan.toml: [recorder] file: found \"{{name}}.dat\"; expected a file that ends in {}",
                                   fmt::join(frame_file_extensions(), ", ")));
  options.pattern = "{nam}.mfmc";
  EXPECT_EQ(message(), "scan.toml: [recorder] file: found \"{nam}.mfmc\"; expected {name} and {time} alone in braces");
  options.pattern = "a/{name}.mfmc";
  EXPECT_THAT(message(), HasSubstr("expected a name without a folder"));
  for (const char* bad : {"a\n.mfmc", "a\x1b[2J.mfmc", "a\x7f.mfmc"}) {
    options.pattern = bad;
    EXPECT_THAT(message(), HasSubstr("expected a name without control characters"));
  }
  EXPECT_EQ(file_name_of("{name}-{time}.mfmc", "a/b", pi_day), "a-b-20260314T092653Z.mfmc");
}

}  // namespace
}  // namespace echoform::test
