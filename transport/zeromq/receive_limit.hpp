// Limits how many bytes libzmq reads of a connection. libzmq reads all that comes, on a thread of its own, before other code
// learns of it. Its options limit only single messages, and a watch on the same connection is too late where the processors
// are busy. So the limit is enforced where libzmq reads: libzmq calls the C library's recv(), which the source of this file
// replaces by its own.
#pragma once

#include <cstdint>

namespace echoform {

struct ReceiveLimits {
  std::uint64_t burst = 0;             ///< bytes at once; allow_receive() adds to what is left of them
  std::uint64_t between_messages = 0;  ///< bytes that may wait to be taken; allow_between_messages() adds to what is left of them
};

/// Limits how many bytes libzmq reads from now on of the connection with this descriptor. Beyond that, reading fails as if
/// the peer had gone, and libzmq closes the connection, which ends the limits. Any thread may call the functions of this
/// file; none of them waits.
void limit_receive(int descriptor, const ReceiveLimits& limits) noexcept;
/// Allows `bytes` more of the burst, up to the whole burst. Does nothing where there are no limits.
void allow_receive(int descriptor, std::uint64_t bytes) noexcept;
/// Allows `bytes` more between messages: the length of the message that was taken.
void allow_between_messages(int descriptor, std::uint64_t bytes) noexcept;
/// Ends the limits.
void unlimit_receive(int descriptor) noexcept;

}  // namespace echoform
