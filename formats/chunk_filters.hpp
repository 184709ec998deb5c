// What chunks of HDF5 datasets are packed by, undone here: deflate (zlib), byte shuffling and Fletcher's checksum. HDF5 1.10 does
// not compare what comes of unpacking with the size of a chunk, and hands on the memory behind one that is shorter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echoform::formats {

enum class ChunkFilterKind : unsigned char { deflate, shuffle, fletcher32 };

struct ChunkFilter {
  ChunkFilterKind kind;
  /// Bytes of a number, at least 1; for shuffling only. The first bytes of all numbers come first, then the second ones, and
  /// so on; a remainder smaller than a number stays at the end.
  std::size_t number_bytes = 1;
};

/// Filters of a dataset that one chunk can have been spared by bits of a 32-bit mask.
inline constexpr std::size_t max_chunk_filters = 32;

class ChunkUnpacker {
 public:
  /// `filters` in the order in which chunks of `chunk_bytes` went through them; at most max_chunk_filters.
  ChunkUnpacker(std::vector<ChunkFilter> filters, std::size_t chunk_bytes);

  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  /// Bytes of memory that unpacking takes besides the packed chunk and the unpacked one, at most.
  [[nodiscard]] std::size_t working_bytes() const noexcept;
  /// Whether so many bytes can come to a chunk at all: deflate packs 1032 bytes into one at best, and adds few at worst.
  [[nodiscard]] bool may_hold_chunk(std::uint64_t packed_bytes) const noexcept;
  /// Unpacks all of a chunk into `to`, which has chunk_bytes(). Filters whose bit is set in `skipped` (from bit 0 on) were not
  /// applied. Returns what was found where that is not a whole chunk, of which `to` then has some; else an empty text.
  [[nodiscard]] std::string unpack(std::span<const std::byte> packed, std::uint32_t skipped, std::span<std::byte> to);

 private:
  [[nodiscard]] bool applied(std::size_t filter, std::uint32_t skipped) const noexcept { return (skipped >> filter & 1U) == 0; }
  /// Number of bytes that went into a filter; behind more than one deflate it is an upper bound. `exact` is set accordingly.
  [[nodiscard]] std::size_t bytes_before(std::size_t filter, std::uint32_t skipped, bool& exact) const noexcept;

  std::vector<ChunkFilter> filters_;
  std::size_t chunk_bytes_;
  std::array<std::vector<std::byte>, 2> work_;  // between filters
};

/// Fletcher's checksum as HDF5 computes it: of 16-bit words, high byte first, an odd last byte as a high one.
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept;

}  // namespace echoform::formats
