#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/demodulation/demodulation_launch.hpp"
#include "stages/demodulation/demodulation_tiles.hpp"
#include "stages/raw_rows/raw_facts.hpp"
#include "stages/time_gain/device_gain.hpp"

namespace echoform {
namespace {

class DemodulationCuda final : public Stage {
 public:
  DemodulationCuda(DemodulationOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("demodulation");
    BlockSpec output = demodulation_output(options_, input);
    require_rows_of_a_launch(output.rows, "demodulation");
    work_ = {};
    work_.raw = input.type == ElementType::raw;
    work_.in_row_bytes = stride_of(input) * (work_.raw ? 1 : sizeof(float));
    work_.encoding = input.encoding;
    work_.scale = static_cast<float>(options_.sample_scale);
    work_.out_stride = output.row_stride;
    work_.rows = output.rows;
    work_.samples = input.columns;
    work_.kept = output.columns;
    work_.decimation = static_cast<std::uint32_t>(options_.decimation);
    make_tables(output);
    gain_.clear();
    facts_.reset();
    if (work_.raw && options_.time_gain != nullptr) {
      gain_.prepare(*options_.time_gain, backend_);
      work_.gain = gain_.data();
    }
    if (!work_.raw) return output;
    facts_.emplace(backend_);
    return facts_->with_trailer(output);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    DemodulationRows work = work_;
    work.in = input[0].data;
    work.out = output.data;
    if (facts_) work.places = facts_->places(output);
    launch_demodulation(work, gpu::stream_of(queue));
  }

  [[nodiscard]] StageFacts facts() const noexcept override {
    if (!facts_) return {};
    return {.quality = facts_->quality(), .reference = {}};
  }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return facts_ ? facts_->device_facts() : DeviceFacts{}; }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    return taps_.size() + turns_.size() + gain_.bytes() + (facts_ ? facts_->bytes() : 0);
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    return accepts_gain(options_, options.as<DemodulationOptions>(), work_.samples);
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.time_gain = options.get<DemodulationOptions>()->time_gain;
    if (work_.gain != nullptr) gain_.change(*options_.time_gain, queue);
  }

 private:
  void make_tables(const BlockSpec& output) {
    const DemodulationTile tile = demodulation_tile(options_, output.row_stride);
    const DemodulationTaps of_layout = demodulation_taps(options_, tile.layout);
    std::vector<DemodulationTap> taps;
    for (std::size_t k = 0; k < of_layout.offsets.size(); ++k) {
      taps.push_back({of_layout.cosines[k], of_layout.sines[k], static_cast<std::int32_t>(of_layout.offsets[k]), 0});
    }
    const DemodulationTurns by_sample = demodulation_turns(options_, output.columns);
    std::vector<std::array<float, 2>> turns;
    for (std::size_t m = 0; m < output.columns; ++m) turns.push_back({by_sample.cosines[m], by_sample.sines[m]});
    taps_ = gpu::on_device(taps, backend_);
    turns_ = gpu::on_device(turns, backend_);
    work_.taps = static_cast<const DemodulationTap*>(taps_.data());
    work_.turns = turns_.data();
    work_.tap_count = static_cast<std::uint32_t>(taps.size());
    work_.tile = static_cast<std::uint32_t>(tile.kept);
    work_.threads = static_cast<std::uint32_t>(tile.threads);
    work_.floats = static_cast<std::uint32_t>(tile.floats);
    work_.lead = static_cast<std::uint32_t>(tile.layout.lead);
    work_.pitch = static_cast<std::uint32_t>(tile.layout.pitch);
  }

  DemodulationOptions options_;
  Backend& backend_;
  DemodulationRows work_;  // complete except for what changes with each frame
  Buffer taps_;
  Buffer turns_;
  gpu::DeviceGain gain_;
  std::optional<gpu::RawFacts> facts_;  // for raw samples
};

}  // namespace

std::unique_ptr<Stage> make_demodulation_cuda(DemodulationOptions options, Backend& backend) {
  return std::make_unique<DemodulationCuda>(std::move(options), backend);
}

}  // namespace echoform
