#include "stages/filter/chirp_sums.hpp"

#include <fftw3.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>
#include <utility>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "cpu/fftw_lock.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

/// exp(-2 pi i turns).
Complex root(double turns) {
  return std::polar(1.0, -2.0 * std::numbers::pi * std::fmod(turns, 1.0));
}

/// Complex transforms of a fixed length, in place.
class Transform {
 public:
  explicit Transform(std::size_t length) : length_(length), numbers_(fftw_alloc_complex(length), fftw_free) {
    if (!numbers_) throw RuntimeFault("no memory for the spectrum of a pulse");
    const std::lock_guard lock(fftw_lock());
    fftw_forget_wisdom();  // makes the plans independent of earlier plans
    const auto plan = [&](int direction) {
      return fftw_plan_dft_1d(static_cast<int>(length), numbers_.get(), numbers_.get(), direction, FFTW_ESTIMATE);
    };
    forward_ = plan(FFTW_FORWARD);
    backward_ = plan(FFTW_BACKWARD);
  }
  ~Transform() {
    const std::lock_guard lock(fftw_lock());
    if (forward_ != nullptr) fftw_destroy_plan(forward_);
    if (backward_ != nullptr) fftw_destroy_plan(backward_);
  }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  [[nodiscard]] bool ready() const { return forward_ != nullptr && backward_ != nullptr; }
  [[nodiscard]] std::span<Complex> numbers() { return {reinterpret_cast<Complex*>(numbers_.get()), length_}; }
  void forward() { fftw_execute(forward_); }
  /// The result is multiplied by the length.
  void backward() { fftw_execute(backward_); }

 private:
  std::size_t length_;
  std::unique_ptr<fftw_complex[], void (*)(void*)> numbers_;
  fftw_plan forward_ = nullptr;
  fftw_plan backward_ = nullptr;
};

}  // namespace

std::vector<Complex> chirp_sums(std::span<const Complex> numbers, double step, std::size_t count) {
  std::vector<Complex> sums(count);
  if (numbers.empty() || count == 0) return sums;
  // n k = (n^2 + k^2 - (k - n)^2) / 2. So the sums are a convolution of the numbers times a chirp with a chirp.
  const std::size_t length = std::bit_ceil(std::max<std::size_t>(1024, 4 * numbers.size()));
  const std::size_t block = std::min(count, length - numbers.size() + 1);
  std::vector<Complex> chirp(std::max(block, numbers.size()));
  for (std::size_t n = 0; n < chirp.size(); ++n) {
    const auto place = static_cast<double>(n);
    chirp[n] = root(0.5 * step * place * place);
  }
  Transform transform(length);
  if (!transform.ready()) throw RuntimeFault("FFTW has no plan for the spectrum of a pulse");
  const std::span<Complex> work = transform.numbers();
  std::fill(work.begin(), work.end(), Complex());
  for (std::size_t k = 0; k < block; ++k) work[k] = std::conj(chirp[k]);
  for (std::size_t n = 1; n < numbers.size(); ++n) work[length - n] = std::conj(chirp[n]);
  transform.forward();
  std::vector<Complex> kernel(work.begin(), work.end());
  for (Complex& bin : kernel) bin /= static_cast<double>(length);
  for (std::size_t first = 0; first < count; first += block) {
    keep_planning();
    std::fill(work.begin(), work.end(), Complex());
    const double offset = std::fmod(step * static_cast<double>(first), 1.0);
    for (std::size_t n = 0; n < numbers.size(); ++n) work[n] = numbers[n] * chirp[n] * root(offset * static_cast<double>(n));
    transform.forward();
    for (std::size_t k = 0; k < length; ++k) work[k] *= kernel[k];
    transform.backward();
    const std::size_t last = std::min(first + block, count);
    for (std::size_t k = first; k < last; ++k) sums[k] = work[k - first] * chirp[k - first];
  }
  return sums;
}

}  // namespace echoform
