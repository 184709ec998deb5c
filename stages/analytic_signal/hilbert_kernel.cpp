#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <numbers>

#include "base/errors.hpp"
#include "cpu/fftw_lock.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"

namespace echoform {
namespace {

bool smooth(std::size_t number, std::initializer_list<std::size_t> primes) {
  for (const std::size_t prime : primes) {
    while (number % prime == 0) number /= prime;
  }
  return number == 1;
}

}  // namespace

std::vector<double> hilbert_kernel(std::size_t samples) {
  const double m = static_cast<double>(samples);
  std::vector<double> kernel(samples, 0.0);
  for (std::size_t k = 1; k < samples; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / m;
    const double cotangent = std::cos(angle) / std::sin(angle);
    if (samples % 2 == 0) {
      kernel[k] = k % 2 == 1 ? 2.0 / m * cotangent : 0.0;
    } else {
      kernel[k] = (cotangent - (k % 2 == 0 ? 1.0 : -1.0) / std::sin(angle)) / m;
    }
  }
  return kernel;
}

std::size_t hilbert_transform_length(std::size_t samples, std::size_t attempt) {
  if (smooth(samples, {2, 3, 5, 7, 11, 13})) {
    if (attempt == 0) return samples;
    --attempt;
  }
  std::size_t sixteenth = (2 * samples - 1 + 15) / 16;
  for (;; ++sixteenth) {
    if (smooth(sixteenth, {2, 3, 5}) && attempt-- == 0) return 16 * sixteenth;
  }
}

std::vector<float> hilbert_spectrum(std::size_t samples, std::size_t length) {
  const std::size_t bins = length / 2 + 1;
  std::vector<float> spectrum(bins, 0.0F);
  if (length == samples) {
    for (std::size_t k = 1; 2 * k < length; ++k) spectrum[k] = static_cast<float>(-1.0 / static_cast<double>(length));
    return spectrum;
  }
  const std::vector<double> kernel = hilbert_kernel(samples);
  const std::unique_ptr<double, void (*)(void*)> laid_out(fftw_alloc_real(length), fftw_free);
  const std::unique_ptr<fftw_complex, void (*)(void*)> bins_out(fftw_alloc_complex(bins), fftw_free);
  if (!laid_out || !bins_out) throw RuntimeFault("no memory for the Hilbert kernel");
  {
    const std::lock_guard lock(fftw_lock());
    fftw_forget_wisdom();  // makes the plan independent of earlier plans
    const fftw_plan plan = fftw_plan_dft_r2c_1d(static_cast<int>(length), laid_out.get(), bins_out.get(), FFTW_ESTIMATE);
    if (plan == nullptr) throw RuntimeFault("FFTW has no plan for the Hilbert kernel");
    std::fill_n(laid_out.get(), length, 0.0);
    for (std::size_t k = 1; k < samples; ++k) {
      laid_out.get()[k] = kernel[k];
      laid_out.get()[length - k] = -kernel[k];  // h[-k] = h[M - k] = -h[k]
    }
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  }
  for (std::size_t k = 0; k < bins; ++k) spectrum[k] = static_cast<float>(bins_out.get()[k][1] / static_cast<double>(length));
  return spectrum;
}

}  // namespace echoform
