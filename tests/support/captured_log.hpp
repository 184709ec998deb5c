// What the program logs while this lives, as text; nothing of it is printed.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace echoform::test {

/// One at a time. The default logger is exchanged once, before main() and its threads: spdlog::set_default_logger() frees a
/// logger that other threads may be using.
class CapturedLog {
 public:
  CapturedLog() { sink_->begin(); }
  ~CapturedLog() { sink_->end(); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  /// "warning: TEXT\n" ... Other threads may write at the same time.
  [[nodiscard]] std::string text() const { return sink_->text(); }

 private:
  /// Keeps the text while somebody captures; otherwise passes it on to the sinks that were there before.
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    explicit Sink(std::vector<spdlog::sink_ptr> before) : before_(std::move(before)) { set_pattern("%l: %v"); }

    void begin() {
      const std::lock_guard lock(mutex_);
      if (captures_) throw std::logic_error("one CapturedLog at a time");
      captures_ = true;
      text_.clear();
    }
    void end() {
      const std::lock_guard lock(mutex_);
      captures_ = false;
    }
    [[nodiscard]] std::string text() {
      const std::lock_guard lock(mutex_);
      return text_;
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      if (!captures_) {
        for (const auto& other : before_) other->log(message);
        return;
      }
      spdlog::memory_buf_t line;
      formatter_->format(message, line);
      text_.append(line.data(), line.size());
    }
    void flush_() override {
      for (const auto& other : before_) other->flush();
    }

    std::vector<spdlog::sink_ptr> before_;
    std::string text_;
    bool captures_ = false;
  };

  static std::shared_ptr<Sink> install() {
    auto sink = std::make_shared<Sink>(spdlog::default_logger()->sinks());
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
    return sink;
  }

  inline static const std::shared_ptr<Sink> sink_ = install();
};

}  // namespace echoform::test
