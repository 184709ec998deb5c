// A signal ends a command between pieces of work that are done whole, before the next is begun.
#include "apps/stop_signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace echoform::test {
namespace {

/// Whether the thread that takes signals sleeps; with none pending it waits for the work.
bool signal_thread_sleeps() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "signals") continue;
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    return line.at(line.rfind(')') + 2) == 'S';
  }
  return false;
}

bool is_pending(int signal) {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

[[noreturn]] void work_on_after_a_signal() {
  const HeldSignals held;
  end_by_signals(held);
  {
    const UnbrokenWork first;
    ::kill(::getpid(), SIGTERM);
    while (is_pending(SIGTERM) || !signal_thread_sleeps()) ::usleep(100);
  }
  const UnbrokenWork second;
  ::_exit(3);
}

TEST(UnbrokenWorkDeathTest, IsNotBegunOnceASignalWaitsForItsEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int time = 0; time < 5; ++time) EXPECT_EXIT(work_on_after_a_signal(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace echoform::test
