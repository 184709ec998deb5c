#include "benchmarks/reference_tfm_pairs.hpp"

#include <algorithm>

namespace echoform::reference {
namespace {

// Pixels in a block. Delays of two elements, sums and a row of samples then fit together into a second-level cache.
constexpr std::size_t largest_block = 4096;

template <bool weighted>
void sum_pairs(const std::complex<float>* data, std::size_t pitch, const float* delays, const float* weights,
               std::complex<float>* image, std::size_t elements, std::size_t samples, std::size_t pixels, int threads) {
  const float limit = static_cast<float>(samples - 1);
  // Each thread gets at least four blocks, so that all threads end at about the same time.
  const std::size_t block = std::clamp(pixels / (4 * static_cast<std::size_t>(threads)), std::size_t{256}, largest_block);
  const std::size_t blocks = (pixels + block - 1) / block;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::size_t at = 0; at < blocks; ++at) {
    const std::size_t first = at * block;
    const std::size_t count = std::min(block, pixels - first);
    float in_phase[largest_block] = {};
    float quadrature[largest_block] = {};
    const std::complex<float>* row = data;
    for (std::size_t i = 0; i < elements; ++i) {
      const float* forth = delays + i * pixels + first;
      for (std::size_t j = i; j < elements; ++j, row += pitch) {
        const float* back = delays + j * pixels + first;
        for (std::size_t p = 0; p < count; ++p) {
          const float u = forth[p] + back[p];
          if (u >= 0.0F && u < limit) {
            const int n = static_cast<int>(u);
            const float f = u - static_cast<float>(n);
            const std::complex<float> a = row[n];
            const std::complex<float> b = row[n + 1];
            float x = a.real() + f * (b.real() - a.real());
            float y = a.imag() + f * (b.imag() - a.imag());
            if constexpr (weighted) {
              const float weight = weights[i * pixels + first + p] * weights[j * pixels + first + p];
              x *= weight;
              y *= weight;
            }
            in_phase[p] += x;
            quadrature[p] += y;
          }
        }
      }
    }
    for (std::size_t p = 0; p < count; ++p) image[first + p] = {in_phase[p], quadrature[p]};
  }
}

}  // namespace

void total_focusing_pairs_loop(const std::complex<float>* data, std::size_t pitch, const float* delays, const float* weights,
                               std::complex<float>* image, std::size_t elements, std::size_t samples, std::size_t pixels,
                               int threads) {
  if (weights == nullptr) {
    sum_pairs<false>(data, pitch, delays, weights, image, elements, samples, pixels, threads);
  } else {
    sum_pairs<true>(data, pitch, delays, weights, image, elements, samples, pixels, threads);
  }
}

}  // namespace echoform::reference
