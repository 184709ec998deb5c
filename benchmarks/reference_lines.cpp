#include "benchmarks/reference_lines.hpp"

#include <omp.h>
#include <cmath>

namespace echoform::reference {

void sum_lines_loop(const Lines& task, const std::int16_t* data, float* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t line = 0; line < task.lines; ++line) {
    const std::int16_t* const event = data + line / task.of_event * task.channels * task.samples;
    for (std::size_t k = 0; k < task.ranges; ++k) {
      const float r = static_cast<float>(k) * task.range_spacing;
      const float x = r * task.sine[line];
      const float z = r * task.cosine[line];
      float sum = 0.0F;
      float weights = 0.0F;
      for (std::size_t channel = 0; channel < task.channels; ++channel) {
        const float dx = x - task.place[channel];
        const float u = (r + std::sqrt(dx * dx + z * z)) / task.velocity * task.sample_rate;
        const int n = static_cast<int>(u);
        weights += task.weight[channel];
        if (n + 1 >= static_cast<int>(task.samples)) continue;
        const float f = u - static_cast<float>(n);
        const std::int16_t* const s = event + channel * task.samples + n;
        sum += task.weight[channel] * ((1.0F - f) * static_cast<float>(s[0]) + f * static_cast<float>(s[1]));
      }
      out[line * task.ranges + k] = sum / weights;
    }
  }
}

void sum_upsampled_lines_loop(const Lines& task, const float* coefficients, std::size_t taps, std::size_t left,
                              const std::int16_t* data, float* fine, float* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t number = 0; number < task.lines / task.of_event; ++number) {
    const std::int16_t* const event = data + number * task.channels * task.samples;
    float* const dense = fine + static_cast<std::size_t>(omp_get_thread_num()) * task.channels * task.samples * 4;
    for (std::size_t channel = 0; channel < task.channels; ++channel) {
      const std::int16_t* const s = event + channel * task.samples;
      for (std::size_t n = 0; n < task.samples; ++n) {
        float* const to = dense + (channel * task.samples + n) * 4;
        to[0] = static_cast<float>(s[n]);
        for (std::size_t phase = 1; phase < 4; ++phase) {
          float sum = 0.0F;
          for (std::size_t tap = 0; tap < taps; ++tap) {
            const std::size_t at = n + tap - left;
            if (at < task.samples) sum += coefficients[(phase - 1) * taps + tap] * static_cast<float>(s[at]);
          }
          to[phase] = sum;
        }
      }
    }
    for (std::size_t line = number * task.of_event; line < (number + 1) * task.of_event; ++line) {
      for (std::size_t k = 0; k < task.ranges; ++k) {
        const float r = static_cast<float>(k) * task.range_spacing;
        const float x = r * task.sine[line];
        const float z = r * task.cosine[line];
        float sum = 0.0F;
        float weights = 0.0F;
        for (std::size_t channel = 0; channel < task.channels; ++channel) {
          const float dx = x - task.place[channel];
          const float u = 4.0F * ((r + std::sqrt(dx * dx + z * z)) / task.velocity * task.sample_rate);
          const int n = static_cast<int>(u);
          weights += task.weight[channel];
          if (n >= 4 * (static_cast<int>(task.samples) - 1)) continue;
          const float f = u - static_cast<float>(n);
          const float* const dense_sample = dense + channel * task.samples * 4 + n;
          sum += task.weight[channel] * ((1.0F - f) * dense_sample[0] + f * dense_sample[1]);
        }
        out[line * task.ranges + k] = sum / weights;
      }
    }
  }
}

}  // namespace echoform::reference
