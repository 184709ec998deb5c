// The whole program as one function: a program with methods, surfaces, views, delay laws, sources or sinks of its own gets
// every command by it.
#pragma once

namespace echoform {

/// What `echoform` does with these arguments: `image`, `serve`, `demo` and the other commands. Returns the exit code: 0 done, 1
/// the run failed, 2 wrong input; a fault is one line on standard error. Once a process, after whatever the program registers
/// (add_method(), add_surface_kind(), add_view_kind(), add_delay_law(), add_source_door(), add_sink_door(), which throw
/// InputError for a name that is taken; where main() does not catch it, that too is one line and 2), and before other threads: it
/// sets the process's heap and log.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace echoform
