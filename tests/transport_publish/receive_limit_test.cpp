// How much libzmq's threads read of a connection, and that others read what they like.
#include "transport/zeromq/receive_limit.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

namespace echoform {
namespace {

class ReceiveLimit : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    const std::string text(1000, 'x');
    ASSERT_EQ(::send(ends_[1], text.data(), text.size(), 0), 1000);
  }
  ~ReceiveLimit() override {
    unlimit_receive(ends_[0]);
    for (const int end : ends_) ::close(end);
  }

  /// What recv() returns on a thread of this name; an error as its negative number.
  [[nodiscard]] long receive(const char* thread = "ZMQbg/IO/0", std::size_t size = 64) const {
    long outcome = 0;
    std::thread([&] {
      ::pthread_setname_np(::pthread_self(), thread);
      std::array<char, 2000> bytes{};
      outcome = ::recv(ends_[0], bytes.data(), size, 0);
      if (outcome < 0) outcome = -errno;
    }).join();
    return outcome;
  }
  [[nodiscard]] int descriptor() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(ReceiveLimit, NoneIsThereByItself) {
  EXPECT_EQ(receive("ZMQbg/IO/0", 2000), 1000);
  EXPECT_EQ(receive(), -EAGAIN);
}

TEST_F(ReceiveLimit, EndsTheConnectionThatSendsMoreAtOnce) {
  limit_receive(descriptor(), {.burst = 100, .between_messages = 1'000'000});
  EXPECT_EQ(receive(), 64);
  EXPECT_EQ(receive(), 36);
  EXPECT_EQ(receive(), -ECONNRESET);
  EXPECT_EQ(receive(), 64) << "the next connection with this descriptor has no limit of its predecessor's";
}

TEST_F(ReceiveLimit, AllowsMoreInTime) {
  limit_receive(descriptor(), {.burst = 100, .between_messages = 1'000'000});
  EXPECT_EQ(receive(), 64);
  allow_receive(descriptor(), 20);
  EXPECT_EQ(receive(), 56);
  allow_receive(descriptor(), 1'000'000);
  EXPECT_EQ(receive("ZMQbg/IO/0", 2000), 100) << "no more than all of it";
  EXPECT_EQ(receive(), -ECONNRESET);
  allow_receive(descriptor(), 10);
  EXPECT_EQ(receive(), 64) << "the limit has ended";
}

TEST_F(ReceiveLimit, EndsTheConnectionWhoseMessagesAreNotTaken) {
  limit_receive(descriptor(), {.burst = 1'000'000, .between_messages = 70});
  EXPECT_EQ(receive(), 64);
  allow_between_messages(descriptor(), 60);
  EXPECT_EQ(receive("ZMQbg/IO/0", 2000), 66);
  EXPECT_EQ(receive(), -ECONNRESET);
}

TEST_F(ReceiveLimit, IsOfItsConnectionAloneNotOfTheNextWithItsDescriptor) {
  limit_receive(descriptor(), {.burst = 10, .between_messages = 10});
  std::array<int, 2> next{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, next.data()), 0);
  const std::string text(100, 'y');
  ASSERT_EQ(::send(next[1], text.data(), text.size(), 0), 100);
  ASSERT_EQ(::dup2(next[0], descriptor()), descriptor());
  EXPECT_EQ(receive("ZMQbg/IO/0", 100), 100);
  for (const int end : next) ::close(end);
}

TEST_F(ReceiveLimit, IsForThreadsOfLibzmqAlone) {
  limit_receive(descriptor(), {.burst = 10, .between_messages = 10});
  EXPECT_EQ(receive("acquisition-io"), 64);
  EXPECT_EQ(receive(), 10);
}

}  // namespace
}  // namespace echoform
