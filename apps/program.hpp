// The whole program as one function, so that a program with surfaces, views or delay laws of its own has every command.
#pragma once

namespace echoform {

/// What `echoform` does with these arguments: `image`, `serve`, `demo` and the other commands. Returns the exit code: 0 done, 1
/// the run failed, 2 wrong input; a fault is one line on standard error. Once a process, after whatever the program registers
/// (add_surface_kind(), add_view_kind(), add_delay_law(), which throw InputError for a name that is taken), and before other
/// threads: it sets the process's heap and log. What frames come in by and images go out by is not registered: doors are lines of
/// apps/doors.cpp.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace echoform
