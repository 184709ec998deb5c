#include "stages/beamform/beamform_ensemble.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

/// The rows of one image as a block of their own.
BlockSpec rows_of_image(const BeamformEnsembleOptions& wanted, const BlockSpec& input) {
  require_block(input, "beamform-ensemble", {ElementType::complex64, ElementType::planar_complex64});
  const std::size_t rows = wanted.options.pairs.rows;
  if (input.rows != rows * wanted.ensemble || input.trailer != 0) {
    throw InputError("beamform-ensemble input", fmt::format("{} rows, {} bytes behind them", input.rows, input.trailer),
                     fmt::format("{} times {} rows and nothing behind them", wanted.ensemble, rows));
  }
  BlockSpec of_image = input;
  of_image.rows = rows;
  return of_image;
}

BlockSpec interleaved(const BlockSpec& image, std::size_t ensemble) {
  BlockSpec output = image;
  output.rows *= ensemble;
  output.sub_blocks = 1;
  return output;
}

class BeamformEnsemble final : public Stage {
 public:
  BeamformEnsemble(BeamformEnsembleOptions options, Backend& backend, BeamformEnsembleParts parts)
      : options_(std::move(options)), backend_(backend), parts_(std::move(parts)) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("beamform-ensemble");
    const BlockSpec rows = rows_of_image(options_, input);
    stage_ = parts_.make(options_.options);
    const BlockSpec image = stage_->prepare(rows);
    // The zeros before the first row of an image are those behind the row before.
    step_ = options_.ensemble > 1 ? (input.bytes() - rows.bytes()) / (options_.ensemble - 1) : 0;
    image_ = backend_.allocate(image.bytes(), MemoryUse::working);
    copied_ = {static_cast<const float*>(image_.data()), nullptr, image.rows, 2 * image.columns, 0};
    copied_.distance = copied_.columns * options_.ensemble;
    return interleaved(image, options_.ensemble);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    for (std::size_t n = 0; n < options_.ensemble; ++n) {
      stage_->process(ConstBlock{input.as<std::byte>() + n * step_}, Block{image_.data()}, queue);
      ImageRows rows = copied_;
      rows.to = output.as<float>() + n * copied_.columns;
      parts_.copy(rows, queue);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return image_.size() + (stage_ ? stage_->bytes() : 0); }

 private:
  const BeamformEnsembleOptions options_;
  Backend& backend_;
  const BeamformEnsembleParts parts_;
  std::unique_ptr<Stage> stage_;
  std::size_t step_ = 0;  // bytes from the rows of an image to those of the next
  Buffer image_;
  ImageRows copied_;
};

}  // namespace

void validate(const BeamformEnsembleOptions& options) {
  if (options.ensemble == 0) throw InputError("beamform-ensemble stage, ensemble", "0", "at least 1");
  if (options.options.rows_behind != 0) {
    throw InputError("beamform-ensemble stage, rows behind those of an image", fmt::format("{}", options.options.rows_behind),
                     "0");
  }
}

std::unique_ptr<Stage> make_beamform_ensemble(BeamformEnsembleOptions options, Backend& backend, BeamformEnsembleParts parts) {
  return std::make_unique<BeamformEnsemble>(std::move(options), backend, std::move(parts));
}

constinit const StageKind beamform_ensemble_stage{
    .name = "beamform-ensemble",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_beamform_ensemble_cpu(options.as<BeamformEnsembleOptions>(), backend); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_beamform_ensemble_cuda(options.as<BeamformEnsembleOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<BeamformEnsembleOptions>();
          validate(wanted);
          const BlockSpec rows = rows_of_image(wanted, inputs.only("beamform-ensemble"));
          StageStatement statement = beamform_stage.state(StageOptions(wanted.options), rows, site);
          const std::size_t image = statement.output.bytes();
          (site.backend == BackendKind::cuda ? statement.memory.device : statement.memory.host) += image;
          statement.memory.of_pixels += image;
          statement.output = interleaved(statement.output, wanted.ensemble);
          return statement;
        },
};

}  // namespace echoform
