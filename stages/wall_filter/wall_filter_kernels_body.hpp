// The loops of wall_filter_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/wall_filter/wall_filter_kernels.hpp"
#include "stages/wall_filter/wall_filter_math.hpp"

namespace echoform {
namespace {

void wall_filter_piece_of(const WallFilterTask& task) {
  for (std::size_t m = 0; m < task.filtered; ++m) {
    alignas(64) float re[wall_filter_piece] = {};
    alignas(64) float im[wall_filter_piece] = {};
    for (std::size_t n = 0; n < task.ensemble; ++n) {
      const float* const x_re = task.re + n * wall_filter_piece;
      const float* const x_im = task.im + n * wall_filter_piece;
      const float a_re = task.matrix_re[m * task.ensemble + n];
      if (task.matrix_im == nullptr) {
        for (std::size_t k = 0; k < wall_filter_piece; ++k) re[k] += a_re * x_re[k];
        for (std::size_t k = 0; k < wall_filter_piece; ++k) im[k] += a_re * x_im[k];
      } else {
        const float a_im = task.matrix_im[m * task.ensemble + n];
        for (std::size_t k = 0; k < wall_filter_piece; ++k) add_product(a_re, a_im, x_re[k], x_im[k], re[k], im[k]);
      }
    }
    float* const out = task.out + m * task.out_stride;
    for (std::size_t k = 0; k < task.count; ++k) out[k] = re[k];
    for (std::size_t k = 0; k < task.count; ++k) out[task.quadrature + k] = im[k];
  }
}

}  // namespace
}  // namespace echoform
