#include "transport/openigtlink/crc64.hpp"

#include <array>

namespace echoform::openigtlink {
namespace {

constexpr std::uint64_t polynomial = 0x42F0E1EBA9EA3693;
// The sum takes eight bytes at a time; otherwise summing a volume would take longer than sending it. Table k has the sum of each
// byte followed by k zero bytes.
constexpr std::size_t stride = 8;
using Tables = std::array<std::array<std::uint64_t, 256>, stride>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint64_t value = 0; value < 256; ++value) {
    std::uint64_t sum = value << 56;
    for (int bit = 0; bit < 8; ++bit) sum = (sum << 1) ^ ((sum >> 63) != 0 ? polynomial : 0);
    tables[0][value] = sum;
  }
  for (std::size_t k = 1; k < stride; ++k) {
    for (std::size_t value = 0; value < 256; ++value) {
      const std::uint64_t sum = tables[k - 1][value];
      tables[k][value] = (sum << 8) ^ tables[0][sum >> 56];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before) noexcept {
  std::uint64_t sum = before;
  std::size_t at = 0;
  for (; at + stride <= bytes.size(); at += stride) {
    for (std::size_t k = 0; k < stride; ++k) sum ^= std::to_integer<std::uint64_t>(bytes[at + k]) << (56 - 8 * k);
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < stride; ++k) next ^= tables[stride - 1 - k][(sum >> (56 - 8 * k)) & 0xFF];
    sum = next;
  }
  for (; at < bytes.size(); ++at) sum = (sum << 8) ^ tables[0][(sum >> 56) ^ std::to_integer<std::uint64_t>(bytes[at])];
  return sum;
}

}  // namespace echoform::openigtlink
