// Pipes and files that a test writes to as if they were standard error.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace echoform::test {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) { EXPECT_GE(number, 0); }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// A pipe of the minimum size, 4096 bytes.
struct Pipe {
  Pipe() : Pipe(make()) {}
  Descriptor reader, writer;

  /// What is there now, `at_least` bytes of it, or all that comes before the writers have gone.
  [[nodiscard]] std::string read(std::size_t at_least) const {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.size() < at_least) {
      const ssize_t got = ::read(reader.number(), piece.data(), piece.size());
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  /// Reads until `end` has come.
  [[nodiscard]] std::string read_until(const std::string& end) const {
    std::string text;
    while (text.find(end) == std::string::npos) {
      const std::string more = read(1);
      if (more.empty()) break;
      text += more;
    }
    return text;
  }
  /// Fills the pipe, without changing its flags. Returns the number of bytes that it took.
  std::size_t fill() const {
    const Descriptor own(::open(("/proc/self/fd/" + std::to_string(writer.number())).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    const std::string dots(4096, '.');
    std::size_t total = 0;
    for (std::size_t size = dots.size(); size > 0; size /= 2) {
      for (ssize_t put = 0; (put = ::write(own.number(), dots.data(), size)) > 0;) total += static_cast<std::size_t>(put);
    }
    return total;
  }
  [[nodiscard]] bool blocks() const { return (::fcntl(writer.number(), F_GETFL) & O_NONBLOCK) == 0; }

 private:
  static std::array<int, 2> make() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    EXPECT_GE(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    return ends;
  }
  explicit Pipe(std::array<int, 2> ends) : reader(ends[0]), writer(ends[1]) {}
};

}  // namespace echoform::test
