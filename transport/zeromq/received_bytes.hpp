#pragma once

#include <cstdint>
#include <optional>

namespace echoform {

/// Bytes that the peer of a TCP connection has sent so far; nothing where the system does not report them.
[[nodiscard]] std::optional<std::uint64_t> received_bytes(int descriptor) noexcept;

/// Of these, the bytes that were read here, without those that wait in the system's buffer.
[[nodiscard]] std::optional<std::uint64_t> read_bytes(int descriptor) noexcept;

}  // namespace echoform
