#pragma once

#include <cstdint>
#include <optional>

namespace echoform {

/// All bytes that the peer of a TCP connection has sent so far; nothing where the system does not say.
[[nodiscard]] std::optional<std::uint64_t> received_bytes(int descriptor) noexcept;

/// Those of them that were read here: what waits in the system's buffer is not among them.
[[nodiscard]] std::optional<std::uint64_t> read_bytes(int descriptor) noexcept;

}  // namespace echoform
