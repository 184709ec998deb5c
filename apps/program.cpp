#include "apps/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/log.hpp"
#include "apps/text_output.hpp"
#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "base/terminal_text.hpp"

namespace echoform {
namespace {

// Exit codes of every sub-command.
constexpr int run_failed = 1;   // the input was valid but the run failed
constexpr int input_wrong = 2;  // an option, a file, a key or a message is invalid

/// Uses one heap for all threads. Otherwise each thread would have its own heap, which keeps the largest memory that an engine or
/// a recording ever allocated through it. Over months of changed settings that looks like a leak. Frames do not allocate from the
/// heap, so no thread queues for it. Blocks of a megabyte and more, of which engines consist, come from the system and return to
/// it. By default the heap would absorb such blocks once it has seen some freed, and smaller blocks between them would then keep
/// it from shrinking.
void share_one_heap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

/// Opens closed standard files. If standard input, output or error is closed, the next file or connection would take its
/// descriptor, and receive output that is meant for people.
void open_standard_files() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", O_RDWR));  // takes the lowest free number, which is this one
  }
}

void fail(std::string_view line) {
  standard_error().write(fmt::format("echoform: {}\n", terminal_text(line, LineBreaks::replaced)));
}

/// Adds the limits to an error about a thread that cannot be started: the system reports only that it may be tried again.
std::string with_limits(std::string line) {
  const bool of_a_thread = line.find(std::strerror(EAGAIN)) != std::string::npos;
  return of_a_thread && line.find("ulimit") == std::string::npos ? line + ": limits on threads or memory (ulimit -u, ulimit -v)"
                                                                 : line;
}

/// A limit on the size of files becomes an error of the file, which is then not left half-written.
void outlive_full_files() {
  std::signal(SIGXFSZ, SIG_IGN);
}

/// A command that runs until it is stopped must not end when the other end of a connection, or of standard error, closes.
void outlive_peers() {
  std::signal(SIGPIPE, SIG_IGN);
}

/// Called after a signal: output then stops waiting for its readers within Log::patience.
void hurry() {
  const auto end = std::chrono::steady_clock::now() + Log::patience;
  standard_output().give_up_at(end);
  standard_error().give_up_at(end);
}

/// Reports that a command was ended before its result was complete.
void say_interrupted(int signal) {
  fail(fmt::format("ended by SIG{} before it was done", ::sigabbrev_np(signal)));
}

/// Reports errors in what a main() registers before run_program() with the same line and exit code as later errors. For other
/// causes of termination, the previous handler is called.
class BeforeTheRun {
 public:
  BeforeTheRun() : before_(std::set_terminate(&end)) {}
  /// From here on, run_program() catches exceptions.
  void over() { std::set_terminate(before_); }

 private:
  [[noreturn]] static void end() noexcept;

  std::terminate_handler before_;
};

// The object exists from when the program is loaded, since main() begins with no function of ours.
BeforeTheRun before_the_run;

[[noreturn]] void BeforeTheRun::end() noexcept {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      fail(error.what());
      std::_Exit(input_wrong);
    } catch (const RuntimeFault& fault) {
      fail(fault.what());
      std::_Exit(run_failed);
    } catch (...) {
    }
  }
  before_the_run.before_();
  std::abort();
}

int parse_and_run(int argc, char** argv, const HeldSignals& held) {
  CLI::App app{"Echoform turns array ultrasound into images while it is being acquired.", "echoform"};
  app.set_version_flag("--version", "echoform " ECHOFORM_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.footer("Try `echoform demo`, then `echoform COMMAND --help`. Exit codes: 0 done, 1 the run failed, 2 wrong input.");

  const std::map<std::string, spdlog::level::level_enum> levels{{"debug", spdlog::level::debug},
                                                                {"info", spdlog::level::info},
                                                                {"warning", spdlog::level::warn},
                                                                {"error", spdlog::level::err},
                                                                {"off", spdlog::level::off}};
  std::string level = "info";
  app.add_option("--log-level", level, "What is logged on standard error: debug, info, warning, error, off")
      ->check(CLI::IsMember(levels))
      ->option_text("LEVEL (info)");

  std::map<const CLI::App*, std::pair<const Command*, Action>> actions;
  for (const Command& command : commands()) {
    CLI::App* options = app.add_subcommand(std::string(command.name), std::string(command.summary));
    options->footer(std::string("\n") + std::string(command.details));
    options->get_formatter()->column_width(34);
    actions[options] = {&command, command.define(*options)};
  }

  try {
    app.parse(argc, argv);
  } catch (const InputError&) {
    held.release();
    throw;
  } catch (const CLI::Success& answer) {  // --help, --version
    held.release();
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    held.release();
    const auto chosen = app.get_subcommands();
    // Unknown arguments are reported first: a misspelt option also leaves the correct one missing.
    for (const std::string& word : app.remaining(true)) {
      if (chosen.empty() || word.starts_with("--")) {
        fail(fmt::format("found \"{}\", which echoform{} does not know (see `echoform {}--help`)", word,
                         chosen.empty() ? "" : " " + chosen.front()->get_name(),
                         chosen.empty() ? "" : chosen.front()->get_name() + " "));
        return input_wrong;
      }
    }
    fail(fmt::format("{} (see `echoform {}--help`)", error.what(), chosen.empty() ? "" : chosen.front()->get_name() + " "));
    return input_wrong;
  }

  const auto& [command, action] = actions.at(app.get_subcommands().front());
  const bool makes_a_result = command->signal_end != SignalEnd::in_order;
  std::optional<EndBySignals> end_by_signals;
  outlive_full_files();
  if (command->lasts()) {
    outlive_peers();
    watch_signals(held, makes_a_result ? run_failed : 0, [makes_a_result](bool at_once, int signal) {
      hurry();
      if (!at_once) return;
      finish_log();
      if (makes_a_result) say_interrupted(signal);
    });
  } else {
    end_by_signals.emplace(held, run_failed, [](int signal) {
      hurry();
      say_interrupted(signal);
    });
  }
  const Log log(standard_error(), on_terminal(), command->lasts() ? LogMode::bounded : LogMode::whole, levels.at(level));
  return action();
}

}  // namespace

int run_program(int argc, char** argv) {
  before_the_run.over();
  share_one_heap();
  open_standard_files();
  raise_descriptor_limit();
  const HeldSignals held;
  try {
    return parse_and_run(argc, argv, held);
  } catch (const InputError& error) {
    fail(error.what());
    return input_wrong;
  } catch (const std::bad_alloc&) {
    fail("out of memory");
    return run_failed;
  } catch (const std::exception& error) {  // including RuntimeFault
    fail(with_limits(error.what()));
    return run_failed;
  }
}

}  // namespace echoform
