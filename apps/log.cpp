#include "apps/log.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "apps/text_output.hpp"
#include "base/terminal_text.hpp"

namespace echoform {
namespace {

constexpr std::string_view status_name = "status";
constexpr std::string_view line_pattern = "%H:%M:%S.%e %^%l%$ %v";
// The colours of spdlog, for the levels trace to off.
constexpr std::array<std::string_view, spdlog::level::n_levels> colours_of_levels{
    "\033[37m", "\033[36m", "\033[32m", "\033[33m\033[1m", "\033[31m\033[1m", "\033[1m\033[41m", "\033[m"};
constexpr std::string_view no_colour = "\033[m";

/// Writes the lines of the log, and the status line between them, to one output.
class OutputSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  OutputSink(TextOutput& output, bool colours) : output_(output), colours_(colours) {
    formatter_ = std::make_unique<spdlog::pattern_formatter>(std::string(line_pattern));
  }

  /// Counts a line that was lost before it reached this sink. A reader that sees the count knows that nothing of that line is
  /// being written any more.
  void count_lost() noexcept { lost_.fetch_add(1, std::memory_order_release); }
  [[nodiscard]] std::uint64_t lost() const noexcept {
    const std::lock_guard lock(pool_mutex_);
    // The log's own thread must not be the last owner of the pool. So the pool is held only under the mutex, which watch() locks.
    const auto pool = pool_.lock();
    return lost_.load(std::memory_order_acquire) + (pool != nullptr ? pool->overrun_counter() : 0);
  }
  /// Sets the pool whose queue may lose lines, too. Null: the pool is about to end, and the lines that it has lost stay counted.
  void watch(const std::shared_ptr<spdlog::details::thread_pool>& pool) noexcept {
    const std::lock_guard lock(pool_mutex_);
    if (const auto last = pool_.lock()) lost_.fetch_add(last->overrun_counter(), std::memory_order_release);
    pool_ = pool;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    tell_lost();
    if (!put(message)) count_lost();
  }
  void flush_() override {}

  // Reports the lost lines in their place.
  void tell_lost() {
    const std::uint64_t lost = this->lost();
    if (lost == told_ || !spdlog::should_log(spdlog::level::warn)) return;
    const std::string text =
        fmt::format("{} lines of the log were left out here: standard error did not take them", lost - told_);
    if (put(spdlog::details::log_msg("", spdlog::level::warn, text))) told_ = lost;
  }

  [[nodiscard]] bool put(const spdlog::details::log_msg& message) {
    if (std::string_view(message.logger_name.data(), message.logger_name.size()) == status_name) {
      return output_.write({message.payload.data(), message.payload.size()});
    }
    // Text that a peer or a file has put into a line must neither control the terminal nor start another line.
    const std::string text = terminal_text({message.payload.data(), message.payload.size()}, LineBreaks::replaced);
    spdlog::details::log_msg clean = message;
    clean.payload = text;
    line_.clear();
    formatter_->format(clean, line_);
    const std::string_view plain(line_.data(), line_.size());
    if (!colours_ || clean.color_range_end <= clean.color_range_start) return output_.write(plain);
    const std::size_t begin = clean.color_range_start, end = clean.color_range_end;
    return output_.write(fmt::format("{}{}{}{}{}", plain.substr(0, begin), colours_of_levels[message.level],
                                     plain.substr(begin, end - begin), no_colour, plain.substr(end)));
  }

  TextOutput& output_;
  const bool colours_;
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t told_ = 0;
  spdlog::memory_buf_t line_;
  mutable std::mutex pool_mutex_;
  std::weak_ptr<spdlog::details::thread_pool> pool_;
};

/// Exceptions that spdlog's own loggers throw in spite of their error handlers (out of memory, a queue that has ended) count as
/// one more lost line.
class SilentLogger final : public spdlog::logger {
 public:
  SilentLogger(std::string name, std::shared_ptr<spdlog::logger> inner, std::shared_ptr<OutputSink> counted)
      : spdlog::logger(std::move(name)), inner_(std::move(inner)), counted_(std::move(counted)) {
    // The default handler writes to standard error, and may block there.
    const auto count = [lost = counted_](const std::string&) { lost->count_lost(); };
    inner_->set_error_handler(count);
    set_error_handler(count);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    try {
      inner_->log(message.time, message.source, message.level, message.payload);
    } catch (const std::exception&) {
      counted_->count_lost();
    }
  }
  void flush_() override {}

