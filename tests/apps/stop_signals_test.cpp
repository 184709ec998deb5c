// A signal ends a command that makes something: nothing half-made stays, and the code says that the result is not there.
#include "apps/stop_signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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
