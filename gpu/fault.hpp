// The end of a process whose GPU is lost: after a sticky error no call of CUDA succeeds any more in this process.
#pragma once

#include <string_view>

namespace echoform::gpu {

/// Prints one line, "echoform: GPU fault: LINE", on standard error and ends the process with exit code 1, without running
/// destructors that would wait for the device. Any thread may call it; the first caller wins. It does not wait long: if
/// standard error is not read, the line is lost.
[[noreturn]] void end_process(std::string_view line) noexcept;

}  // namespace echoform::gpu
