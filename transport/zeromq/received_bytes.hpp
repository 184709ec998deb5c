#pragma once

#include <cstdint>
#include <optional>

namespace echoform {

/// Bytes that the peer of a TCP connection has sent so far; nothing where the system does not report them.
[[nodiscard]] std::optional<std::uint64_t> received_bytes(int descriptor) noexcept;

/// The part of received_bytes() that was read here, without bytes that wait in the system's buffer.
[[nodiscard]] std::optional<std::uint64_t> read_bytes(int descriptor) noexcept;

}  // namespace echoform
