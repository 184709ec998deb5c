// Kernels of fields in plain C++.
#include <cstring>

#include "rays/field_kernels_loop.hpp"

namespace echoform::rays {
namespace {

struct Portable {
  static std::uint64_t bits_of(const unsigned char* flags) {
    std::uint64_t bits = 0;
    for (unsigned part = 0; part < 8; ++part) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, flags + 8 * part, sizeof bytes);
      // Moves byte i, which is 0 or 1, to bit 56 + i.
      bits |= ((bytes * 0x0102040810204080U) >> 56U) << (8U * part);
    }
    return bits;
  }
  static std::uint64_t negative_bits(const float* p) {
    unsigned char flags[64];
    for (unsigned n = 0; n < 64; ++n) flags[n] = p[n] < 0.0F ? 1 : 0;
    return bits_of(flags);
  }
  static std::uint64_t negative_bits(const float* a, const float* b) {
    unsigned char flags[64];
    for (unsigned n = 0; n < 64; ++n) flags[n] = a[n] + b[n] < 0.0F ? 1 : 0;
    return bits_of(flags);
  }
};

}  // namespace

const FieldKernels portable_field_kernels = make_field_kernels<Portable>();

}  // namespace echoform::rays
