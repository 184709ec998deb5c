#include "operators/real_transform.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/errors.hpp"
#include "cpu/fftw_lock.hpp"

namespace echoform {
namespace {

fftwf_complex* as_fftw_complex(float* values) {
  return reinterpret_cast<fftwf_complex*>(values);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): FFTW's layout
}

}  // namespace

void FreeTransformMemory::operator()(void* memory) const noexcept {
  fftwf_free(memory);
}

TransformReals transform_reals(std::size_t count) {
  TransformReals array(fftwf_alloc_real(count));
  if (!array) throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for transforms", 4e-6 * static_cast<double>(count)));
  std::fill_n(array.get(), count, 0.0F);
  return array;
}

std::size_t quick_transform_length(std::size_t least) {
  for (std::size_t length = std::max<std::size_t>(32, least + least % 2);; length += 2) {
    std::size_t rest = length;
    for (const std::size_t factor : {2U, 3U, 5U}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return length;
  }
}

RealTransform::RealTransform(std::size_t length) {
  const TransformReals values = transform_reals(length);
  const TransformReals spectrum = transform_reals(length + 2);
  const std::lock_guard lock(fftw_lock());
  const auto size = static_cast<int>(length);
  // Otherwise FFTW would build upon plans that were made before, of other lengths and in other parts of the program.
  fftwf_forget_wisdom();
  forward_ = fftwf_plan_dft_r2c_1d(size, values.get(), as_fftw_complex(spectrum.get()), FFTW_ESTIMATE);
  backward_ = fftwf_plan_dft_c2r_1d(size, as_fftw_complex(spectrum.get()), values.get(), FFTW_ESTIMATE);
  fftwf_forget_wisdom();
  if (forward_ != nullptr && backward_ != nullptr) return;
  fftwf_destroy_plan(forward_);
  fftwf_destroy_plan(backward_);
  throw RuntimeFault(fmt::format("no transform of {} numbers", length));
}

RealTransform::~RealTransform() {
  const std::lock_guard lock(fftw_lock());
  fftwf_destroy_plan(forward_);
  fftwf_destroy_plan(backward_);
}

void RealTransform::forward(float* values, float* spectrum) const noexcept {
  fftwf_execute_dft_r2c(forward_, values, as_fftw_complex(spectrum));
}

void RealTransform::backward(float* spectrum, float* values) const noexcept {
  fftwf_execute_dft_c2r(backward_, as_fftw_complex(spectrum), values);
}

}  // namespace echoform
