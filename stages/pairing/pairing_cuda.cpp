#include <utility>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/raw_rows/raw_row_reader.hpp"

namespace echoform {
namespace {

class PairingCuda final : public Stage {
 public:
  PairingCuda(PairingOptions options, Backend& backend) : options_(std::move(options)), backend_(backend), reader_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("pairing");
    const BlockSpec output = pairing_output(options_, input);
    scale_sources();
    sources_ = backend_.allocate(scaled_.size() * sizeof(PairSource), MemoryUse::working);
    copy_now(sources_.data(), scaled_.data(), sources_.size());
    return reader_.prepare("pairing", input, output, static_cast<const PairSource*>(sources_.data()));
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    reader_.process(input[0], output, queue);
  }

  /// Accepts other rows of the same A-scans, as long as their number stays the same.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<PairingOptions>();
    validate(wanted);
    return wanted.a_scans == options_.a_scans && wanted.sample_scale == options_.sample_scale &&
           wanted.sources->size() == options_.sources->size();
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.sources = options.get<PairingOptions>()->sources;
    scale_sources();
    // The copy is from memory that is not pinned: all of it has been read when the call returns.
    ECHOFORM_CUDA_QUEUED(
        cudaMemcpyAsync(sources_.data(), scaled_.data(), sources_.size(), cudaMemcpyHostToDevice, gpu::stream_of(queue)));
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = reader_.quality(), .reference = {}}; }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return reader_.device_facts(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return sources_.size() + reader_.bytes(); }

 private:
  void scale_sources() {
    scaled_ = *options_.sources;
    const auto scale = static_cast<float>(options_.sample_scale);
    for (PairSource& source : scaled_) source.weight *= scale;
  }

  PairingOptions options_;
  Backend& backend_;
  std::vector<PairSource> scaled_;
  Buffer sources_;
  gpu::RawRowReader reader_;
};

}  // namespace

std::unique_ptr<Stage> make_pairing_cuda(PairingOptions options, Backend& backend) {
  return std::make_unique<PairingCuda>(std::move(options), backend);
}

}  // namespace echoform
