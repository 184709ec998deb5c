#include <memory>
#include <span>
#include <utility>

#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/cufft_route.hpp"
#include "stages/block_checks.hpp"
#include "stages/deconvolution/deconvolution.hpp"

namespace echoform {
namespace {

class DeconvolutionCuda final : public Stage {
 public:
  DeconvolutionCuda(DeconvolutionOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("deconvolution");
    output_ = deconvolution_output(input);
    require_rows_of_a_launch(input.rows, "deconvolution");
    input_lead_ = input.lead;
    cufft_.reset();
    const RowResponse response = deconvolution_response(options_, input.columns);
    cufft_ = std::make_unique<gpu::CufftRoute>(input.rows, input.columns, stride_of(input), deconvolution_spectra_bytes, backend_,
                                               std::span(&response, 1));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    cufft_->filter(input.as<float>() + input_lead_, output.as<float>(), output_.row_stride, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return cufft_ ? cufft_->bytes() : 0; }

 private:
  DeconvolutionOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_lead_ = 0;
  std::unique_ptr<gpu::CufftRoute> cufft_;
};

}  // namespace

std::unique_ptr<Stage> make_deconvolution_cuda(DeconvolutionOptions options, Backend& backend) {
  return std::make_unique<DeconvolutionCuda>(std::move(options), backend);
}

}  // namespace echoform
