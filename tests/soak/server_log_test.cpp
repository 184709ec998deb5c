// The log of a server under soak: read into a file, and for a while not.
#include "apps/soak/server_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/errors.hpp"

namespace echoform::soak {
namespace {

class ServerLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / fmt::format("echoform-{}-{}.log", info->name(), ::getpid());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::string contents() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool write(int into, std::string_view text) {
    return ::write(into, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

  std::filesystem::path path_;
};

TEST_F(ServerLogs, AllThatIsWrittenComesIntoTheFile) {
  ServerLog log(path_);
  ASSERT_TRUE(write(log.writing_end(), "one\ntwo\n"));
  log.close_writing_end();
  EXPECT_EQ(log.last_line(), "two");
  EXPECT_EQ(contents(), "one\ntwo\n");
}

TEST_F(ServerLogs, LeftUnreadThereIsNoRoomForALineAndAfterwardsNothingIsMissing) {
  ServerLog log(path_);
  ASSERT_TRUE(write(log.writing_end(), "before\n"));
  {
    const UnreadLog unread(log);
    // A description that does not wait, as the server's own would.
    const int impatient = ::open(fmt::format("/proc/self/fd/{}", log.writing_end()).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(impatient, 0);
    EXPECT_FALSE(write(impatient, "x"));
    EXPECT_EQ(errno, EAGAIN);
    ::close(impatient);
  }
  ASSERT_TRUE(write(log.writing_end(), "after\n"));  // waits until there is room again
  log.close_writing_end();
  EXPECT_EQ(log.last_line(), "after");
  EXPECT_EQ(contents(), "before\nafter\n");
}

TEST_F(ServerLogs, AWriterThatHasGoneLeavesNothingToWaitFor) {
  ServerLog log(path_);
  log.close_writing_end();
  EXPECT_EQ(log.last_line(), "no word of it");
  const UnreadLog unread(log);
}

TEST(ServerLog, AFileThatCannotBeWrittenIsSaid) {
  EXPECT_THROW(ServerLog("/no/such/folder/server.log"), RuntimeFault);
}

}  // namespace
}  // namespace echoform::soak
