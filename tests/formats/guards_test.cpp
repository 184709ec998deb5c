// What keeps files and libraries from doing harm: trials in a process of their own, files that appear whole.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <mutex>
#include <new>
#include <thread>

#include "formats/atomic_file.hpp"
#include "formats/frame_writer.hpp"
#include "formats/guarded_trial.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/patience.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

TEST(GuardedTrial, EndsWithWhoeverWaitsForIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t waiting = ::fork();
  ASSERT_GE(waiting, 0);
  if (waiting == 0) {
    formats::try_in_child("x.mfmc", [&] {
      static_cast<void>(::write(ends[1], "b", 1));
      for (;;) ::pause();
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  char begun = 0;
  ASSERT_EQ(::read(ends[0], &begun, 1), 1);
  ::kill(waiting, SIGKILL);
  ::waitpid(waiting, nullptr, 0);
  pollfd closed{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&closed, 1, static_cast<int>(std::chrono::milliseconds(patience).count())), 1) << "the trial is still there";
  EXPECT_EQ(::read(ends[0], &begun, 1), 0);
  ::close(ends[0]);
}

TEST(GuardedTrial, ALibraryThatSleepsIsGivenUp) {
  const auto trial = [] {
    for (;;) ::pause();
  };
  EXPECT_EQ(input_error([&] { formats::try_in_child("x.mfmc", trial, {.wall_time = std::chrono::milliseconds(20)}); }),
            "x.mfmc: found damage that makes the library stand still; expected a whole file");
}

// A server that starts has threads: one of them holds a lock while the trial's process is made.
TEST(GuardedTrial, IsTriedAgainWhereALockWasHeldWhenItBegan) {
  static std::mutex lock;
  static std::atomic<bool> copied{false};
  copied = false;
  ASSERT_EQ(::pthread_atfork(
                nullptr,
                [] {
                  copied = true;
                  copied.notify_all();
                },
                nullptr),
            0);
  std::promise<void> held;
  std::jthread holder([&] {
    const std::lock_guard hold(lock);
    held.set_value();
    copied.wait(false);
  });
  held.get_future().wait();
  formats::try_in_child("x.mfmc", [] { const std::lock_guard hold(lock); });
}

TEST(AtomicFile, WritesWhatALinkLeadsTo) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "far");
  save(scratch / "far/target", {1});
  std::filesystem::create_symlink("far/target", scratch / "link");
  std::filesystem::create_symlink("link", scratch / "link to link");
  const std::vector<std::byte> bytes(3, std::byte{7});
  write_file(scratch / "link to link", bytes);
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(load(scratch / "far/target"), std::vector<std::uint8_t>(3, 7));
  std::filesystem::create_symlink("far/new", scratch / "hanging");
  write_file(scratch / "hanging", bytes);
  EXPECT_EQ(load(scratch / "far/new"), std::vector<std::uint8_t>(3, 7));
  std::filesystem::create_symlink("circle", scratch / "circle");
  EXPECT_THAT(input_error([&] { write_file(scratch / "circle", bytes); }), HasSubstr("lead in a circle"));
}

/// Where processes that can be told beforehand would put what they write: links to `victim`.
void plant_links(const std::filesystem::path& output, const std::filesystem::path& victim) {
  for (int count = 0; count < 500; ++count) {
    const auto name = fmt::format(".{}.{}-{}.part", output.filename().string(), ::getpid(), count);
    std::filesystem::create_symlink(victim, output.parent_path() / name);
  }
}

