#include <utility>
#include <vector>

#include "gpu/cuda_backend.hpp"
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
    std::vector<PairSource> sources = *options_.sources;
    const auto scale = static_cast<float>(options_.sample_scale);
    for (PairSource& source : sources) source.weight *= scale;
    sources_ = backend_.allocate(sources.size() * sizeof(PairSource), MemoryUse::working);
    copy_now(sources_.data(), sources.data(), sources_.size());
    return reader_.prepare("pairing", input, output, static_cast<const PairSource*>(sources_.data()));
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    reader_.process(input[0], output, queue);
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = reader_.quality(), .reference = {}}; }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return reader_.device_facts(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return sources_.size() + reader_.bytes(); }

 private:
  PairingOptions options_;
  Backend& backend_;
  Buffer sources_;
  gpu::RawRowReader reader_;
};

}  // namespace

std::unique_ptr<Stage> make_pairing_cuda(PairingOptions options, Backend& backend) {
  return std::make_unique<PairingCuda>(std::move(options), backend);
}

}  // namespace echoform
