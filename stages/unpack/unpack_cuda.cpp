#include <fmt/format.h>

#include "gpu/stream_queue.hpp"
#include "pipeline/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/unpack/frame_facts_readback.hpp"
#include "stages/unpack/raw_row_kernels.hpp"
#include "stages/unpack/raw_samples.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {
namespace {

constexpr std::size_t row_limit = (std::size_t{1} << 31) - 1;  // blocks of a launch

class UnpackCuda final : public Stage, public SampleQualitySource {
 public:
  UnpackCuda(double sample_scale, Backend& backend) : sample_scale_(sample_scale), facts_(backend) {
    require_sample_scale(sample_scale, "unpack");
  }

  [[nodiscard]] BlockSpec prepare(const BlockSpec& input) override {
    require_block(input, "unpack", {ElementType::int16, ElementType::packed12, ElementType::float32});
    if (input.rows > row_limit) {
      throw InputError("unpack stage, input A-scans", fmt::format("{}", input.rows), fmt::format("at most {}", row_limit));
    }
    output_ = input;
    output_.type = ElementType::float32;
    output_.row_stride = padded_columns(input.columns);
    output_.lead = 0;
    output_.trailer = facts_trailer;
    rows_.input_row_bytes = raw_row_bytes(input);
    rows_.encoding = encoding_of(input.type);
    rows_.weight = static_cast<float>(amplitude_scale(input.type, sample_scale_));
    rows_.output_row_stride = output_.row_stride;
    rows_.rows = input.rows;
    rows_.samples = input.columns;
    return output_;
  }

  void process(ConstBlock input, Block output, ExecutionQueue& queue) noexcept override {
    gpu::RawRows rows = rows_;
    rows.input = input.data;
    rows.output = output.as<float>();
    rows.facts = gpu::facts_of(output_, output.data);
    rows.gathered = facts_.gathered();
    rows.readback = facts_.pinned();
    gpu::launch_raw_rows(rows, gpu::stream_of(queue));
  }

  [[nodiscard]] SampleQuality quality() const noexcept override { return facts_.quality(); }

 private:
  double sample_scale_;
  BlockSpec output_;
  gpu::RawRows rows_;
  gpu::FrameFactsReadback facts_;
};

}  // namespace

std::unique_ptr<Stage> make_unpack_cuda(double sample_scale, Backend& backend) {
  return std::make_unique<UnpackCuda>(sample_scale, backend);
}

std::unique_ptr<Stage> make_unpack_cuda(const ImagingPlan& plan, std::size_t /*view*/, Backend& backend) {
  return make_unpack_cuda(plan.acquisition.sample_scale, backend);
}

}  // namespace echoform
