#include "stages/analytic_signal/cufft_route.hpp"

#include <algorithm>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"

namespace echoform::gpu {
namespace {

/// Of the spectra of a chunk: those of two, the rows that they come from and the output that leaves share some 50 MB of cache.
constexpr std::size_t chunk_bytes = std::size_t{16} << 20;
constexpr std::size_t most_lanes = 2;

/// A length whose half cuFFT transforms, and the rows of which are its own: even and without large prime factors, or padded.
std::size_t transform_length(std::size_t samples) {
  const std::size_t length = hilbert_transform_length(samples);
  if (length != samples || (samples % 2 == 0 && samples >= 8)) return length;
  return hilbert_transform_length(samples, 1);  // the first of the padded lengths
}

}  // namespace

CufftRoute::CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, Backend& backend)
    : rows_(rows), length_(transform_length(samples)) {
  const std::size_t most = std::max<std::size_t>(1, chunk_bytes / (length_ * sizeof(float)));
  const std::size_t chunks = (rows + most - 1) / most;
  chunk_ = (rows + chunks - 1) / chunks;
  in_place_ = length_ != samples || input_stride % 2 != 0;
  const std::vector<hilbert::PairFactors> factors = hilbert::pair_factors(hilbert_spectrum(samples, length_), length_);
  factors_ = backend.allocate(factors.size() * sizeof(hilbert::PairFactors), MemoryUse::working);
  copy_now(factors_.data(), factors.data(), factors_.size());
  for (std::size_t k = 0; k < std::min(chunks, most_lanes); ++k) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
    lane.spectra = backend.allocate(chunk_ * length_ * sizeof(float), MemoryUse::working);
    // They run one after the other, and so share what they work in.
    const std::size_t forward_bytes = make_plan(lane.forward, in_place_ ? length_ / 2 : input_stride / 2);
    lane.work = backend.allocate(std::max(forward_bytes, make_plan(lane.backward, length_ / 2)), MemoryUse::working);
    ECHOFORM_CUFFT(cufft_.set_work_area(lane.forward.get(), lane.work.data()));
    ECHOFORM_CUFFT(cufft_.set_work_area(lane.backward.get(), lane.work.data()));
    if (k == 0) continue;
    lane.stream = make_stream();
    lane.finished = make_event();
  }
  begun_ = make_event();
}

std::size_t CufftRoute::bytes() const noexcept {
  std::size_t sum = factors_.size();
  for (const auto& lane : lanes_) sum += lane->spectra.size() + lane->work.size();
  return sum;
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
  ECHOFORM_CUDA_QUEUED(cudaEventRecord(begun_.get(), stream));
  for (const auto& lane : lanes_) {
    if (lane->stream) ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(lane->stream.get(), begun_.get(), 0));
  }
  std::size_t turn = 0;
  for (std::size_t next = 0; next < rows_; next += chunk_, turn = (turn + 1) % lanes_.size()) {
    const Lane& lane = *lanes_[turn];
    // The last chunk is as long as the others: it does some rows again, with the same result.
    queue_chunk(rows, std::min(next, rows_ - chunk_), lane, lane.stream ? lane.stream.get() : stream);
  }
  for (const auto& lane : lanes_) {
    if (!lane->stream) continue;
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(lane->finished.get(), lane->stream.get()));
    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(stream, lane->finished.get(), 0));
  }
}

void CufftRoute::queue_chunk(const AnalyticRows& rows, std::size_t first, const Lane& lane, cudaStream_t stream) noexcept {
  auto* const spectra = static_cast<cufftComplex*>(lane.spectra.data());
  auto* const numbers = static_cast<float*>(lane.spectra.data());
  cufftComplex* input = spectra;
  if (in_place_) {
    launch_copy(rows, first, chunk_, numbers, length_, stream);
  } else {
    // Out of place, cuFFT only reads it.
    input = const_cast<cufftComplex*>(reinterpret_cast<const cufftComplex*>(rows.input + first * rows.input_stride));
  }
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(lane.forward.get(), stream));
  ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(lane.forward.get(), input, spectra, CUFFT_FORWARD));
  launch_multiply(static_cast<hilbert::Complex*>(lane.spectra.data()), chunk_, length_,
                  static_cast<const hilbert::PairFactors*>(factors_.data()), stream);
  ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(lane.backward.get(), stream));
  ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(lane.backward.get(), spectra, spectra, CUFFT_INVERSE));
  launch_write(rows, first, chunk_, numbers, length_, stream);
}

}  // namespace echoform::gpu
