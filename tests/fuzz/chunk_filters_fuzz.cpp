// Packed chunks of HDF5 datasets, from memory: whatever stands in them, a chunk comes whole or not at all, and what is packed
// comes back as it was.
//
// Input: how many filters, a kind and a size of each, the bytes of a chunk, which filters are skipped, and then the packed chunk,
// or one to be packed.
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "formats/chunk_filters.hpp"
#include "tests/fuzz/input.hpp"

namespace {

using namespace echoform;
using formats::ChunkFilter;
using formats::ChunkFilterKind;
using Bytes = std::vector<std::byte>;

Bytes deflated(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes packed(size);
  const int status =
      compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  fuzz::require(status == Z_OK, "zlib packs");
  packed.resize(size);
  return packed;
}

Bytes shuffled(const Bytes& bytes, std::size_t number_bytes) {
  const std::size_t numbers = bytes.size() / number_bytes;
  if (number_bytes == 1 || numbers <= 1) return bytes;
  Bytes made;
  for (std::size_t b = 0; b < number_bytes; ++b) {
    for (std::size_t k = 0; k < numbers; ++k) made.push_back(bytes[k * number_bytes + b]);
  }
  made.insert(made.end(), bytes.begin() + static_cast<std::ptrdiff_t>(numbers * number_bytes), bytes.end());
  return made;
}

Bytes with_checksum(Bytes bytes) {
  const std::uint32_t sum = formats::fletcher32(bytes);
  for (unsigned k = 0; k < 4; ++k) bytes.push_back(static_cast<std::byte>(sum >> (8 * k)));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  std::vector<ChunkFilter> filters(input.take<std::uint8_t>() % 5);
  for (ChunkFilter& filter : filters) {
    filter.kind = static_cast<ChunkFilterKind>(input.take<std::uint8_t>() % 3);
    filter.number_bytes = 1 + input.take<std::uint8_t>() % 17;
  }
  const std::size_t chunk_bytes = 1 + input.take<std::uint16_t>();
  const std::uint32_t skipped = input.take<std::uint8_t>();
  const bool packs = input.take<std::uint8_t>() % 2 != 0;
  Bytes bytes;
  while (!input.empty()) bytes.push_back(static_cast<std::byte>(input.take<std::uint8_t>()));

  if (packs) {
    if (bytes.empty()) return 0;
    formats::ChunkUnpacker unpacker(filters, bytes.size());
    Bytes packed = bytes;
    for (std::size_t k = 0; k < filters.size(); ++k) {
      if ((skipped >> k & 1U) != 0) continue;
      switch (filters[k].kind) {
        case ChunkFilterKind::deflate:
          packed = deflated(packed);
          break;
        case ChunkFilterKind::shuffle:
          packed = shuffled(packed, filters[k].number_bytes);
          break;
        case ChunkFilterKind::fletcher32:
          packed = with_checksum(packed);
          break;
      }
    }
    fuzz::require(unpacker.may_hold_chunk(packed.size()), "a chunk that was packed may hold one");
    Bytes chunk(bytes.size());
    const std::string found = unpacker.unpack(packed, skipped, chunk);
    fuzz::require(found.empty() && chunk == bytes, "what was packed comes back");
    return 0;
  }
  formats::ChunkUnpacker unpacker(filters, chunk_bytes);
  if (!unpacker.may_hold_chunk(bytes.size())) return 0;
  Bytes chunk(chunk_bytes, std::byte{0xA5});
  const std::string found = unpacker.unpack(bytes, skipped, chunk);
  if (!found.empty()) {
    fuzz::require_one_line(found);
    return 0;
  }
  // Nothing of it was there before: it comes to the same once more.
  Bytes again(chunk_bytes, std::byte{0x5A});
  fuzz::require(unpacker.unpack(bytes, skipped, again).empty() && again == chunk, "all of a chunk comes from what was packed");
  return 0;
}
