#include "apps/text_output.hpp"

#include <sys/socket.h>

#include <csignal>
#include <thread>

#include "tests/apps/descriptors.hpp"

namespace echoform::test {
namespace {

TEST(TextOutput, WaitsForAReaderAndLosesNothing) {
  const Pipe pipe;
  TextOutput output(pipe.writer.number());
  const std::string text(100'000, 'x');
  std::string got;
  std::jthread reader([&] { got = pipe.read(text.size()); });
  EXPECT_TRUE(output.write(text));
  reader.join();
  EXPECT_EQ(got, text);
  EXPECT_TRUE(pipe.blocks()) << "its flags are other processes' too";
}

TEST(TextOutput, NoReaderHoldsItOncePatienceEnds) {
  const Pipe pipe;
  pipe.fill();
  TextOutput output(pipe.writer.number());
  // The writer waits by now or will find patience ended: both end it.
  std::jthread end([&] { output.give_up_at(std::chrono::steady_clock::now()); });
  EXPECT_FALSE(output.write("nobody reads this"));
  EXPECT_FALSE(output.write("nor this"));
}

TEST(TextOutput, AfterPatienceThereMayStillBeRoom) {
  const Pipe pipe;
  TextOutput output(pipe.writer.number());
  output.give_up_at(std::chrono::steady_clock::now());
  EXPECT_TRUE(output.write("a line\n"));
  EXPECT_EQ(pipe.read(7), "a line\n");
}

TEST(TextOutput, PatienceOnlyEndsSooner) {
  const Pipe pipe;
  pipe.fill();
  TextOutput output(pipe.writer.number());
  output.give_up_at(std::chrono::steady_clock::now());
  output.give_up_at(std::chrono::steady_clock::now() + std::chrono::hours(1));
  EXPECT_FALSE(output.write("lost"));
}

TEST(TextOutput, AReaderThatHasGoneIsNoExceptionAndNoSignal) {
  std::signal(SIGPIPE, SIG_IGN);  // as commands do that last
  Pipe pipe;
  TextOutput output(pipe.writer.number());
  EXPECT_TRUE(output.write("read by nobody"));
  pipe.reader.close();
  EXPECT_FALSE(output.write("lost"));
}

TEST(TextOutput, AFullDiskIsNoException) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  TextOutput output(full.number());
  EXPECT_FALSE(output.write("lost"));
}

TEST(TextOutput, AClosedDescriptorIsNoException) {
  Pipe pipe;
  const int number = pipe.writer.number();
  pipe.writer.close();
  TextOutput output(number);
  EXPECT_FALSE(output.write("lost"));
}

// As systemd gives to services.
TEST(TextOutput, ASocketIsNotWaitedForEither) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor here(ends[0]), there(ends[1]);
  TextOutput output(here.number());
  output.give_up_at(std::chrono::steady_clock::now());
  const std::string piece(4096, 'x');
  std::size_t taken = 0;
  while (output.write(piece)) ++taken;
  EXPECT_GT(taken, 0U);
  EXPECT_FALSE(output.write(piece));
}

}  // namespace
}  // namespace echoform::test
