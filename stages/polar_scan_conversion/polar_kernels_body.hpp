// The loops of polar_kernels.hpp, included once by each translation unit that is built for an instruction set, which defines
// before how it gathers: gather_words(bytes, offsets, words) fetches the four bytes at each of `group` offsets.
#pragma once

#include "stages/polar_scan_conversion/polar_kernels.hpp"
#include "stages/polar_scan_conversion/polar_math.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform::polar {
namespace {

constexpr int nearest = static_cast<int>(ScanInterpolation::nearest);
constexpr int bilinear = static_cast<int>(ScanInterpolation::bilinear);
constexpr int cubic = static_cast<int>(ScanInterpolation::cubic);

/// Texels and offsets of the places of a group.
struct Group {
  alignas(64) std::int32_t texel[group];
  alignas(64) float u[group];
  alignas(64) float v[group];
  alignas(64) std::uint32_t keep[group];  // all ones inside
};

template <class Pixel>
ECHOFORM_HOST_DEVICE void locate(const std::uint32_t* __restrict axial, const std::uint32_t* __restrict lateral,
                                 const Texels<Pixel>& texels, Group& at) {
  const unsigned axial_bits = texels.axial_bits;
  const unsigned lateral_bits = texels.lateral_bits;
  const std::uint32_t stride = texels.stride;
  for (std::size_t n = 0; n < group; ++n) {
    const std::uint32_t keep = 0u - static_cast<std::uint32_t>(axial[n] != outside);
    const std::uint32_t s = axial[n] & keep;
    const std::uint32_t b = lateral[n];
    at.keep[n] = keep;
    at.texel[n] = static_cast<std::int32_t>(cell_of(s, axial_bits) * stride + cell_of(b, lateral_bits));
    at.u[n] = offset_of(s, axial_bits);
    at.v[n] = offset_of(b, lateral_bits);
  }
}

ECHOFORM_HOST_DEVICE float byte_of(std::uint32_t word, int place) {
  return static_cast<float>(static_cast<std::int32_t>(word >> (8 * place) & 255u));
}

ECHOFORM_HOST_DEVICE float kept(float value, std::uint32_t keep) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, value) & keep);
}

template <int how>
ECHOFORM_HOST_DEVICE void levels_of_group(const Group& at, const Texels<std::uint8_t>& texels, std::uint8_t* __restrict out) {
  alignas(64) std::uint32_t upper[group];
  alignas(64) std::uint32_t lower[group];
  gather_words(texels.data, at.texel, upper);
  if constexpr (how == nearest) {
    for (std::size_t n = 0; n < group; ++n) out[n] = static_cast<std::uint8_t>((upper[n] & at.keep[n]) >> 8 & 255u);
    return;
  }
  gather_words(texels.data + texels.stride, at.texel, lower);
  const float alpha = texels.alpha;
  for (std::size_t n = 0; n < group; ++n) {
    float above;
    float below;
    if constexpr (how == cubic) {
      const CubicWeights w = cubic_weights(at.v[n], alpha);
      above = cubic_sum(w, byte_of(upper[n], 0), byte_of(upper[n], 1), byte_of(upper[n], 2), byte_of(upper[n], 3));
      below = cubic_sum(w, byte_of(lower[n], 0), byte_of(lower[n], 1), byte_of(lower[n], 2), byte_of(lower[n], 3));
    } else {
      above = lerp(byte_of(upper[n], 1), byte_of(upper[n], 2), at.v[n]);
      below = lerp(byte_of(lower[n], 1), byte_of(lower[n], 2), at.v[n]);
    }
    out[n] = level_of(kept(lerp(above, below, at.u[n]), at.keep[n]));
  }
}

template <int how>
ECHOFORM_HOST_DEVICE void floats_of_group(const Group& at, const Texels<float>& texels, float* __restrict out) {
  const float* const upper = texels.data;
  const float* const lower = texels.data + texels.stride;
  const float alpha = texels.alpha;
  for (std::size_t n = 0; n < group; ++n) {
    const std::int32_t t = at.texel[n];
    if constexpr (how == nearest) {
      out[n] = kept(upper[t + 1], at.keep[n]);
    } else if constexpr (how == bilinear) {
      out[n] =
          kept(lerp(lerp(upper[t + 1], upper[t + 2], at.v[n]), lerp(lower[t + 1], lower[t + 2], at.v[n]), at.u[n]), at.keep[n]);
    } else {
      const CubicWeights w = cubic_weights(at.v[n], alpha);
      const float above = cubic_sum(w, upper[t], upper[t + 1], upper[t + 2], upper[t + 3]);
      const float below = cubic_sum(w, lower[t], lower[t + 1], lower[t + 2], lower[t + 3]);
      out[n] = kept(lerp(above, below, at.u[n]), at.keep[n]);
    }
  }
}

template <int how>
ECHOFORM_HOST_DEVICE void convert_group(const Group& at, const Texels<std::uint8_t>& texels, std::uint8_t* out) {
  levels_of_group<how>(at, texels, out);
}
template <int how>
ECHOFORM_HOST_DEVICE void convert_group(const Group& at, const Texels<float>& texels, float* out) {
  floats_of_group<how>(at, texels, out);
}

template <int how, class Pixel>
void convert(const Run& run, const Texels<Pixel>& texels, Pixel* out) {
  Group at;
  for (std::size_t first = 0; first < run.count; first += group) {
    locate(run.axial + first, run.lateral + first, texels, at);
    if (run.count - first >= group) {
      convert_group<how>(at, texels, out + first);
    } else {
      alignas(64) Pixel last[group];
      convert_group<how>(at, texels, last);
      for (std::size_t n = 0; n < run.count - first; ++n) out[first + n] = last[n];
    }
  }
}

Kernels kernels() {
  return {{&convert<nearest, std::uint8_t>, &convert<bilinear, std::uint8_t>, &convert<cubic, std::uint8_t>},
          {&convert<nearest, float>, &convert<bilinear, float>, &convert<cubic, float>}};
}

}  // namespace
}  // namespace echoform::polar
