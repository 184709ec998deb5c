// What several sub-commands share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "apps/stop_signals.hpp"
#include "config/configuration.hpp"

// CLI11 is declared by name alone, since its header compiles slowest of all. apps/command.hpp includes it for the
// sub-commands.
namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace echoform {

class Recording;

/// The configuration of a file, or the defaults if `path` is empty.
[[nodiscard]] Configuration configuration_from(const std::string& path);

/// Adds --backend and, in the action, carries its value into the configuration.
void add_backend_option(CLI::App& options, std::string& backend);
/// Empty leaves the configuration as it is. Throws InputError for another word than auto, cpu, cuda or cuda:DEVICE.
void apply_backend_option(const std::string& backend, Configuration& configuration);
/// Replaces "auto" in the configuration by what it comes to on this machine, and logs that in a line, with the reason where it
/// is not the GPU: the machine's, or the method's. Throws as decide_backend() and require_backend(). It may start the GPU.
void settle_backend(Configuration& configuration);

/// A line in the log for each warning of the recording.
void log_warnings(const Recording& recording);

/// A check for options that count. Without it a negative number would wrap round to a huge one.
[[nodiscard]] CLI::Validator whole_number();

/// Milliseconds of `time`, for output that people read.
[[nodiscard]] inline double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Whether standard error is a terminal: only there lines are rewritten and bars drawn.
[[nodiscard]] bool on_terminal();

/// A bar on standard error for work of several steps, where that is a terminal; silent elsewhere.
class ProgressBar {
 public:
  /// `lengths` of the steps, which share the bar as they share the time, as far as that is known beforehand.
  explicit ProgressBar(std::vector<double> lengths);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Begins the next step.
  void step(std::string_view what);
  /// A share of the present step is done, 0 .. 1; drawn ten times a second at most.
  void share(double done, std::string_view what);

 private:
  /// `share` of the present step.
  void draw(double share, std::string_view what);
  std::vector<double> lengths_;
  std::size_t done_ = 0;
  bool started_ = false;
  bool shown_;
  std::chrono::steady_clock::time_point drawn_{};
};

/// A line that is rewritten in place on a terminal and printed anew elsewhere. It stands among the lines of the log, and waits
/// for a reader as they do.
class LiveLine {
 public:
  LiveLine() : terminal_(on_terminal()) {}
  ~LiveLine() { finish(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  void show(std::string_view line);
  /// Moves on to a fresh line.
  void finish();

 private:
  bool terminal_;
  bool open_ = false;
};

}  // namespace echoform
