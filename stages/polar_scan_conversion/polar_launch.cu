#include "gpu/cuda_check.hpp"
#include "stages/polar_scan_conversion/polar_launch.hpp"
#include "stages/polar_scan_conversion/polar_math.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform::polar {
namespace {

/// Four pixels as one store.
template <class Pixel>
struct Quad;
template <>
struct Quad<std::uint8_t> {
  using Vector = uchar4;
};
template <>
struct Quad<float> {
  using Vector = float4;
};

__device__ __forceinline__ float number_of(float value) {
  return value;
}
/// An exact conversion without the conversion unit, which is a quarter as fast as the adders: 2^23 + value, minus 2^23.
__device__ __forceinline__ float number_of(std::uint8_t value) {
  return __uint_as_float(0x4b000000u | value) - 8388608.0F;
}
__device__ __forceinline__ void put(float value, float& out) {
  out = value;
}
__device__ __forceinline__ void put(float value, std::uint8_t& out) {
  out = level_of(value);
}

template <ScanInterpolation how, class Pixel>
__device__ __forceinline__ Pixel pixel_at(const Conversion& c, const Pixel* __restrict__ input, std::uint32_t axial,
                                          std::uint32_t lateral) {
  const bool inside = axial != outside;
  if (!inside) axial = 0;
  const std::uint32_t s = cell_of(axial, c.axial_bits);
  const std::uint32_t b = cell_of(lateral, c.lateral_bits);
  float value;
  if constexpr (how == ScanInterpolation::nearest) {
    value = number_of(__ldg(input + b * c.input_stride + s));
  } else {
    const std::uint32_t below = min(s + 1, c.samples - 1);
    const float u = offset_of(axial, c.axial_bits);
    const float v = offset_of(lateral, c.lateral_bits);
    const std::uint32_t beam1 = b * c.input_stride;
    const std::uint32_t beam2 = min(b + 1, c.beams - 1) * c.input_stride;
    const auto at = [&](std::uint32_t place) { return number_of(__ldg(input + place)); };
    if constexpr (how == ScanInterpolation::bilinear) {
      value = lerp(lerp(at(beam1 + s), at(beam2 + s), v), lerp(at(beam1 + below), at(beam2 + below), v), u);
    } else {
      const std::uint32_t beam0 = (b == 0 ? 0 : b - 1) * c.input_stride;
      const std::uint32_t beam3 = min(b + 2, c.beams - 1) * c.input_stride;
      const CubicWeights w = cubic_weights(v, c.alpha);
      value = lerp(cubic_sum(w, at(beam0 + s), at(beam1 + s), at(beam2 + s), at(beam3 + s)),
                   cubic_sum(w, at(beam0 + below), at(beam1 + below), at(beam2 + below), at(beam3 + below)), u);
    }
  }
  Pixel pixel;
  put(inside ? value : 0.0F, pixel);
  return pixel;
}

/// Writes a tile whose rows may start anywhere within words of four pixels. The pixels go through shared memory, and are written
/// as whole words wherever a word belongs to the tile alone. A row of the tile touches one word more than it contains.
__device__ __forceinline__ void store_shifted(const Conversion& c, std::uint8_t* __restrict__ output, std::uint32_t x0,
                                              std::uint32_t z0, std::uint32_t x, std::uint32_t z, uchar4 quad) {
  constexpr std::uint32_t words = tile_columns / 4;
  __shared__ std::uint32_t tile[tile_rows * words + 1];  // one word more is read behind the last, and shifted out
  reinterpret_cast<uchar4*>(tile)[z * words + x / 4] = quad;
  __syncthreads();
  const int width = static_cast<int>(min(tile_columns, c.columns - x0));
  for (std::uint32_t n = threadIdx.x; n < tile_rows * (words + 1); n += tile_threads) {
    const std::uint32_t row = n / (words + 1);
    if (z0 + row >= c.rows) return;
    std::uint8_t* const out = output + std::size_t{z0 + row} * c.columns + x0;
    const int first = static_cast<int>(n % (words + 1) * 4) - static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % 4);
    if (first >= 0 && first + 4 <= width) {
      const std::uint32_t* const word = tile + row * words + first / 4;
      *reinterpret_cast<std::uint32_t*>(out + first) = __funnelshift_r(word[0], word[1], first % 4 * 8);
    } else {
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(tile + row * words);
      for (int k = max(first, 0); k < min(first + 4, width); ++k) out[k] = bytes[k];
    }
  }
}

