#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cublas_library.hpp"
#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/decoding/decoding.hpp"
#include "stages/decoding/decoding_launch.hpp"
#include "stages/decoding/decoding_sizes.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform {
namespace {

static_assert(gpu::most_walsh_hadamard_rows == most_hadamard_events_cuda && gpu::no_element == SylvesterOrder::nobody);

constexpr std::size_t most_stride = (std::size_t{1} << 31) - 1;

/// Some samples of all decoded A-scans: the output itself, or scratch memory.
struct DecodedPlace {
  float* data = nullptr;
  std::size_t stride = 0;  // distance between A-scans, in floats
  std::size_t first = 0;   // first sample
  std::size_t count = 0;
  std::uint32_t* peak_bits = nullptr;
};

class DecodingCuda final : public Stage {
 public:
  DecodingCuda(DecodingOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("decoding");
    output_ = decoding_output(options_, input, BackendKind::cuda);
    require_rows_of_a_launch(std::max(input.rows, output_.rows), "decoding");
    if (options_.pairs.receivers * stride_of(input) > most_stride) {
      throw InputError("decoding stage, input A-scans",
                       fmt::format("{} numbers an event", options_.pairs.receivers * stride_of(input)),
                       fmt::format("at most {}", most_stride));
    }
    sizes_ = decoding_sizes_cuda(options_, input.columns);
    if (takes_hadamard_route(options_, BackendKind::cuda)) {
      handle_.reset();
      matrix_ = {};
      work_ = {};
      prepare_transform();
    } else {
      prepare_product();
    }
    if (options_.pairs.summed) {
      // The memory is filled with zeros, which stay in place for elements that never fire.
      scratch_ = backend_.allocate(sizes_.scratch, MemoryUse::working);
      prepare_sums();
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    auto* const rows = output.as<float>();
    std::uint32_t* peak_bits = nullptr;
    if (output_.trailer != 0) {
      auto* const trailer = output.as<std::byte>() + (output_.bytes() - output_.trailer);
      ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(trailer, 0, output_.trailer, stream));
      peak_bits = reinterpret_cast<std::uint32_t*>(trailer);
    }
    if (handle_) {
      // A handle forgets its work area whenever its stream changes.
      ECHOFORM_CUBLAS_QUEUED(cublas_->set_stream(handle_->get(), stream));
      ECHOFORM_CUBLAS_QUEUED(cublas_->set_workspace(handle_->get(), work_.data(), work_.size()));
    }
    if (!options_.pairs.summed) {
      for (const Run& run : silent_) {
        const std::size_t element_stride = options_.pairs.receivers * output_.row_stride;
        ECHOFORM_CUDA_QUEUED(
            cudaMemsetAsync(rows + run.first * element_stride, 0, run.count * element_stride * sizeof(float), stream));
      }
      decode(input.as<float>(), {rows, output_.row_stride, 0, output_.columns, peak_bits}, stream);
      return;
    }
    auto* const scratch = static_cast<float*>(scratch_.data());
    for (std::size_t first = 0; first < output_.columns; first += sizes_.piece) {
      const std::size_t count = std::min(sizes_.piece, output_.columns - first);
      decode(input.as<float>(), {scratch, sizes_.piece, first, count, nullptr}, stream);
      gpu::launch_direction_sums({scratch, sizes_.piece, static_cast<const gpu::BothDirections*>(pairs_.data()), rows + first,
                                  output_.row_stride, output_.rows, count, peak_bits},
                                 stream);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return matrix_.size() + work_.size() + scratch_.size() + pairs_.size();
  }

 private:
  /// Consecutive elements.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void prepare_transform() {
    const DecodingMatrix& matrix = *options_.inverse;
    std::vector<bool> written(matrix.elements, false);
    for (std::size_t k = 0; k < matrix.events; ++k) {
      transform_.event_of_row[k] = matrix.sylvester->event_of_row[k];
      const std::uint32_t element = matrix.sylvester->element_of_column[k];
      transform_.element_of_column[k] = element;
      if (element != gpu::no_element) written[element] = true;
    }
    silent_.clear();
    for (std::size_t element = 0; element < matrix.elements; ++element) {
      if (written[element]) continue;
      if (!silent_.empty() && silent_.back().first + silent_.back().count == element) {
        ++silent_.back().count;
      } else {
        silent_.push_back({element, 1});
      }
    }
  }

