// What keeps files and libraries from doing harm: trials in a process of their own, files that appear whole.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <new>

#include "base/sanitizers.hpp"
#include "formats/atomic_file.hpp"
#include "formats/guarded_trial.hpp"
#include "tests/formats/scratch.hpp"

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
  EXPECT_EQ(::poll(&closed, 1, 20'000), 1) << "the trial is still there";
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

TEST(GuardedTrial, IsTriedAgainWhereASanitizersLockWasHeldWhenItBegan) {
  if constexpr (!ECHOFORM_ADDRESS_SANITIZER && !ECHOFORM_THREAD_SANITIZER) {
    GTEST_SKIP() << "no sanitizer: the C library's locks are free in a child";
  }
  // Of both processes: how many trials have begun.
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const begun = new (shared) std::atomic<int>(0);
  formats::try_in_child("x.mfmc", [&] {
    if (begun->fetch_add(1) == 0) {
      for (;;) ::pause();  // as if for a lock that nobody holds any more
    }
  });
  EXPECT_EQ(*begun, 2);
  ::munmap(shared, sizeof(std::atomic<int>));
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

}  // namespace
}  // namespace echoform::test
