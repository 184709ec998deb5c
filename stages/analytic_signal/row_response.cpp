#include "stages/analytic_signal/row_response.hpp"

#include <fftw3.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/errors.hpp"
#include "cpu/fftw_lock.hpp"

namespace echoform {
namespace {

template <class T>
using FftwArray = std::unique_ptr<T[], void (*)(void*)>;

template <class T>
FftwArray<T> held(T* array) {
  if (array == nullptr) throw RuntimeFault("no memory for the response of a filter");
  return FftwArray<T>(array, fftw_free);
}

/// Plans when the arrays exist, then fills them and transforms. It forgets FFTW's wisdom first, so that the plan does not depend
/// on earlier plans.
template <class MakePlan, class Fill>
void transform_once(const MakePlan& make_plan, const Fill& fill) {
  const std::lock_guard lock(fftw_lock());
  fftw_forget_wisdom();
  const fftw_plan plan = make_plan();
  if (plan == nullptr) throw RuntimeFault("FFTW has no plan for the response of a filter");
  fill();
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

}  // namespace

RowResponse quadrature_of(RowResponse response, std::size_t samples) {
  for (std::complex<double>& factor : response) factor = {factor.imag(), -factor.real()};
  response.front() = 0.0;
  if (samples % 2 == 0) response.back() = 0.0;
  return response;
}

std::vector<double> impulse_response(const RowResponse& response, std::size_t samples) {
  const auto bins = held<fftw_complex>(fftw_alloc_complex(samples / 2 + 1));
  const auto numbers = held<double>(fftw_alloc_real(samples));
  transform_once([&] { return fftw_plan_dft_c2r_1d(static_cast<int>(samples), bins.get(), numbers.get(), FFTW_ESTIMATE); },
                 [&] {
                   for (std::size_t k = 0; k < samples / 2 + 1; ++k) {
                     bins[k][0] = response[k].real() / static_cast<double>(samples);
                     bins[k][1] = response[k].imag() / static_cast<double>(samples);
                   }
                 });
  return {numbers.get(), numbers.get() + samples};
}

std::vector<std::complex<float>> response_spectrum(const RowResponse& response, std::size_t samples, std::size_t length) {
  const auto scaled = [&](std::complex<double> factor) { return std::complex<float>(factor / static_cast<double>(length)); };
  std::vector<std::complex<float>> spectrum(length / 2 + 1);
  if (length == samples) {
    std::transform(response.begin(), response.end(), spectrum.begin(), scaled);
    return spectrum;
  }
  // Rows are padded with zeros. The sums stay the same, with the response laid out for -(M - 1) ... M - 1.
  const std::vector<double> in_time = impulse_response(response, samples);
  const auto numbers = held<double>(fftw_alloc_real(length));
  const auto bins = held<fftw_complex>(fftw_alloc_complex(spectrum.size()));
  transform_once([&] { return fftw_plan_dft_r2c_1d(static_cast<int>(length), numbers.get(), bins.get(), FFTW_ESTIMATE); },
                 [&] {
                   std::fill_n(numbers.get(), length, 0.0);
                   numbers[0] = in_time[0];
                   for (std::size_t n = 1; n < samples; ++n) {
                     numbers[n] = in_time[n];
                     numbers[length - n] = in_time[samples - n];
                   }
                 });
  for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] = scaled({bins[k][0], bins[k][1]});
  return spectrum;
}

}  // namespace echoform
