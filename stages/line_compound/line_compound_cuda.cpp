#include <utility>

#include "gpu/on_device.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_compound/line_compound_launch.hpp"

namespace echoform {
namespace {

/// The option whether all sets count lives in device memory, so that it can change although launches are captured.
class LineCompoundCuda final : public Stage {
 public:
  LineCompoundCuda(LineCompoundOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-compound");
    output_ = line_compound_output(options_, input);
    input_lead_ = input.lead;
    const LineCompoundTables tables = line_compound_tables(options_);
    sets_ = gpu::on_device(tables.sets, backend_);
    places_ = gpu::on_device(tables.places, backend_);
    all_ = backend_.allocate(sizeof(float), MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    put_all(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    work_.sets = static_cast<const CompoundSet*>(sets_.data());
    work_.places = static_cast<const RangePlace*>(places_.data());
    work_.all = static_cast<const float*>(all_.data());
    work_.count = options_.sets.size();
    work_.image = options_.image;
    work_.first_row = options_.sets[options_.image].first_row;
    work_.in_stride = stride_of(input);
    work_.ranges = output_.columns;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    LineCompoundWork work = work_;
    work.in = input.as<float>() + input_lead_;
    work.out = output.as<float>();
    launch_line_compound(work, output_.rows, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return sets_.size() + places_.size() + all_.size(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_line_compound(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.all = options.get<LineCompoundOptions>()->all;
    put_all(gpu::stream_of(queue));
  }

 private:
  void put_all(cudaStream_t stream) const noexcept {
    const float value = options_.all ? 1.0F : 0.0F;
    gpu::queue_values({&value, 1}, static_cast<float*>(all_.data()), stream);
  }

  LineCompoundOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_lead_ = 0;
  LineCompoundWork work_;  // complete except for what changes with each frame
  Buffer sets_;
  Buffer places_;
  Buffer all_;
};

}  // namespace

std::unique_ptr<Stage> make_line_compound_cuda(LineCompoundOptions options, Backend& backend) {
  return std::make_unique<LineCompoundCuda>(std::move(options), backend);
}

}  // namespace echoform
