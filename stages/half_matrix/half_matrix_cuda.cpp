#include <utility>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/half_matrix/half_matrix_form.hpp"
#include "stages/unpack/raw_row_reader.hpp"

namespace echoform {
namespace {

class HalfMatrixCuda final : public Stage {
 public:
  HalfMatrixCuda(HalfMatrixOptions options, Backend& backend)
      : options_(std::move(options)), backend_(backend), reader_(backend) {
    require_half_matrix_options(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("half-matrix");
    const BlockSpec output = half_matrix_output(options_, input);
    const std::vector<PairSource> sources = half_matrix_sources(options_, input);
    sources_ = backend_.allocate(sources.size() * sizeof(PairSource), MemoryUse::working);
    copy_now(sources_.data(), sources.data(), sources_.size());
    return reader_.prepare("half-matrix", input, output, static_cast<const PairSource*>(sources_.data()), 1.0F);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    reader_.process(input[0], output, queue);
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = reader_.quality(), .reference = {}}; }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return reader_.device_facts(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return sources_.size() + reader_.bytes(); }

 private:
  HalfMatrixOptions options_;
  Backend& backend_;
  Buffer sources_;
  gpu::RawRowReader reader_;
};

}  // namespace

std::unique_ptr<Stage> make_half_matrix_cuda(HalfMatrixOptions options, Backend& backend) {
  return std::make_unique<HalfMatrixCuda>(std::move(options), backend);
}

}  // namespace echoform
