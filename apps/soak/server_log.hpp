// The server's standard error during a soak: read into a file, or left unread for a while, as a log's reader that hangs would.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace echoform::soak {

class ServerLog {
 public:
  /// RuntimeFault if `file` cannot be written.
  explicit ServerLog(std::filesystem::path file);
  /// Reads what is there and no more: whoever still holds the other end is not waited for.
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  /// The descriptor that the server writes to. Close it here, by close_writing_end(), once the server has it.
  [[nodiscard]] int writing_end() const { return writing_end_; }
  void close_writing_end();

  /// Stops reading and fills the pipe, so that nothing more can be written to it until resume().
  void leave_unread();
  void resume();
  /// Lines that were read until now and have this text.
  [[nodiscard]] std::size_t count(std::string_view text) const;
  /// Waits, not for long, until everything that was written has been read: the server has ended. Then the last line, or
  /// "no word of it".
  [[nodiscard]] std::string last_line();

 private:
  void run();
  void wake();
  void fill() const;

  const std::filesystem::path path_;
  int file_ = -1;
  int reading_end_ = -1;
  int writing_end_ = -1;
  int wake_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool unread_ = false;
  bool idle_ = false;
  bool stopping_ = false;
  bool ended_ = false;
  std::jthread thread_;
};

/// Leaves the log unread for as long as it lives.
class UnreadLog {
 public:
  explicit UnreadLog(ServerLog& log) : log_(log) { log_.leave_unread(); }
  ~UnreadLog() { log_.resume(); }
  UnreadLog(const UnreadLog&) = delete;
  UnreadLog& operator=(const UnreadLog&) = delete;

 private:
  ServerLog& log_;
};

}  // namespace echoform::soak