  void prepare_product() {
    matrix_ = gpu::on_device(std::vector<float>(options_.inverse->weights.begin(), options_.inverse->weights.end()), backend_);
    work_ = backend_.allocate(sizes_.work, MemoryUse::working);
    cublas_ = &gpu::cublas_library();
    handle_ = std::make_unique<gpu::CublasHandle>();
    silent_.clear();
  }

  void prepare_sums() {
    std::vector<gpu::BothDirections> pairs(options_.pairs.rows);
    const auto elements = static_cast<std::uint32_t>(options_.inverse->elements);
    for (const PairRun& run : options_.pairs.lookups) {
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::uint32_t receiver = run.receiver + k;
        pairs[run.row + k] = {run.event * elements + receiver, receiver * elements + run.event};
      }
    }
    pairs_ = gpu::on_device(pairs, backend_);
  }

  void decode(const float* input, const DecodedPlace& place, cudaStream_t stream) noexcept {
    if (handle_) {
      multiply(input, place);
      return;
    }
    const std::size_t receivers = options_.pairs.receivers;
    gpu::WalshHadamardRows work = transform_;
    work.input = input + place.first;
    work.input_stride = output_.row_stride;
    work.event_stride = static_cast<std::uint32_t>(receivers * output_.row_stride);
    work.output = place.data;
    work.output_stride = place.stride;
    work.element_stride = static_cast<std::uint32_t>(receivers * place.stride);
    work.receivers = receivers;
    work.samples = place.count;
    work.peak_bits = place.peak_bits;
    gpu::launch_walsh_hadamard(work, options_.inverse->events, stream);
  }

  /// cuBLAS sees rows as columns: decoded = received * matrix, received [samples, events], matrix [events, elements].
  void multiply(const float* input, const DecodedPlace& place) noexcept {
    const auto whole = [](std::size_t count) { return static_cast<std::int64_t>(count); };
    const std::int64_t events = whole(options_.inverse->events);
    const std::int64_t elements = whole(options_.inverse->elements);
    const std::int64_t receivers = whole(options_.pairs.receivers);
    const std::int64_t input_stride = whole(output_.row_stride);
    const std::int64_t stride = whole(place.stride);
    const float one = 1.0F;
    const float zero = 0.0F;
    // The precision is single throughout, whatever the environment requests from cuBLAS.
    constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F_PEDANTIC;
    if (stride == input_stride && place.count == output_.columns) {
      // The rows of all receivers, including the gaps between them, are one row.
      ECHOFORM_CUBLAS_QUEUED(cublas_->gemm(handle_->get(), CUBLAS_OP_N, CUBLAS_OP_N, receivers * stride, elements, events, &one,
                                           input, CUDA_R_32F, receivers * stride, matrix_.data(), CUDA_R_32F, events, &zero,
                                           place.data, CUDA_R_32F, receivers * stride, compute, CUBLAS_GEMM_DEFAULT));
      return;
    }
    ECHOFORM_CUBLAS_QUEUED(cublas_->gemm_batch(handle_->get(), CUBLAS_OP_N, CUBLAS_OP_N, whole(place.count), elements, events,
                                               &one, input + place.first, CUDA_R_32F, receivers * input_stride, input_stride,
                                               matrix_.data(), CUDA_R_32F, events, 0, &zero, place.data, CUDA_R_32F,
                                               receivers * stride, stride, receivers, compute, CUBLAS_GEMM_DEFAULT));
  }

  DecodingOptions options_;
  Backend& backend_;
  BlockSpec output_;
  DecodingSizesCuda sizes_;
  gpu::WalshHadamardRows transform_;  // complete except for what changes with each frame
  std::vector<Run> silent_;           // for the transform
  const gpu::CublasLibrary* cublas_ = nullptr;
  std::unique_ptr<gpu::CublasHandle> handle_;  // for the product
  Buffer matrix_;                              // [element, event]
  Buffer work_;
  Buffer scratch_;
  Buffer pairs_;
};

}  // namespace

std::unique_ptr<Stage> make_decoding_cuda(DecodingOptions options, Backend& backend) {
  return std::make_unique<DecodingCuda>(std::move(options), backend);
}

}  // namespace echoform
