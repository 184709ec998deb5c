// The loop of autocorrelation_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/autocorrelation/autocorrelation_kernels.hpp"
#include "stages/autocorrelation/autocorrelation_math.hpp"

namespace echoform {
namespace {

template <std::size_t step>
void autocorrelate_ranges(const AutocorrelationTask& task, std::size_t from, std::size_t count) {
  constexpr std::size_t piece = 64;
  float power[piece] = {};
  float re[piece] = {};
  float im[piece] = {};
  for (std::size_t n = 0; n < task.ensemble; ++n) {
    const float* const a_re = task.samples + n * task.row_stride + step * from;
    const float* const a_im = a_re + task.quadrature;
    for (std::size_t k = 0; k < count; ++k) add_power(a_re[step * k], a_im[step * k], power[k]);
    if (n + 1 == task.ensemble) break;
    const float* const b_re = a_re + task.row_stride;
    const float* const b_im = b_re + task.quadrature;
    for (std::size_t k = 0; k < count; ++k) {
      add_turn(a_re[step * k], a_im[step * k], b_re[step * k], b_im[step * k], re[k], im[k]);
    }
  }
  const float of_power = 1.0F / static_cast<float>(task.ensemble);
  const float of_turn = 1.0F / static_cast<float>(task.ensemble - 1);
  for (std::size_t k = 0; k < count; ++k) task.power[from + k] = power[k] * of_power;
  for (std::size_t k = 0; k < count; ++k) task.turn_re[from + k] = re[k] * of_turn;
  for (std::size_t k = 0; k < count; ++k) task.turn_im[from + k] = im[k] * of_turn;
}

void autocorrelate_line(const AutocorrelationTask& task) {
  for (std::size_t from = 0; from < task.count; from += 64) {
    const std::size_t count = task.count - from < 64 ? task.count - from : 64;
    if (task.step == 1) {
      autocorrelate_ranges<1>(task, from, count);
    } else {
      autocorrelate_ranges<2>(task, from, count);
    }
  }
}

}  // namespace
}  // namespace echoform
