#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/back_projection_term/term_launch.hpp"
#include "stages/back_projection_term/term_tables.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

class BackProjectionTermCuda final : public Stage {
 public:
  BackProjectionTermCuda(const BackProjectionTermOptions& options, Backend& backend) : options_(options), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("back-projection-term");
    output_ = back_projection_term_output(input);
    input_lead_ = input.lead;
    const TermTables tables = term_tables(options_, output_.columns);
    value_ = gpu::on_device(tables.value, backend_);
    slope_ = gpu::on_device(tables.slope, backend_);
    work_ = {};
    work_.value = static_cast<const float*>(value_.data());
    work_.slope = static_cast<const float*>(slope_.data());
    work_.weights = derivative_weights();
    work_.in_stride = stride_of(input);
    work_.columns = output_.columns;
    work_.out_stride = output_.row_stride;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    TermRows work = work_;
    work.in = input.as<float>() + input_lead_;
    work.out = output.as<float>();
    launch_terms(work, output_.rows, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return value_.size() + slope_.size(); }

 private:
  BackProjectionTermOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_lead_ = 0;
  Buffer value_;
  Buffer slope_;
  TermRows work_;
};

}  // namespace

std::unique_ptr<Stage> make_back_projection_term_cuda(const BackProjectionTermOptions& options, Backend& backend) {
  return std::make_unique<BackProjectionTermCuda>(options, backend);
}

}  // namespace echoform
