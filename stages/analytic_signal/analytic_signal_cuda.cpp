#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/cufft_route.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

class AnalyticSignalCuda final : public Stage {
 public:
  AnalyticSignalCuda(const AnalyticSignalOptions& options, Backend& backend) : options_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("analytic-signal");
    output_ = analytic_signal_output(options_, input, BackendKind::cuda);
    rows_.input_stride = stride_of(input);
    rows_.rows = input.rows;
    rows_.samples = static_cast<std::uint32_t>(input.columns);
    rows_.half = options_.half;
    rows_.nearest = options_.nearest;
    rows_.output_stride = output_.row_stride;
    rows_.lead = cuda_lead;
    find_peak_ = options_.half && input.trailer == 0;
    peak_place_ = input.bytes() - input.trailer;
    if (find_peak_) peak_ = backend_.allocate(sizeof(std::uint32_t), MemoryUse::working);
    choose_route(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    gpu::AnalyticRows rows = rows_;
    rows.input = input.as<float>();
    rows.output = output.as<uint2>();
    if (options_.half) {
      rows.trailer = reinterpret_cast<std::uint32_t*>(output.as<std::byte>() + (output_.bytes() - output_.trailer));
      rows.peak_bits = reinterpret_cast<const std::uint32_t*>(input.as<std::byte>() + peak_place_);
      if (find_peak_) {
        auto* const found = static_cast<std::uint32_t*>(peak_.data());
        gpu::launch_peak(rows, found, stream);
        rows.peak_bits = found;
      }
    }
    if (cufft_) {
      cufft_->process(rows, stream);
    } else {
      gpu::launch_fused(rows, static_cast<const hilbert::Complex*>(table_.data()), stream);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return peak_.size() + table_.size() + (cufft_ ? cufft_->bytes() : 0);
  }

 private:
  void choose_route(const BlockSpec& input) {
    cufft_.reset();
    if (!takes_fused_route(options_, input.columns)) {
      cufft_ = std::make_unique<gpu::CufftRoute>(input.rows, input.columns, rows_.input_stride, options_.spectra_bytes, backend_);
      return;
    }
    gpu::prepare_fused(input.columns);
    const std::vector<hilbert::Complex> table = hilbert::twiddle_table(static_cast<int>(input.columns));
    table_ = backend_.allocate(table.size() * sizeof(hilbert::Complex), MemoryUse::working);
    copy_now(table_.data(), table.data(), table_.size());
  }

  AnalyticSignalOptions options_;
  Backend& backend_;
  BlockSpec output_;
  gpu::AnalyticRows rows_;
  bool find_peak_ = false;
  std::size_t peak_place_ = 0;
  Buffer peak_;
  Buffer table_;
  std::unique_ptr<gpu::CufftRoute> cufft_;
};

}  // namespace

std::unique_ptr<Stage> make_analytic_signal_cuda(const AnalyticSignalOptions& options, Backend& backend) {
  return std::make_unique<AnalyticSignalCuda>(options, backend);
}

}  // namespace echoform
