// A signal ends a command that makes something: nothing half-made stays, and the code says that the result is not there.
#include "apps/stop_signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_path.hpp"

namespace echoform::test {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / ("echoform_stop_signals_" + name);
}

void make_file(const std::filesystem::path& path) {
  std::ofstream(path) << "half";
}

[[noreturn]] void work_on(int signal) {
  const HeldSignals held;
  const EndBySignals end(held, 1, [](int taken) { std::fprintf(stderr, "ended by %d", taken); });
  const TemporaryPath file(scratch("file"));
  make_file(scratch("file"));
  const TemporaryPath folder(scratch("folder"));
  std::filesystem::create_directory(scratch("folder"));
  make_file(scratch("folder") / "within");
  const TemporaryPath others(scratch("others"), [] { return false; });
  ::kill(::getpid(), signal);
  for (;;) ::pause();
}

TEST(EndBySignalsDeathTest, RemovesWhatIsHalfMadeAndEndsWithTheCode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  make_file(scratch("others"));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_EXIT(work_on(signal), ::testing::ExitedWithCode(1), "ended by " + std::to_string(signal));
    EXPECT_FALSE(std::filesystem::exists(scratch("file")));
    EXPECT_FALSE(std::filesystem::exists(scratch("folder")));
    EXPECT_TRUE(std::filesystem::exists(scratch("others"))) << "not made here";
  }
  std::filesystem::remove(scratch("others"));
}

[[noreturn]] void make_one_more_after_a_signal() {
  const HeldSignals held;
  const EndBySignals end(held, 1, [](int /*taken*/) {
    // Whoever works has had all the time in the world.
    for (int look = 0; look < 200; ++look) ::usleep(100);
  });
  ::kill(::getpid(), SIGTERM);
  for (;;) {
    const TemporaryPath path(scratch("late"));
    if (!std::ofstream(scratch("late"))) continue;  // no file is opened any more
    std::filesystem::remove(scratch("late"));
  }
}

TEST(EndBySignalsDeathTest, NothingIsMadeAfterIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int time = 0; time < 20; ++time) {
    EXPECT_EXIT(make_one_more_after_a_signal(), ::testing::ExitedWithCode(1), "");
    EXPECT_FALSE(std::filesystem::exists(scratch("late")));
  }
}

// libzmq's threads poll until the process has ended, and abort it where that is refused.
[[noreturn]] void poll_after_a_signal() {
  std::array<pollfd, 2> places{};
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) ::_exit(3);
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = {pipe[k], POLLIN, 0};
  const HeldSignals held;
  const EndBySignals end(held, 1,
                         [&](int /*taken*/) { std::fprintf(stderr, "polled %d", ::poll(places.data(), places.size(), 0)); });
  const TemporaryPath file(scratch("polled"));
  make_file(scratch("polled"));
  ::kill(::getpid(), SIGTERM);
  for (;;) ::pause();
}

TEST(EndBySignalsDeathTest, OtherThreadsMayStillPoll) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(poll_after_a_signal(), ::testing::ExitedWithCode(1), "polled 0");
}

[[noreturn]] void end_and_take_a_signal() {
  {
    const HeldSignals held;
    const EndBySignals end(held, 1, [](int /*taken*/) { std::fprintf(stderr, "too late"); });
  }
  ::kill(::getpid(), SIGTERM);
  ::_exit(0);
}

TEST(EndBySignalsDeathTest, ASignalBehindTheEndChangesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int time = 0; time < 5; ++time) EXPECT_EXIT(end_and_take_a_signal(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace echoform::test
