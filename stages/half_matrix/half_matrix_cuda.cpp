#include <fmt/format.h>

#include <utility>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/errors.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/half_matrix/half_matrix_form.hpp"
#include "stages/unpack/frame_facts_readback.hpp"
#include "stages/unpack/raw_row_kernels.hpp"
#include "stages/unpack/raw_samples.hpp"

namespace echoform {
namespace {

constexpr std::size_t row_limit = (std::size_t{1} << 31) - 1;  // blocks of a launch

class HalfMatrixCuda final : public Stage, public SampleQualitySource {
 public:
  HalfMatrixCuda(HalfMatrixOptions options, Backend& backend) : options_(std::move(options)), backend_(backend), facts_(backend) {
    require_half_matrix_options(options_);
  }

  [[nodiscard]] BlockSpec prepare(const BlockSpec& input) override {
    output_ = half_matrix_output(options_, input);
    output_.trailer = facts_trailer;
    if (output_.rows > row_limit) {
      throw InputError("half-matrix stage, pairs", fmt::format("{}", output_.rows), fmt::format("at most {}", row_limit));
    }
    const std::vector<PairSource> sources = half_matrix_sources(options_, input);
    sources_ = backend_.allocate(sources.size() * sizeof(PairSource), MemoryUse::working);
    copy_now(sources_.data(), sources.data(), sources_.size());
    rows_.input_row_bytes = raw_row_bytes(input);
    rows_.encoding = encoding_of(input.type);
    rows_.sources = static_cast<const PairSource*>(sources_.data());
    rows_.output_row_stride = output_.row_stride;
    rows_.rows = output_.rows;
    rows_.samples = output_.columns;
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
  [[nodiscard]] std::size_t bytes() const noexcept override { return sources_.size(); }

 private:
  HalfMatrixOptions options_;
  Backend& backend_;
  BlockSpec output_;
  Buffer sources_;
  gpu::RawRows rows_;
  gpu::FrameFactsReadback facts_;
};

}  // namespace

std::unique_ptr<Stage> make_half_matrix_cuda(HalfMatrixOptions options, Backend& backend) {
  return std::make_unique<HalfMatrixCuda>(std::move(options), backend);
}

std::unique_ptr<Stage> make_half_matrix_cuda(const ImagingPlan& plan, std::size_t /*view*/, Backend& backend) {
  return make_half_matrix_cuda(half_matrix_options(plan), backend);
}

}  // namespace echoform
