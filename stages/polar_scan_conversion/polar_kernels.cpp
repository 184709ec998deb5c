#include "stages/polar_scan_conversion/polar_kernels.hpp"

namespace echoform::polar {
namespace {

void gather_words(const std::uint8_t* bytes, const std::int32_t* offsets, std::uint32_t* words) {
  for (std::size_t n = 0; n < group; ++n) __builtin_memcpy(words + n, bytes + offsets[n], 4);
}

}  // namespace
}  // namespace echoform::polar

#include "stages/polar_scan_conversion/polar_kernels_body.hpp"

namespace echoform::polar {

Kernels kernels_portable() {
  return kernels();
}

Kernels kernels_of(SimdLevel level) {
#if defined(__x86_64__)
  // Gathers limit the speed: with 16 lanes the same loops were 20 to 30 % slower than with 8.
  if (level >= SimdLevel::avx2) return kernels_avx2();
#endif
  return kernels_portable();
}

}  // namespace echoform::polar
