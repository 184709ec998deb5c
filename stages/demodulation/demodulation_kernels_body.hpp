// The loop of demodulation_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/demodulation/demodulation_kernels.hpp"
#include "stages/demodulation/demodulation_math.hpp"

namespace echoform {
namespace {

void demodulate_row(const DemodulationTask& task) {
  constexpr std::size_t block = demodulation_block;
  for (std::size_t first = 0; first < task.count; first += block) {
    alignas(64) float re[block] = {};
    alignas(64) float im[block] = {};
    for (std::size_t tap = 0; tap < task.taps; ++tap) {
      const float* const s = task.samples + task.offsets[tap] + first;
      const float cosine = task.cosines[tap];
      const float sine = task.sines[tap];
      for (std::size_t m = 0; m < block; ++m) {
        re[m] = with_term(re[m], cosine, s[m]);
        im[m] = with_term(im[m], sine, s[m]);
      }
    }
    const float* const c = task.turn_cosines + first;
    const float* const s = task.turn_sines + first;
    float* const out = task.out + 2 * first;
    for (std::size_t m = 0; m < block; ++m) {
      out[2 * m] = turned_re(re[m], im[m], c[m], s[m]);
      out[2 * m + 1] = turned_im(re[m], im[m], c[m], s[m]);
    }
  }
}

}  // namespace
}  // namespace echoform
