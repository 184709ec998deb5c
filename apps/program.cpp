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
constexpr int run_failed = 1;   // the input was right and the run failed all the same
constexpr int input_wrong = 2;  // an option, a file, a key or a message is wrong

/// One heap for all threads. Each thread would otherwise have its own, and keep the most that an engine or a recording ever took
/// through it: over months of changed settings that looks like a leak. Frames take nothing from the heap, so nobody queues for
/// it. Blocks of a megabyte and more, which engines are made of, are the system's own and go back to it: left to itself, the heap
/// takes them in once it has seen some freed, and what lies between them holds its end up.
void share_one_heap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

/// Where standard input, output or error is closed, the next file or connection that is opened would take its place, and get what
/// is meant for people.
void open_standard_files() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", O_RDWR));  // takes the lowest number, which is this
  }
}

void fail(std::string_view line) {
  standard_error().write(fmt::format("echoform: {}\n", terminal_text(line, LineBreaks::replaced)));
}

/// Of a thread that cannot be started the system says no more than that it may be tried again.
std::string with_limits(std::string line) {
  const bool of_a_thread = line.find(std::strerror(EAGAIN)) != std::string::npos;
  return of_a_thread && line.find("ulimit") == std::string::npos ? line + ": limits on threads or memory (ulimit -u, ulimit -v)"
                                                                 : line;
}

/// A limit on the size of files is an error of the file, which is then not left half-written.
void outlive_full_files() {
  std::signal(SIGXFSZ, SIG_IGN);
}

/// What a command that runs until it is told to end shall not end by: the other end of a connection, or of standard error, that
/// goes.
void outlive_peers() {
  std::signal(SIGPIPE, SIG_IGN);
}

/// Once a signal has come, nobody is waited for any more.
void hurry() {
  const auto end = std::chrono::steady_clock::now() + Log::patience;
  standard_output().give_up_at(end);
  standard_error().give_up_at(end);
}

/// For a command whose result is not there.
void say_interrupted(int signal) {
  fail(fmt::format("ended by SIG{} before it was done", ::sigabbrev_np(signal)));
}

/// What a main() registers before run_program() and gets wrong ends with the same line and code as what is found later. Anything
/// else that ends the program goes on to whoever was asked before.
class BeforeTheRun {
 public:
  BeforeTheRun() : before_(std::set_terminate(&end)) {}
  /// From here on run_program() catches.
  void over() { std::set_terminate(before_); }

 private:
  [[noreturn]] static void end() noexcept;

  std::terminate_handler before_;
};

BeforeTheRun before_the_run;  // from when the program is loaded: main() begins with no function of ours

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
    // What was not understood is said first: a misspelt option also leaves the right one missing.
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
  } catch (const std::exception& error) {  // RuntimeFault among them
    fail(with_limits(error.what()));
    return run_failed;
  }
}

}  // namespace echoform
