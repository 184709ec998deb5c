// The loops of compression_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/compression/compression_kernels.hpp"

namespace echoform {
namespace {

std::uint32_t peak_of(const std::uint32_t* envelope, std::size_t count) {
  std::uint32_t peak = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t bits = finite_or_zero(envelope[n]);
    peak = bits > peak ? bits : peak;
  }
  return peak;
}

std::uint32_t peak_of_magnitudes(const std::uint32_t* values, std::size_t count) {
  std::uint32_t peak = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t bits = finite_magnitude_or_zero(values[n]);
    peak = bits > peak ? bits : peak;
  }
  return peak;
}

void compress_row(const std::uint32_t* envelope, std::uint8_t* out, std::size_t count, CompressionCurve curve) {
  for (std::size_t n = 0; n < count; ++n) out[n] = compress(envelope[n], curve);
}

void masked_row(const std::uint32_t* envelope, std::uint8_t* out, std::size_t count, CompressionCurve curve) {
  for (std::size_t n = 0; n < count; ++n) out[n] = compress_masked(envelope[n], curve);
}

void number_row(const std::uint32_t* values, std::uint8_t* out, std::size_t count, CompressionCurve curve) {
  for (std::size_t n = 0; n < count; ++n) out[n] = level_of_number(values[n], curve);
}

}  // namespace
}  // namespace echoform
