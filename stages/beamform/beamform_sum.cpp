#include "stages/beamform/beamform_sum.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "stages/beamform/beamform.hpp"

namespace echoform {
namespace {

/// The rows of `input` from a part's first row on, as a block of its own: the data behind the last row stays where it is.
BlockSpec rows_of_part(const BlockSpec& input, const BeamformPart& part) {
  if (part.first_row + part.options.pairs.rows + part.options.rows_behind != input.rows) {
    throw InputError("beamform-sum input",
                     fmt::format("{} rows, of which a part takes {} from {} on and leaves {}", input.rows,
                                 part.options.pairs.rows, part.first_row, part.options.rows_behind),
                     "all of them");
  }
  BlockSpec rows = input;
  rows.rows -= part.first_row;
  return rows;
}

class BeamformSum final : public Stage {
 public:
  BeamformSum(BeamformSumOptions options, Backend& backend, BeamformSumParts parts)
      : options_(std::move(options)), backend_(backend), parts_(std::move(parts)) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("beamform-sum");
    stages_.clear();
    offsets_.clear();
    BlockSpec output;
    for (const BeamformPart& part : options_.parts) {
      keep_planning();
      const BlockSpec rows = rows_of_part(input, part);
      stages_.push_back(parts_.make(part.options));
      output = stages_.back()->prepare(rows);
      offsets_.push_back(input.bytes() - rows.bytes());
    }
    numbers_ = output.bytes() / sizeof(float);
    if (stages_.size() > 1) image_ = backend_.allocate(output.bytes(), MemoryUse::working);
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto rows_from = [&](std::size_t offset) { return ConstBlock{input.as<std::byte>() + offset}; };
    stages_.front()->process(rows_from(offsets_.front()), output, queue);
    for (std::size_t k = 1; k < stages_.size(); ++k) {
      stages_[k]->process(rows_from(offsets_[k]), Block{image_.data()}, queue);
      parts_.add(output.as<float>(), static_cast<const float*>(image_.data()), numbers_, queue);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = image_.size();
    for (const auto& stage : stages_) sum += stage->bytes();
    return sum;
  }

 private:
  const BeamformSumOptions options_;
  Backend& backend_;
  const BeamformSumParts parts_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::size_t> offsets_;  // bytes from the beginning of the input to a part's rows
  Buffer image_;
  std::size_t numbers_ = 0;  // numbers of an image
};

}  // namespace

void validate(const BeamformSumOptions& options) {
  if (options.parts.empty()) throw InputError("beamform-sum stage, parts", "none", "at least one");
  for (const BeamformPart& part : options.parts) {
    if (part.options.grid == options.parts.front().options.grid) continue;
    throw InputError("beamform-sum stage, parts", "images on different grids", "one grid");
  }
}

std::unique_ptr<Stage> make_beamform_sum(BeamformSumOptions options, Backend& backend, BeamformSumParts parts) {
  return std::make_unique<BeamformSum>(std::move(options), backend, std::move(parts));
}

constinit const StageKind beamform_sum_stage{
    .name = "beamform-sum",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_beamform_sum_cpu(options.as<BeamformSumOptions>(), backend); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_beamform_sum_cuda(options.as<BeamformSumOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<BeamformSumOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("beamform-sum");
          StageStatement sum;
          for (const BeamformPart& part : wanted.parts) {
            const StageStatement of_part = beamform_stage.state(StageOptions(part.options), rows_of_part(input, part), site);
            sum.output = of_part.output;
            sum.memory.host += of_part.memory.host;
            sum.memory.device += of_part.memory.device;
            sum.memory.of_pixels += of_part.memory.of_pixels;
          }
          if (wanted.parts.size() > 1) {
            (site.backend == BackendKind::cuda ? sum.memory.device : sum.memory.host) += sum.output.bytes();
            sum.memory.of_pixels += sum.output.bytes();
          }
          return sum;
        },
};

}  // namespace echoform
