// The loops of envelope_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/envelope/envelope_kernels.hpp"
#include "stages/envelope/envelope_math.hpp"

namespace echoform {
namespace {

void envelope_row(const float* re, const float* im, std::size_t step, float* out, std::size_t count) {
  if (step == 1) {
    for (std::size_t n = 0; n < count; ++n) out[n] = magnitude(re[n], im[n]);
  } else {
    for (std::size_t n = 0; n < count; ++n) out[n] = magnitude(re[2 * n], im[2 * n]);
  }
}

void add_envelope_row(const float* re, const float* im, std::size_t step, float* out, std::size_t count) {
  if (step == 1) {
    for (std::size_t n = 0; n < count; ++n) out[n] += magnitude(re[n], im[n]);
  } else {
    for (std::size_t n = 0; n < count; ++n) out[n] += magnitude(re[2 * n], im[2 * n]);
  }
}

}  // namespace
}  // namespace echoform
