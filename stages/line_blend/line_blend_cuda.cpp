#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_blend/line_blend_launch.hpp"

namespace echoform {
namespace {

class LineBlendCuda final : public Stage {
 public:
  LineBlendCuda(LineBlendOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-blend");
    const BlockSpec output = line_blend_output(options_, input);
    const LineBlendTable& table = *options_.table;
    std::vector<std::uint32_t> first_terms{0};
    std::vector<BlendTerm> terms;
    for (const std::vector<BlendTerm>& line : table.lines) {
      terms.insert(terms.end(), line.begin(), line.end());
      first_terms.push_back(static_cast<std::uint32_t>(terms.size()));
    }
    first_terms_ = gpu::on_device(first_terms, backend_);
    terms_ = gpu::on_device(terms, backend_);
    weights_ = gpu::on_device(table.weights, backend_);
    work_.complex = input.type == ElementType::complex64;
    work_.first_terms = static_cast<const std::uint32_t*>(first_terms_.data());
    work_.terms = static_cast<const BlendTerm*>(terms_.data());
    work_.weights = static_cast<const float*>(weights_.data());
    work_.lines = output.rows;
    work_.ranges = output.columns;
    work_.in_stride = stride_of(input);
    work_.out_stride = output.row_stride;
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    LineBlendWork work = work_;
    work.in = input[0].data;
    work.out = output.data;
    launch_line_blend(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return first_terms_.size() + terms_.size() + weights_.size(); }

 private:
  LineBlendOptions options_;
  Backend& backend_;
  LineBlendWork work_;  // complete except for what changes with each frame
  Buffer first_terms_;
  Buffer terms_;
  Buffer weights_;
};

}  // namespace

std::unique_ptr<Stage> make_line_blend_cuda(LineBlendOptions options, Backend& backend) {
  return std::make_unique<LineBlendCuda>(std::move(options), backend);
}

}  // namespace echoform