TEST(AtomicFile, LinksUnderNamesThatCanBeGuessedAreNotFollowed) {
  const Scratch scratch;
  const auto victim = scratch / "victim";
  save(victim, {1, 2, 3});
  plant_links(scratch / "out.npy", victim);
  write_file(scratch / "out.npy", std::vector<std::byte>(3, std::byte{7}));
  EXPECT_EQ(load(victim), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(load(scratch / "out.npy"), std::vector<std::uint8_t>(3, 7));
}

TEST(AtomicFile, OfAProcessThatIsKilledNothingIsLeft) {
  const Scratch scratch;
  const auto probe = ::open(scratch.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (probe < 0) GTEST_SKIP() << "a file system without files that have no name";
  ::close(probe);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const AtomicFile file(scratch / "out.npy");
    std::ofstream(file.aside()) << "half";
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(AtomicFile, NothingIsLeftOfWhatIsNotCommitted) {
  const Scratch scratch;
  {
    const AtomicFile file(scratch / "out.npy");
    std::ofstream(file.aside()) << "half";
  }
  EXPECT_EQ(scratch.files(), 0U);
  save(scratch / "out.npy", {1});
  EXPECT_THROW(write_stream(scratch / "out.npy", [](std::ostream&) { throw RuntimeFault("no more"); }), RuntimeFault);
  EXPECT_EQ(scratch.files(), 1U);
  EXPECT_EQ(load(scratch / "out.npy"), std::vector<std::uint8_t>{1});
}

TEST(AtomicFile, ARecordingIsNotPutInThePlaceOfAnother) {
  const Scratch scratch;
  Acquisition acquisition;
  acquisition.probe.elements.resize(2);
  acquisition.probe.elements[1].centre.x = Metres(1e-3);
  acquisition.samples = 8;
  acquisition.sample_rate = Hertz(4e7);
  acquisition.encoding = SampleEncoding::float32;
  const std::vector<std::byte> frame(acquisition.frame_bytes());
  for (const std::string& extension : frame_file_extensions()) {
    if (extension == ".hdf5") acquisition.events = {{PassiveEvent{}, {}}};
    const auto path = scratch / ("r" + extension);
    const Acquisition of = extension == ".hdf5" ? acquisition : [&] {
      Acquisition active = acquisition;
      active.events.clear();
      return active;
    }();
    const auto writer =
        make_frame_writer(path, of, {.material = {MetresPerSecond(6000.0), MetresPerSecond(3000.0)}, .whole = true});
    writer->append(std::span(frame).first(of.frame_bytes()));
    save(path, {1, 2, 3});
    EXPECT_EQ(input_error([&] { writer->close(); }),
              fmt::format("{}: found a file that is there already; expected a new one (recordings are not overwritten)",
                          path.string()));
    EXPECT_EQ(load(path), (std::vector<std::uint8_t>{1, 2, 3})) << extension;
  }
}

TEST(AtomicFile, ALinkOfAnotherUserWhereEverybodyWritesIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "makes a link of another user, which root may";
  const Scratch scratch;
  save(scratch / "victim", {1, 2, 3});
  std::filesystem::create_directory(scratch / "shared");
  const auto link = scratch / "shared/out.npy";
  std::filesystem::create_symlink("../victim", link);
  ASSERT_EQ(::lchown(link.c_str(), 4242, 4242), 0);
  ASSERT_EQ(::chmod((scratch / "shared").c_str(), 0777), 0);
  const std::vector<std::byte> bytes(3, std::byte{7});
  write_file(link, bytes);
  EXPECT_EQ(load(scratch / "victim"), std::vector<std::uint8_t>(3, 7)) << "no sticky bit: whoever writes there may do worse";
  save(scratch / "victim", {1, 2, 3});
  ASSERT_EQ(::chmod((scratch / "shared").c_str(), 01777), 0);
  EXPECT_THAT(input_error([&] { write_file(link, bytes); }), HasSubstr("a symbolic link of another user"));
  EXPECT_EQ(load(scratch / "victim"), (std::vector<std::uint8_t>{1, 2, 3}));
  ASSERT_EQ(::lchown(link.c_str(), ::geteuid(), ::getegid()), 0);
  write_file(link, bytes);
  EXPECT_EQ(load(scratch / "victim"), std::vector<std::uint8_t>(3, 7));
}

}  // namespace
}  // namespace echoform::test
