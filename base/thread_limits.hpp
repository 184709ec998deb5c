// Threads and memory that a library takes by itself; it ends the program if they are missing.
#pragma once

#include <cstddef>
#include <string_view>

namespace echoform {

/// Threads that a ZeroMQ context starts, and memory that it and a few sockets take, with a margin. libzmq ends the program
/// if one of its threads cannot be started.
inline constexpr std::size_t threads_of_a_context = 2;
inline constexpr std::size_t bytes_of_a_context = std::size_t{16} << 20;

/// Throws RuntimeFault, naming `what`, unless `threads` more can be started, all at once, and `bytes` more of memory can be
/// mapped: a limit on either (ulimit -u, ulimit -v) is reported here, in one line.
void require_threads_and_memory(std::size_t threads, std::size_t bytes, std::string_view what);

}  // namespace echoform
