// How many bytes libzmq reads of a connection. It reads all that comes, on a thread of its own, before anybody learns of it: its
// options limit single messages alone, and who watches the connection beside it is too late where the processors are busy. So the
// limit is kept where libzmq reads: it calls the C library's recv(), in whose place the one of this file's source is called.
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
/// So many more of the burst, as long as no more than all of it are left; nothing where there are no limits.
void allow_receive(int descriptor, std::uint64_t bytes) noexcept;
/// The same of those between messages: as many as the message had that was taken.
void allow_between_messages(int descriptor, std::uint64_t bytes) noexcept;
/// Ends the limits.
void unlimit_receive(int descriptor) noexcept;

}  // namespace echoform