/// `Quads` states that rows start on whole groups of four, so that four pixels are one store.
template <ScanInterpolation how, class Pixel, bool Quads>
__global__ __launch_bounds__(tile_threads) void convert(Conversion c, const Pixel* __restrict__ input,
                                                        Pixel* __restrict__ output) {
  const std::uint32_t tile = __ldg(c.tiles + blockIdx.x);
  const std::uint32_t x0 = (tile & 0xffffu) * tile_columns;
  const std::uint32_t z0 = (tile >> 16) * tile_rows;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t x = threadIdx.x / 32 * 8 + lane % 2 * 4;  // place within the tile
  const std::uint32_t z = lane / 2;
  Pixel pixel[4] = {};
  if (blockIdx.x < c.tiles_inside) {
    const auto* const table = reinterpret_cast<const uint4*>(c.places) + std::size_t{blockIdx.x} * 2 * tile_threads + threadIdx.x;
    const uint4 first = __ldg(table);
    const uint4 second = __ldg(table + tile_threads);
    pixel[0] = pixel_at<how>(c, input, first.x, first.y);
    pixel[1] = pixel_at<how>(c, input, first.z, first.w);
    pixel[2] = pixel_at<how>(c, input, second.x, second.y);
    pixel[3] = pixel_at<how>(c, input, second.z, second.w);
  }
  using Vector = typename Quad<Pixel>::Vector;
  if constexpr (Quads) {
    if (z0 + z < c.rows && x0 + x < c.columns) {
      *reinterpret_cast<Vector*>(output + std::size_t{z0 + z} * c.columns + x0 + x) = {pixel[0], pixel[1], pixel[2], pixel[3]};
    }
  } else if constexpr (sizeof(Pixel) == 1) {
    store_shifted(c, output, x0, z0, x, z, {pixel[0], pixel[1], pixel[2], pixel[3]});
  } else if (z0 + z < c.rows) {
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      if (x0 + x + k < c.columns) output[std::size_t{z0 + z} * c.columns + x0 + x + k] = pixel[k];
    }
  }
}

template <ScanInterpolation how, class Pixel>
void launch_as(const Conversion& c, const Pixel* input, Pixel* output, cudaStream_t stream) {
  if (c.columns % 4 == 0) {
    convert<how, Pixel, true><<<c.tile_count, tile_threads, 0, stream>>>(c, input, output);
  } else {
    convert<how, Pixel, false><<<c.tile_count, tile_threads, 0, stream>>>(c, input, output);
  }
  ECHOFORM_CUDA_LAUNCHED("polar scan conversion");
}

template <class Pixel>
void launch_by(const Conversion& c, ScanInterpolation how, const Pixel* input, Pixel* output, cudaStream_t stream) {
  switch (how) {
    case ScanInterpolation::nearest:
      return launch_as<ScanInterpolation::nearest>(c, input, output, stream);
    case ScanInterpolation::bilinear:
      return launch_as<ScanInterpolation::bilinear>(c, input, output, stream);
    case ScanInterpolation::cubic:
      return launch_as<ScanInterpolation::cubic>(c, input, output, stream);
  }
}

}  // namespace

void launch(const Conversion& conversion, ScanInterpolation how, const std::uint8_t* input, std::uint8_t* output,
            cudaStream_t stream) {
  launch_by(conversion, how, input, output, stream);
}
void launch(const Conversion& conversion, ScanInterpolation how, const float* input, float* output, cudaStream_t stream) {
  launch_by(conversion, how, input, output, stream);
}

}  // namespace echoform::polar
