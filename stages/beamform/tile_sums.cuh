// Sums over 8-byte lookups, the inner loops of the CUDA beamformer.
//
// Half path: an element holds sample and slope in half precision, the slope times 2^14. The top ten fraction bits of a delay,
// read as a subnormal half, are the fraction times 2^-14: one fused multiply and add interpolates real and imaginary part, and
// nothing is converted. Sums are trees, so that their rounding grows with the logarithm of the number of terms.
// Float path: an element is a complex sample in single precision; two neighbours are looked up.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

__device__ __forceinline__ __half2 as_half2(std::uint32_t bits) {
  __half2 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Accesses shared memory by address, so that the offset of a window is a constant of the instruction. The compiler does not see
/// what is read, so the instruction is declared to read memory: the load stays in order with stores, copies and barriers. (Loads
/// through a pointer make some kernels a sixth longer.)
template <int offset>
__device__ __forceinline__ uint2 load_shared(std::uint32_t address) {
  uint2 element;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+%3];" : "=r"(element.x), "=r"(element.y) : "r"(address), "n"(offset) : "memory");
  return element;
}

/// The location of the element of a delay in the window at `windows`, an address with zeros in its lower index_bits + 3 bits. It
/// takes one shift, and one operation for mask and sum.
template <int index_bits>
__device__ __forceinline__ std::uint32_t element_address(std::uint32_t windows, std::uint32_t delay) {
  return ((delay >> (29 - index_bits)) & (((1u << index_bits) - 1) << 3)) | windows;
}

/// A sample of the window `offset` bytes after `windows`, interpolated.
template <int index_bits, int offset>
__device__ __forceinline__ __half2 look_up_half(std::uint32_t windows, std::uint32_t delay) {
  const uint2 element = load_shared<offset>(element_address<index_bits>(windows, delay));
  const __half2 fraction = as_half2((index_bits > 6 ? delay << (index_bits - 6) : delay) & 0x03ff0000u);
  return __hfma2(as_half2(element.y), __high2half2(fraction), as_half2(element.x));
}

/// Sum over receivers first .. first + count - 1 (a power of two) of one transmitter's windows, which lie `capacity` elements
/// apart, the first `offset` bytes after `windows`.
template <int index_bits, int capacity, int offset, int first, int count, bool weighted>
__device__ __forceinline__ __half2 sum_row_half(std::uint32_t windows, std::uint32_t transmit, const std::uint32_t* receive,
                                                const __half* weight) {
  if constexpr (count == 1) {
    const __half2 value = look_up_half<index_bits, offset + first * capacity * 8>(windows, transmit + receive[first]);
    if constexpr (weighted) return __hmul2(value, __half2half2(weight[first]));
    return value;
  } else {
    return __hadd2(
        sum_row_half<index_bits, capacity, offset, first, count / 2, weighted>(windows, transmit, receive, weight),
        sum_row_half<index_bits, capacity, offset, first + count / 2, count / 2, weighted>(windows, transmit, receive, weight));
  }
}

/// The rows first .. first + count - 1 of a square of `pairs` x `pairs`, unweighted.
template <int index_bits, int capacity, int pairs, int first, int count>
__device__ __forceinline__ __half2 sum_square_half(std::uint32_t windows, const std::uint32_t* transmit,
                                                   const std::uint32_t* receive) {
  if constexpr (count == 1) {
    return sum_row_half<index_bits, capacity, first * pairs * capacity * 8, 0, pairs, false>(windows, transmit[first], receive,
                                                                                             nullptr);
  } else {
    return __hadd2(sum_square_half<index_bits, capacity, pairs, first, count / 2>(windows, transmit, receive),
                   sum_square_half<index_bits, capacity, pairs, first + count / 2, count / 2>(windows, transmit, receive));
  }
}

