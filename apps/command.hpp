// What a sub-command of the program is.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace echoform {

/// Runs a sub-command once its options are known, and returns the exit code. main() handles its InputError and RuntimeFault.
using Action = std::function<int()>;

/// How a command ends at a signal that asks for an end (SIGINT, SIGTERM, SIGHUP). In every case the exit code states whether
/// the requested result exists.
enum class SignalEnd : std::uint8_t {
  of_a_result,           ///< it makes a result, which is incomplete: it ends at once with code 1, and leaves nothing half-written
  of_a_result_in_order,  ///< the same, but after it has saved a state from which it can go on
  in_order,              ///< it runs until a signal: code 0
};

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, as `echoform --help` lists it
  std::string_view details;  ///< what it does and an example, below its own --help
  /// Adds the options and returns the action, which finds them filled in.
  Action (*define)(CLI::App& options);
  SignalEnd signal_end = SignalEnd::of_a_result;

  /// Whether the command ends in order, and does not wait for a reader of its output. Other commands end when all of their
  /// output is read.
  [[nodiscard]] bool lasts() const noexcept { return signal_end != SignalEnd::of_a_result; }
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
