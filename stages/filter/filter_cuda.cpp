#include <memory>
#include <span>
#include <utility>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/cufft_route.hpp"
#include "stages/block_checks.hpp"
#include "stages/filter/filter.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

class FilterCuda final : public Stage {
 public:
  FilterCuda(FilterOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    validate(options_, "filter stage,");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("filter");
    output_ = filter_output(options_, input);
    require_rows_of_a_launch(input.rows, "filter");
    input_stride_ = stride_of(input);
    cufft_.reset();
    if (options_.kind != FilterKind::none) {
      const RowResponse response = filter_response(options_, input.columns);
      cufft_ = std::make_unique<gpu::CufftRoute>(input.rows, input.columns, input_stride_, filter_spectra_bytes, backend_,
                                                 std::span(&response, 1));
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    if (cufft_) {
      cufft_->filter(input.as<float>(), output.as<float>(), output_.row_stride, stream);
    } else {
      gpu::launch_copy({input.as<float>(), input_stride_}, output_.rows, static_cast<std::uint32_t>(output_.columns),
                       output.as<float>(), output_.row_stride, stream);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return cufft_ ? cufft_->bytes() : 0; }

 private:
  FilterOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::unique_ptr<gpu::CufftRoute> cufft_;
};

}  // namespace

std::unique_ptr<Stage> make_filter_cuda(FilterOptions options, Backend& backend) {
  return std::make_unique<FilterCuda>(std::move(options), backend);
}

}  // namespace echoform
