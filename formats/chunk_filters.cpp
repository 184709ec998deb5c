#include "formats/chunk_filters.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace echoform::formats {
namespace {

constexpr std::size_t checksum_bytes = 4;
constexpr std::uint64_t best_deflation = 1032;  // https://zlib.net/zlib_tech.html

/// Maximum size of `bytes` bytes deflated by any program; zlib itself adds less.
std::size_t deflated_bound(std::size_t bytes) {
  return bytes + bytes / 2 + 1024;
}

/// Inflates one zlib stream into `to`, which must have space for all of its bytes. If `exact`, the bytes must fill `to`;
/// otherwise `to` is cut to their number. Returns an empty string, or a description of what was found instead. Like HDF5, it
/// ignores bytes behind the stream.
std::string inflate_all(std::span<const std::byte> from, std::span<std::byte>& to, bool exact) {
  z_stream zlib{};
  if (inflateInit(&zlib) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& zlib;
    ~End() { inflateEnd(&zlib); }
  } const end{zlib};
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  std::size_t read = 0;
  std::size_t written = 0;
  std::byte none{};
  int status = Z_OK;
  while (status == Z_OK) {
    if (zlib.avail_in == 0) {
      zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + read));
      zlib.avail_in = static_cast<uInt>(std::min(most, from.size() - read));
      read += zlib.avail_in;
    }
    const std::size_t room = std::min(most, to.size() - written);
    zlib.next_out = reinterpret_cast<Bytef*>(room > 0 ? to.data() + written : &none);
    zlib.avail_out = static_cast<uInt>(room);
    status = inflate(&zlib, Z_NO_FLUSH);
    written += room - zlib.avail_out;
  }
  if (status == Z_STREAM_END) {
    if (exact && written != to.size()) return fmt::format("data that inflate to {} bytes", written);
    to = to.first(written);
    return {};
  }
  if (status != Z_BUF_ERROR) return "damaged deflated data";
  if (zlib.avail_in == 0) return "deflated data without their end";
  return fmt::format("data that inflate to more than {} bytes", to.size());
}

template <std::size_t bytes>
void put_together(const std::byte* __restrict from, std::size_t numbers, std::byte* __restrict to) {
  for (std::size_t k = 0; k < numbers; ++k) {
    for (std::size_t b = 0; b < bytes; ++b) to[k * bytes + b] = from[b * numbers + k];
  }
}

void unshuffle(std::span<const std::byte> from, std::size_t number_bytes, std::span<std::byte> to) {
  const std::size_t numbers = number_bytes > 0 ? from.size() / number_bytes : 0;
  // HDF5 leaves these bytes unshuffled.
  if (number_bytes <= 1 || numbers <= 1) {
    std::ranges::copy(from, to.begin());
    return;
  }
  switch (number_bytes) {
    case 2:
      put_together<2>(from.data(), numbers, to.data());
      break;
    case 4:
      put_together<4>(from.data(), numbers, to.data());
      break;
    case 8:
      put_together<8>(from.data(), numbers, to.data());
      break;
    default:
      for (std::size_t b = 0; b < number_bytes; ++b) {
        for (std::size_t k = 0; k < numbers; ++k) to[k * number_bytes + b] = from[b * numbers + k];
      }
  }
  const std::size_t whole = numbers * number_bytes;
  std::ranges::copy(from.subspan(whole), to.begin() + static_cast<std::ptrdiff_t>(whole));
}

std::uint32_t little_endian(std::span<const std::byte, checksum_bytes> bytes) {
  std::uint32_t value = 0;
  for (std::size_t k = bytes.size(); k-- > 0;) value = value << 8 | std::to_integer<std::uint32_t>(bytes[k]);
  return value;
}

