// The check sum of OpenIGTLink messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echoform::openigtlink {

/// CRC-64/ECMA-182 (polynomial 0x42F0E1EBA9EA3693, most significant bit first, initial value 0, no final exclusive-or). The
/// sum of "123456789" is 0x6C40DF5F0B497347. `before` is the sum of the preceding bytes, so that parts may be summed one
/// after the other.
[[nodiscard]] std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before = 0) noexcept;

}  // namespace echoform::openigtlink
