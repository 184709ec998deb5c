// What a sub-command of the program is.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace echoform {

/// What a sub-command does once its options are known; returns the exit code. InputError and RuntimeFault are for main().
using Action = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, as `echoform --help` lists it
  std::string_view details;  ///< what it does and an example, below its own --help
  /// Adds the options and returns the action, which finds them filled in.
  Action (*define)(CLI::App& options);
  /// Runs until it is told to end, and waits for nobody who does not read what it writes. Others end by a signal as any program
  /// does, and when all that they have to say is read.
  bool lasts = false;
  /// Ends by a signal, but not while a file is written (UnbrokenWork).
  bool writes_whole = false;
};

/// All sub-commands, in the order of `echoform --help`.
[[nodiscard]] const std::vector<Command>& commands();

// One a file.
[[nodiscard]] Action define_demo(CLI::App& options);
[[nodiscard]] Action define_serve(CLI::App& options);
[[nodiscard]] Action define_simulate(CLI::App& options);
[[nodiscard]] Action define_instrument(CLI::App& options);
[[nodiscard]] Action define_replay(CLI::App& options);
[[nodiscard]] Action define_control(CLI::App& options);
[[nodiscard]] Action define_view(CLI::App& options);
[[nodiscard]] Action define_record(CLI::App& options);
[[nodiscard]] Action define_capture(CLI::App& options);
[[nodiscard]] Action define_inspect(CLI::App& options);
[[nodiscard]] Action define_convert(CLI::App& options);
[[nodiscard]] Action define_image(CLI::App& options);
[[nodiscard]] Action define_reconstruct(CLI::App& options);
[[nodiscard]] Action define_plan(CLI::App& options);
[[nodiscard]] Action define_bench(CLI::App& options);
[[nodiscard]] Action define_soak(CLI::App& options);
[[nodiscard]] Action define_keygen(CLI::App& options);
[[nodiscard]] Action define_info(CLI::App& options);

}  // namespace echoform
