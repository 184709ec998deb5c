#include "stages/analytic_signal/cufft_route.hpp"

#include <algorithm>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/cufft_sizes.hpp"

namespace echoform::gpu {

CufftRoute::CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, std::size_t most_bytes, Backend& backend)
    : rows_(rows) {
  const CufftSizes sizes = cufft_sizes(rows, samples, most_bytes);
  length_ = sizes.length;
  chunk_ = sizes.chunk;
  in_place_ = length_ != samples || input_stride % 2 != 0;
  spectra_ = backend.allocate(sizes.spectra_bytes(), MemoryUse::working);
  const std::vector<hilbert::PairFactors> factors = hilbert::pair_factors(hilbert_spectrum(samples, length_), length_);
  factors_ = backend.allocate(factors.size() * sizeof(hilbert::PairFactors), MemoryUse::working);
  copy_now(factors_.data(), factors.data(), factors_.size());
  // They run one after the other, and so share what they work in.
  const std::size_t forward_bytes = make_plan(forward_, in_place_ ? length_ / 2 : input_stride / 2);
  work_ = backend.allocate(std::max(forward_bytes, make_plan(backward_, length_ / 2)), MemoryUse::working);
  ECHOFORM_CUFFT(cufft_.set_work_area(forward_.get(), work_.data()));
  ECHOFORM_CUFFT(cufft_.set_work_area(backward_.get(), work_.data()));
}

std::size_t CufftRoute::make_plan(const FftPlan& plan, std::size_t input_distance) const {
  int size = static_cast<int>(length_ / 2);
  int input_size = static_cast<int>(input_distance);
  std::size_t work_bytes = 0;
  ECHOFORM_CUFFT(cufft_.set_auto_allocation(plan.get(), 0));
  ECHOFORM_CUFFT(cufft_.make_plan_many(plan.get(), 1, &size, &input_size, 1, input_size, &size, 1, size, CUFFT_C2C,
                                       static_cast<int>(chunk_), &work_bytes));
  return work_bytes;
}

void CufftRoute::process(const AnalyticRows& rows, cudaStream_t stream) noexcept {
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(forward_.get(), stream));
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(backward_.get(), stream));
  auto* const spectra = static_cast<cufftComplex*>(spectra_.data());
  auto* const numbers = static_cast<float*>(spectra_.data());
  for (std::size_t next = 0; next < rows_; next += chunk_) {
    // The last chunk is as long as the others: it does some rows again, with the same result.
    const std::size_t first = std::min(next, rows_ - chunk_);
    cufftComplex* input = spectra;
    if (in_place_) {
      launch_copy(rows, first, chunk_, numbers, length_, stream);
    } else {
      // Out of place, cuFFT only reads it.
      input = const_cast<cufftComplex*>(reinterpret_cast<const cufftComplex*>(rows.input + first * rows.input_stride));
    }
    ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(forward_.get(), input, spectra, CUFFT_FORWARD));
    launch_multiply(static_cast<hilbert::Complex*>(spectra_.data()), chunk_, length_,
                    static_cast<const hilbert::PairFactors*>(factors_.data()), stream);
    ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(backward_.get(), spectra, spectra, CUFFT_INVERSE));
    launch_write(rows, first, chunk_, numbers, length_, stream);
  }
}

}  // namespace echoform::gpu
