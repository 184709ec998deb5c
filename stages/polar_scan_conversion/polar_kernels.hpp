// The loops of the polar scan conversion on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"

namespace echoform::polar {

/// Number of pixels that are worked on together. Rows of places are padded to whole groups with places outside.
inline constexpr std::size_t group = 32;

/// The input transposed to [samples + 1, beams + 3], so that the neighbours of a pixel stand side by side. Edges are
/// repeated: one beam before the first, two after the last, one sample after the last. Sample s of beams b - 1 ... b + 2 is
/// at s * stride + b.
template <class Pixel>
struct Texels {
  const Pixel* data = nullptr;
  std::uint32_t stride = 0;
  unsigned axial_bits = 0;
  unsigned lateral_bits = 0;
  float alpha = -0.5F;
};

/// Places of a run of pixels.
struct Run {
  const std::uint32_t* axial = nullptr;
  const std::uint32_t* lateral = nullptr;
  std::size_t count = 0;
};

template <class Pixel>
using Convert = void (*)(const Run& run, const Texels<Pixel>& texels, Pixel* out);

/// The loops for each ScanInterpolation.
struct Kernels {
  Convert<std::uint8_t> levels[3];
  Convert<float> floats[3];
};

/// All levels give the same bits; AVX-512 processors use the AVX2 loops.
[[nodiscard]] Kernels kernels_of(SimdLevel level);

[[nodiscard]] Kernels kernels_portable();
[[nodiscard]] Kernels kernels_avx2();

}  // namespace echoform::polar
