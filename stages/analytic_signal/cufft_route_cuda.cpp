#include "stages/analytic_signal/cufft_route.hpp"

#include <algorithm>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"

namespace echoform::gpu {

CufftRoute::CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, std::size_t most_bytes, Backend& backend,
                       std::span<const RowResponse> responses)
    : rows_(rows),
      samples_(samples),
      input_stride_(input_stride),
      sizes_(cufft_sizes(rows, samples, most_bytes, responses.size())) {
  const std::size_t half = sizes_.length / 2;
  in_place_ = sizes_.length != samples || input_stride % 2 != 0;
  spectra_ = backend.allocate(sizes_.spectra_bytes(), MemoryUse::working);
  make_factors(responses, backend);
  // The two transforms run one after the other, and so share their work area.
  const std::size_t forward_bytes = make_plan(forward_, in_place_ ? half : input_stride / 2, sizes_.chunk);
  const std::size_t backward_bytes = make_plan(backward_, half, sizes_.results() * sizes_.chunk);
  work_ = backend.allocate(std::max(forward_bytes, backward_bytes), MemoryUse::working);
  ECHOFORM_CUFFT(cufft_.set_work_area(forward_.get(), work_.data()));
  ECHOFORM_CUFFT(cufft_.set_work_area(backward_.get(), work_.data()));
}

std::size_t CufftRoute::make_plan(const FftPlan& plan, std::size_t input_distance, std::size_t count) const {
  int size = static_cast<int>(sizes_.length / 2);
  int input_size = static_cast<int>(input_distance);
  std::size_t work_bytes = 0;
  ECHOFORM_CUFFT(cufft_.set_auto_allocation(plan.get(), 0));
  ECHOFORM_CUFFT(cufft_.make_plan_many(plan.get(), 1, &size, &input_size, 1, input_size, &size, 1, size, CUFFT_C2C,
                                       static_cast<int>(count), &work_bytes));
  return work_bytes;
}

void CufftRoute::make_factors(std::span<const RowResponse> responses, Backend& backend) {
  const auto keep = [&](const auto& factors) {
    factors_ = backend.allocate(factors.size() * sizeof(factors[0]), MemoryUse::working);
    copy_now(factors_.data(), factors.data(), factors_.size());
  };
  if (responses.empty()) {
    keep(hilbert::pair_factors(hilbert_spectrum(samples_, sizes_.length), sizes_.length));
    return;
  }
  std::vector<hilbert::ResponsePair> all;
  for (const RowResponse& response : responses) {
    const auto pairs = hilbert::response_pairs(response_spectrum(response, samples_, sizes_.length), sizes_.length);
    all.insert(all.end(), pairs.begin(), pairs.end());
  }
  keep(all);
}

template <class Write>
void CufftRoute::for_chunks(const float* input_rows, cudaStream_t stream, const Write& write) noexcept {
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(forward_.get(), stream));
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(backward_.get(), stream));
  auto* const spectra = static_cast<cufftComplex*>(spectra_.data());
  auto* const bins = static_cast<hilbert::Complex*>(spectra_.data());
  auto* const numbers = static_cast<float*>(spectra_.data());
  for (std::size_t next = 0; next < rows_; next += sizes_.chunk) {
    // The last chunk is as long as the others: it transforms some rows again, with the same result.
    const std::size_t first = std::min(next, rows_ - sizes_.chunk);
    const float* const rows = input_rows + first * input_stride_;
    cufftComplex* input = spectra;
    if (in_place_) {
      launch_copy({rows, input_stride_}, sizes_.chunk, static_cast<std::uint32_t>(samples_), numbers, sizes_.length, stream);
    } else {
      // cuFFT only reads the input of an out-of-place transform.
      input = const_cast<cufftComplex*>(reinterpret_cast<const cufftComplex*>(rows));
    }
    ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(forward_.get(), input, spectra, CUFFT_FORWARD));
    if (sizes_.responses == 0) {
      launch_multiply(bins, sizes_.chunk, sizes_.length, static_cast<const hilbert::PairFactors*>(factors_.data()), stream);
    } else {
      const auto* const factors = static_cast<const hilbert::ResponsePair*>(factors_.data());
      launch_filter(bins, sizes_.chunk, sizes_.length, factors,
                    sizes_.responses > 1 ? factors + hilbert::pair_count(sizes_.length) : nullptr, stream);
    }
    ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(backward_.get(), spectra, spectra, CUFFT_INVERSE));
    write(first, RealRows{numbers, sizes_.length});
  }
}

void CufftRoute::process(const AnalyticRows& rows, cudaStream_t stream) noexcept {
  for_chunks(rows.input, stream, [&](std::size_t first, const RealRows& result) {
    if (sizes_.responses == 0) {
      launch_write(rows, first, sizes_.chunk, {rows.input + first * input_stride_, input_stride_}, result, stream);
    } else {
      const RealRows quadrature{result.data + sizes_.chunk * sizes_.length, sizes_.length};
      launch_write(rows, first, sizes_.chunk, result, quadrature, stream);
    }
  });
}

void CufftRoute::filter(const float* input, float* output, std::size_t stride, cudaStream_t stream) noexcept {
  for_chunks(input, stream, [&](std::size_t first, const RealRows& result) {
    launch_copy({result.data, result.stride}, sizes_.chunk, static_cast<std::uint32_t>(samples_), output + first * stride, stride,
                stream);
  });
}

}  // namespace echoform::gpu