/// The weight in form number `place` of the forms at `forms` in shared memory.
template <int place>
__device__ __forceinline__ __half2 weight_of(std::uint32_t forms) {
  constexpr std::size_t offset = place * sizeof(SourceForm) + offsetof(SourceForm, c);
  std::uint32_t weight;
  asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(weight) : "r"(forms), "n"(offset) : "memory");
  return as_half2(weight);
}

/// Like sum_square_half(), for plane waves: each row is multiplied by the weight of its form. A form is read when its row has
/// been looked up, since the weights would take eight registers.
template <int index_bits, int capacity, int pairs, int first, int count>
__device__ __forceinline__ __half2 sum_waves_half(std::uint32_t windows, const std::uint32_t* transmit,
                                                  const std::uint32_t* receive, std::uint32_t forms) {
  constexpr int row_bytes = pairs * capacity * 8;
  if constexpr (count == 2) {
    const __half2 one =
        sum_row_half<index_bits, capacity, first * row_bytes, 0, pairs, false>(windows, transmit[first], receive, nullptr);
    const __half2 other = sum_row_half<index_bits, capacity, (first + 1) * row_bytes, 0, pairs, false>(
        windows, transmit[first + 1], receive, nullptr);
    return __hfma2(other, weight_of<first + 1>(forms), __hmul2(one, weight_of<first>(forms)));
  } else {
    return __hadd2(sum_waves_half<index_bits, capacity, pairs, first, count / 2>(windows, transmit, receive, forms),
                   sum_waves_half<index_bits, capacity, pairs, first + count / 2, count / 2>(windows, transmit, receive, forms));
  }
}

__device__ __forceinline__ float2 scaled(__half2 value, float factor) {
  const float2 both = __half22float2(value);
  return make_float2(both.x * factor, both.y * factor);
}

__device__ __forceinline__ void add(float2& sum, float2 value) {
  sum.x += value.x;
  sum.y += value.y;
}

/// One complex sample of a row or window, interpolated, times `weight`, added to `sum`.
template <bool nearest>
__device__ __forceinline__ void add_interpolated(float2 here, float2 next, float one_and_fraction, float weight, float2& sum) {
  if constexpr (nearest) {
    sum.x = fmaf(here.x, weight, sum.x);
    sum.y = fmaf(here.y, weight, sum.y);
  } else {
    const float after = (one_and_fraction - 1.0F) * weight;
    const float before = (2.0F - one_and_fraction) * weight;
    sum.x = fmaf(next.x, after, fmaf(here.x, before, sum.x));
    sum.y = fmaf(next.y, after, fmaf(here.y, before, sum.y));
  }
}

template <int index_bits>
__device__ __forceinline__ float one_and_fraction_of(std::uint32_t delay) {
  return __uint_as_float(((delay << index_bits) >> 9) | 0x3f800000u);
}

__device__ __forceinline__ float2 as_float2(uint2 bits) {
  return make_float2(__uint_as_float(bits.x), __uint_as_float(bits.y));
}

/// Like look_up_half, for the float path. `base` is the window's first sample. It is used where some lookup may lie outside of
/// [0, samples - 1).
template <int index_bits, int offset, bool nearest, bool checked>
__device__ __forceinline__ void add_lookup_float(std::uint32_t windows, std::uint32_t delay, std::int32_t base,
                                                 std::int32_t samples, float weight, float2& sum) {
  if constexpr (checked) {
    const std::uint32_t place = static_cast<std::uint32_t>(base) + (delay >> (32 - index_bits));
    if (place >= static_cast<std::uint32_t>(nearest ? samples : samples - 1)) return;
  }
  const std::uint32_t address = element_address<index_bits>(windows, delay);
  const float2 here = as_float2(load_shared<offset>(address));
  float2 next{};
  if constexpr (!nearest) next = as_float2(load_shared<offset + 8>(address));
  add_interpolated<nearest>(here, next, one_and_fraction_of<index_bits>(delay), weight, sum);
}

}  // namespace echoform::beamform
