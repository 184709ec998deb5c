// The loops of resample_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/scan_conversion/resample_kernels.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

template <std::size_t Taps, class Pixel>
void blend_taps(const BlendRows<Pixel>& from, float* __restrict out, std::size_t count) {
  const Pixel* rows[Taps];
  float weights[Taps];
  for (std::size_t k = 0; k < Taps; ++k) {
    rows[k] = from.rows[k];
    weights[k] = from.weights[k];
  }
  for (std::size_t n = 0; n < count; ++n) {
    float sum = weights[0] * static_cast<float>(rows[0][n]);
    for (std::size_t k = 1; k < Taps; ++k) sum += weights[k] * static_cast<float>(rows[k][n]);
    out[n] = sum;
  }
}

ECHOFORM_HOST_DEVICE void store_pixel(float value, float* out) {
  *out = value;
}
ECHOFORM_HOST_DEVICE void store_pixel(float value, std::uint8_t* out) {
  *out = level_of(value);
}

template <std::size_t Taps, class Pixel>
void pick_taps(const float* row, const ColumnTaps& columns, Pixel* __restrict out, std::size_t count) {
  const std::int32_t* __restrict const index = columns.index;
  const float* __restrict const weight = columns.weight;
  const std::size_t stride = columns.stride;
  for (std::size_t n = 0; n < count; ++n) {
    float sum = weight[n] * row[index[n]];
    for (std::size_t k = 1; k < Taps; ++k) sum += weight[k * stride + n] * row[index[k * stride + n]];
    store_pixel(sum, out + n);
  }
}

template <class Pixel>
void blend(const BlendRows<Pixel>& from, std::size_t taps, float* out, std::size_t count) {
  if (taps == 1) return blend_taps<1>(from, out, count);
  if (taps == 2) return blend_taps<2>(from, out, count);
  blend_taps<4>(from, out, count);
}

template <class Pixel>
void pick(const float* row, const ColumnTaps& columns, std::size_t taps, Pixel* out, std::size_t count) {
  if (taps == 1) return pick_taps<1>(row, columns, out, count);
  if (taps == 2) return pick_taps<2>(row, columns, out, count);
  pick_taps<4>(row, columns, out, count);
}

ResampleKernels kernels() {
  return {&blend<std::uint8_t>, &blend<float>, &pick<std::uint8_t>, &pick<float>};
}

}  // namespace
}  // namespace echoform