  const std::shared_ptr<spdlog::logger> inner_;
  const std::shared_ptr<OutputSink> counted_;
};

}  // namespace

struct Log::State {
  State(TextOutput& to, bool colours) : output(to), sink(std::make_shared<OutputSink>(to, colours)) {}

  // The logger passes lines to the pool's thread; without a pool it writes on the caller's thread.
  [[nodiscard]] std::shared_ptr<spdlog::logger> make_logger(std::string name, spdlog::level::level_enum level) const {
    std::shared_ptr<spdlog::logger> inner;
    if (pool != nullptr) {
      inner = std::make_shared<spdlog::async_logger>(name, sink, pool, spdlog::async_overflow_policy::overrun_oldest);
    } else {
      inner = std::make_shared<spdlog::logger>(name, sink);
    }
    inner->set_level(spdlog::level::trace);
    auto logger = std::make_shared<SilentLogger>(std::move(name), std::move(inner), sink);
    logger->set_level(level);
    return logger;
  }

  TextOutput& output;
  const std::shared_ptr<OutputSink> sink;
  std::mutex mutex;
  std::shared_ptr<spdlog::details::thread_pool> pool;  // guarded by the mutex
  std::promise<void> ended;                            // set by the pool's thread
  std::shared_ptr<spdlog::logger> status;
};

namespace {

std::mutex present_mutex;
std::shared_ptr<Log::State> present;  // guarded by present_mutex

std::shared_ptr<Log::State> present_log() noexcept {
  const std::lock_guard lock(present_mutex);
  return present;
}

void write_to(Log::State& log, std::string_view text) noexcept {
  log.status->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

void finish_state(Log::State& state) noexcept {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  {
    const std::lock_guard lock(state.mutex);
    pool = std::exchange(state.pool, nullptr);
  }
  if (pool == nullptr) return;
  const auto end = std::chrono::steady_clock::now() + Log::patience;
  state.output.give_up_at(end);
  state.sink->watch(nullptr);
  try {
    // The end of the pool waits for its thread, which may hang in the system: on a disk of another machine, or in a pipe that
    // another process has filled meanwhile. Then both are left until the end of the process.
    auto ended = state.ended.get_future();
    std::thread([last = std::move(pool)]() mutable { last.reset(); }).detach();
    ended.wait_until(end + std::chrono::milliseconds(100));
  } catch (const std::exception&) {
    // There is no thread or no memory, and no place left to report that.
  }
}

}  // namespace

Log::Log(TextOutput& output, bool colours, LogMode mode, spdlog::level::level_enum level)
    : state_(std::make_shared<State>(output, colours)) {
  if (mode == LogMode::bounded) {
    const auto begin = [] { pthread_setname_np(pthread_self(), "log"); };
    state_->pool =
        std::make_shared<spdlog::details::thread_pool>(queue_lines, 1, begin, [state = state_] { state->ended.set_value(); });
    state_->sink->watch(state_->pool);
  }
  state_->status = state_->make_logger(std::string(status_name), spdlog::level::info);
  spdlog::set_default_logger(state_->make_logger("echoform", level));
  const std::lock_guard lock(present_mutex);
  present = state_;
}

Log::~Log() {
  finish();
  const std::lock_guard lock(present_mutex);
  if (present == state_) present.reset();
}

void Log::finish() noexcept {
  finish_state(*state_);
}

void Log::write(std::string_view text) noexcept {
  write_to(*state_, text);
}

std::uint64_t Log::dropped() const noexcept {
  return state_->sink->lost();
}

void write_status(std::string_view text) noexcept {
  if (const auto log = present_log()) return write_to(*log, text);
  standard_error().write(text);
}

void finish_log() noexcept {
  if (const auto log = present_log()) finish_state(*log);
}

std::uint64_t log_lines_dropped() noexcept {
  const auto log = present_log();
  return log != nullptr ? log->sink->lost() : 0;
}

}  // namespace echoform
