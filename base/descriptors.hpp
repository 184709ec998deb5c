// File descriptors: how many the program may have, and how many connections leave for other uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/errors.hpp"

namespace echoform {

/// Descriptors that connections to the control endpoint leave: for files of the recorder, of control and of the GPU's
/// driver.
inline constexpr std::size_t descriptors_for_files = 32;
/// Descriptors that connections to the other endpoints leave: those for files, and those for clients that control the
/// server.
inline constexpr std::size_t descriptors_for_control = descriptors_for_files + 64;
/// The minimum with which a server starts: its own descriptors and those that its connections leave, with a margin.
inline constexpr std::size_t descriptors_of_a_server = 96 + descriptors_for_control;

/// Descriptors that a ZeroMQ context takes with a few sockets. libzmq ends the program if one of them is missing.
inline constexpr std::size_t descriptors_of_a_context = 24;

/// Raises the soft limit to the hard one, if the system permits it.
void raise_descriptor_limit() noexcept;
/// The soft limit in force.
[[nodiscard]] std::size_t descriptor_limit() noexcept;
/// Whether fewer than `left` descriptors were left when this one was handed out: the system hands out the lowest that is free.
[[nodiscard]] bool fewer_descriptors_left(int newest, std::size_t left) noexcept;
/// No descriptor is left; the operation that failed may succeed a moment later.
class DescriptorShortage : public RuntimeFault {
 public:
  using RuntimeFault::RuntimeFault;
};
/// Throws `line`, the message for a system call that set errno to `error`: as DescriptorShortage if that error means so,
/// else as RuntimeFault.
[[noreturn]] void throw_system_fault(int error, const std::string& line);

/// Throws RuntimeFault, naming `what`, unless `count` more descriptors are available.
void require_descriptors(std::size_t count, std::string_view what);

}  // namespace echoform
