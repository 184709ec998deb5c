#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/analytic_responses.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/cufft_route.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/block_checks.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

class AnalyticSignalCuda final : public Stage {
 public:
  AnalyticSignalCuda(const AnalyticSignalOptions& options, Backend& backend) : options_(options), backend_(backend) {
    validate(options_.filter, "analytic-signal stage, filter");
  }

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
    if (options_.half && filtered()) rows_.headroom = half_path_headroom(options_.filter);
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
    } else if (filtered()) {
      gpu::launch_fused_filter(rows, static_cast<const hilbert::Complex*>(table_.data()),
                               static_cast<const hilbert::Complex*>(factors_.data()), stream);
    } else {
      gpu::launch_fused(rows, static_cast<const hilbert::Complex*>(table_.data()), stream);
    }
  }

  /// Accepts another number of rows to transform: the stage transforms all rows, whatever that number is.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    AnalyticSignalOptions wanted = options.as<AnalyticSignalOptions>();
    wanted.rows = options_.rows;
    return wanted == options_;
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return peak_.size() + table_.size() + factors_.size() + (cufft_ ? cufft_->bytes() : 0);
  }

 private:
  [[nodiscard]] bool filtered() const { return options_.filter.kind != FilterKind::none; }
  void choose_route(const BlockSpec& input) {
    cufft_.reset();
    if (!takes_fused_route(options_, input.columns)) {
      cufft_ = std::make_unique<gpu::CufftRoute>(input.rows, input.columns, rows_.input_stride, options_.spectra_bytes, backend_,
                                                 analytic_responses(options_.filter, input.columns));
      return;
    }
    const auto length = static_cast<int>(input.columns);
    table_ = gpu::on_device(hilbert::twiddle_table(length), backend_);
    if (filtered()) {
      gpu::prepare_fused_filter(input.columns);
      factors_ = gpu::on_device(hilbert::filter_table(filter_response(options_.filter, input.columns), length), backend_);
    } else {
      gpu::prepare_fused(input.columns);
    }
  }

  AnalyticSignalOptions options_;
  Backend& backend_;
  BlockSpec output_;
  gpu::AnalyticRows rows_;
  bool find_peak_ = false;
  std::size_t peak_place_ = 0;
  Buffer peak_;
  Buffer table_;
  Buffer factors_;
  std::unique_ptr<gpu::CufftRoute> cufft_;
};

}  // namespace

std::unique_ptr<Stage> make_analytic_signal_cuda(const AnalyticSignalOptions& options, Backend& backend) {
  return std::make_unique<AnalyticSignalCuda>(options, backend);
}

}  // namespace echoform