/// Files of HDF5 up to 1.6.2 have the two bytes of each 16-bit half of the checksum swapped.
std::uint32_t as_once_written(std::uint32_t sum) {
  return (sum & 0x00FF00FFU) << 8 | (sum >> 8 & 0x00FF00FFU);
}

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t words_at_once = 360;  // the maximum for which two 32-bit sums do not overflow
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xFFFFU) + (sum >> 16); };
  const std::size_t words = bytes.size() / 2;
  for (std::size_t done = 0; done < words;) {
    const std::size_t end = std::min(words, done + words_at_once);
    for (; done < end; ++done) {
      first += std::to_integer<std::uint32_t>(bytes[2 * done]) << 8 | std::to_integer<std::uint32_t>(bytes[2 * done + 1]);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  if (bytes.size() % 2 != 0) {
    first += std::to_integer<std::uint32_t>(bytes.back()) << 8;
    second += first;
    first = fold(first);
    second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

ChunkUnpacker::ChunkUnpacker(std::vector<ChunkFilter> filters, std::size_t chunk_bytes)
    : filters_(std::move(filters)), chunk_bytes_(chunk_bytes) {}

std::size_t ChunkUnpacker::bytes_before(std::size_t filter, std::uint32_t skipped, bool& exact) const noexcept {
  std::size_t bytes = chunk_bytes_;
  exact = true;
  for (std::size_t k = 0; k < filter; ++k) {
    if (!applied(k, skipped)) continue;
    if (filters_[k].kind == ChunkFilterKind::fletcher32) bytes += checksum_bytes;
    if (filters_[k].kind == ChunkFilterKind::deflate) {
      bytes = deflated_bound(bytes);
      exact = false;
    }
  }
  return bytes;
}

std::size_t ChunkUnpacker::working_bytes() const noexcept {
  std::size_t changing = 0;  // filters whose output needs memory of its own
  std::size_t largest = 0;
  for (std::size_t k = 0; k < filters_.size(); ++k) {
    if (filters_[k].kind == ChunkFilterKind::fletcher32) continue;
    bool exact = true;
    if (changing++ > 0) largest = std::max(largest, bytes_before(k, 0, exact));
  }
  return largest * std::min<std::size_t>(work_.size(), changing > 0 ? changing - 1 : 0);
}

bool ChunkUnpacker::may_hold_chunk(std::uint64_t packed_bytes) const noexcept {
  bool exact = true;
  if (packed_bytes > bytes_before(filters_.size(), 0, exact)) return false;
  std::uint64_t most = packed_bytes;
  for (const ChunkFilter& filter : filters_) {
    if (filter.kind != ChunkFilterKind::deflate) continue;
    if (most > std::numeric_limits<std::uint64_t>::max() / best_deflation) return true;
    most *= best_deflation;
  }
  return most >= chunk_bytes_;
}

std::string ChunkUnpacker::unpack(std::span<const std::byte> packed, std::uint32_t skipped, std::span<std::byte> to) {
  std::span<const std::byte> now = packed;
  std::size_t turn = 0;
  for (std::size_t k = filters_.size(); k-- > 0;) {
    if (!applied(k, skipped)) continue;
    if (filters_[k].kind == ChunkFilterKind::fletcher32) {
      if (now.size() < checksum_bytes) return fmt::format("{} bytes where a checksum ends a chunk", now.size());
      const std::uint32_t stated = little_endian(now.last<checksum_bytes>());
      now = now.first(now.size() - checksum_bytes);
      const std::uint32_t computed = fletcher32(now);
      if (stated != computed && stated != as_once_written(computed)) return "a chunk whose checksum is wrong";
      continue;
    }
    bool exact = true;
    const bool inflates = filters_[k].kind == ChunkFilterKind::deflate;
    const std::size_t room = inflates ? bytes_before(k, skipped, exact) : now.size();
    // The output of the last filter of this size is the chunk.
    bool last = room == to.size();
    for (std::size_t before = 0; before < k; ++before) last = last && !applied(before, skipped);
    std::span<std::byte> next = to;
    if (!last) {
      std::vector<std::byte>& work = work_[turn++ % work_.size()];
      work.resize(room);
      next = work;
    }
    if (inflates) {
      if (std::string found = inflate_all(now, next, exact); !found.empty()) return found;
    } else {
      unshuffle(now, filters_[k].number_bytes, next);
    }
    now = next;
  }
  if (now.size() != to.size()) return fmt::format("a chunk of {} bytes", now.size());
  if (now.data() != to.data()) std::ranges::copy(now, to.begin());
  return {};
}

}  // namespace echoform::formats
