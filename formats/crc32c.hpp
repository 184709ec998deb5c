// CRC-32C (Castagnoli), as fast as the processor allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echoform::formats {

/// Polynomial 0x1EDC6F41, reflected, initial value and final exclusive-or 0xFFFFFFFF; of "123456789" it is 0xE3069283.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same by table, whatever the processor; what crc32c() is compared with.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace echoform::formats
