#include "apps/log.hpp"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <thread>

#include "apps/text_output.hpp"
#include "tests/apps/descriptors.hpp"
#include "tests/support/eventually.hpp"

namespace echoform::test {
namespace {

using testing::HasSubstr;

/// finish() waits for the log's thread only so long, and that may be slower: it holds the output, which the test is about to end.
void await_dropped(const Log& log, std::uint64_t count) {
  ASSERT_TRUE(eventually([&] { return log.dropped() >= count; }));
}

class LogTest : public testing::Test {
 protected:
  // The default log is the process's: as it was, for tests that come after.
  void TearDown() override { spdlog::set_default_logger(before_); }

  static std::size_t lines_of(const std::string& text, const std::string& with) {
    std::istringstream in(text);
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) count += line.find(with) != std::string::npos ? 1U : 0U;
    return count;
  }
  /// The sum over the lines that say how many were left out.
  static std::uint64_t told_left_out(const std::string& text) {
    std::istringstream in(text);
    std::uint64_t sum = 0;
    for (std::string line; std::getline(in, line);) {
      const auto at = line.find(" warning ");
      if (at != std::string::npos && line.find("lines of the log were left out here") != std::string::npos) {
        sum += std::strtoull(line.c_str() + at + 9, nullptr, 10);
      }
    }
    return sum;
  }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(LogTest, LinesAndTheStatusLineComeInOrder) {
  for (const LogMode mode : {LogMode::whole, LogMode::bounded}) {
    const Pipe pipe;
    TextOutput output(pipe.writer.number());
    {
      const Log log(output, false, mode, spdlog::level::info);
      spdlog::info("first");
      write_status("status\n");
      spdlog::warn("second {}", 2);
      spdlog::debug("below the level");
    }
    const std::string text = pipe.read_until("second 2\n");
    EXPECT_THAT(text, testing::MatchesRegex("[0-9:.]+ info first\nstatus\n[0-9:.]+ warning second 2\n"));
    EXPECT_EQ(log_lines_dropped(), 0U);
  }
}

TEST_F(LogTest, ColoursAreThoseOfTheLevel) {
  const Pipe pipe;
  TextOutput output(pipe.writer.number());
  const Log log(output, true, LogMode::whole, spdlog::level::info);
  spdlog::error("it");
  EXPECT_THAT(pipe.read_until("it\n"), HasSubstr(" \033[31m\033[1merror\033[m it\n"));
}

// The whole of the first item: whoever logs goes on, what does not fit is counted exactly, and a line says so once somebody
// reads.
TEST_F(LogTest, NobodyReadsAndWhoeverLogsGoesOn) {
  const Pipe pipe;
  const std::size_t dots = pipe.fill();
  TextOutput output(pipe.writer.number());
  Log log(output, false, LogMode::bounded, spdlog::level::info);
  const std::size_t lines = 3 * Log::queue_lines;
  for (std::size_t k = 0; k < lines; ++k) spdlog::info("line {}", k);
  // All but those in the queue and the one at the pipe, which the log's thread may not have taken yet.
  const std::uint64_t dropped = log.dropped();
  EXPECT_GE(dropped, lines - Log::queue_lines - 1);
  EXPECT_LE(dropped, lines - Log::queue_lines);
  EXPECT_EQ(log_lines_dropped(), dropped);

  const std::string text = pipe.read_until("line " + std::to_string(lines - 1) + "\n").substr(dots);
  EXPECT_EQ(lines_of(text, " info line "), lines - dropped);
  EXPECT_EQ(told_left_out(text), dropped) << text.substr(0, 500);
  spdlog::info("and on");
  EXPECT_THAT(pipe.read_until("and on\n"), testing::Not(HasSubstr("left out")));
}

TEST_F(LogTest, NobodyReadsAndItEnds) {
  const Pipe pipe;
  pipe.fill();
  TextOutput output(pipe.writer.number());
  std::uint64_t dropped = 0;
  {
    Log log(output, false, LogMode::bounded, spdlog::level::info);
    for (int k = 0; k < 10; ++k) spdlog::info("line {}", k);
    log.finish();
    await_dropped(log, 10);
    dropped = log.dropped();
    spdlog::info("after the end");
    EXPECT_EQ(log.dropped(), dropped + 1);
  }
  EXPECT_EQ(dropped, 10U);
}

TEST_F(LogTest, NobodyElseWhoWaitsHoldsItsEnd) {
  const Pipe pipe;
  TextOutput output(pipe.writer.number());
  auto log = std::make_unique<Log>(output, false, LogMode::bounded, spdlog::level::info);
  pipe.fill();
  std::jthread holder([&] { output.write("hangs"); });
  spdlog::info("waits behind it");
  log.reset();
  SUCCEED();
}

TEST_F(LogTest, AFullDiskIsCountedLineByLine) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  TextOutput output(full.number());
  Log log(output, false, LogMode::bounded, spdlog::level::info);
  for (int k = 0; k < 7; ++k) spdlog::info("line {}", k);
  write_status("status\n");
  log.finish();
  await_dropped(log, 8);
  EXPECT_EQ(log.dropped(), 8U);
}

TEST_F(LogTest, TheReaderHasGone) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  TextOutput output(pipe.writer.number());
  Log log(output, false, LogMode::bounded, spdlog::level::info);
  pipe.reader.close();
  for (int k = 0; k < 7; ++k) spdlog::info("line {}", k);
  log.finish();
  await_dropped(log, 7);
  EXPECT_EQ(log.dropped(), 7U);
}

// A command that ends by itself has said everything once it has ended, however slow its reader is.
TEST_F(LogTest, AWholeLogIsReadToItsEnd) {
  const Pipe pipe;
  TextOutput output(pipe.writer.number());
  std::string text;
  std::jthread reader([&] { text = pipe.read_until("line 2999\n"); });
  {
    Log log(output, false, LogMode::whole, spdlog::level::info);
    for (int k = 0; k < 3000; ++k) spdlog::info("line {}", k);
    EXPECT_EQ(log.dropped(), 0U);
  }
  reader.join();
  EXPECT_EQ(lines_of(text, " info line "), 3000U);
}

TEST_F(LogTest, ManyThreadsAreCountedExactly) {
  const Pipe pipe;
  pipe.fill();
  TextOutput output(pipe.writer.number());
  Log log(output, false, LogMode::bounded, spdlog::level::info);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int k = 0; k < 1000; ++k) spdlog::info("thread {} line {}", t, k);
      });
    }
  }
  log.finish();
  await_dropped(log, 4000);
  EXPECT_EQ(log.dropped(), 4000U) << "nobody ever read one";
}

}  // namespace
}  // namespace echoform::test
