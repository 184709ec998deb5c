#include <fmt/format.h>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/envelope/envelope_kernels_body.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class EnvelopeCpu final : public Stage {
 public:
  EnvelopeCpu(const EnvelopeOptions& options, SimdLevel level) : options_(options), kernels_(envelope_kernels(level)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("envelope");
    output_ = envelope_output(options_, input);
    const bool planar = input.type == ElementType::planar_complex64;
    lead_ = 2 * input.lead;
    input_stride_ = 2 * stride_of(input);
    step_ = planar ? 1 : 2;
    quadrature_ = planar ? stride_of(input) : 1;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const std::size_t soundings = options_.soundings;
    const float part = 1.0F / static_cast<float>(soundings);
    for_each_row(queue, output_.rows, columns * soundings, [&](std::size_t row) {
      const float* in_phase = input.as<float>() + lead_ + row * soundings * input_stride_;
      float* const out = output.as<float>() + row * output_.row_stride;
      kernels_.envelope(in_phase, in_phase + quadrature_, step_, out, columns);
      if (soundings == 1) return;
      for (std::size_t n = 1; n < soundings; ++n) {
        in_phase += input_stride_;
        kernels_.add(in_phase, in_phase + quadrature_, step_, out, columns);
      }
      for (std::size_t k = 0; k < columns; ++k) out[k] *= part;
    });
  }

 private:
  EnvelopeOptions options_;
  EnvelopeKernels kernels_;
  BlockSpec output_;
  std::size_t lead_ = 0;          // in floats, like all distances here
  std::size_t input_stride_ = 0;  // distance between rows
  std::size_t step_ = 2;          // distance between the numbers of a row
  std::size_t quadrature_ = 1;    // distance from a number's real part to its imaginary one
};

}  // namespace

EnvelopeKernels envelope_kernels_portable() {
  return {&envelope_row, &add_envelope_row};
}

EnvelopeKernels envelope_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return envelope_kernels_avx512();
  if (level == SimdLevel::avx2) return envelope_kernels_avx2();
#endif
  return envelope_kernels_portable();
}

BlockSpec envelope_output(const EnvelopeOptions& options, const BlockSpec& input) {
  require_block(input, "envelope", {ElementType::complex64, ElementType::planar_complex64});
  if (options.soundings == 0 || input.rows % options.soundings != 0) {
    throw InputError("envelope stage, rows", fmt::format("{} of {} soundings", input.rows, options.soundings),
                     "as many of each sounding");
  }
  BlockSpec output = input;
  output.lead = 0;
  output.trailer = 0;
  output.type = ElementType::float32;
  output.rows = input.rows / options.soundings;
  output.row_stride = input.columns;
  return output;
}

std::unique_ptr<Stage> make_envelope_cpu(const EnvelopeOptions& options, SimdLevel level) {
  return std::make_unique<EnvelopeCpu>(options, level);
}

constinit const StageKind envelope_stage{
    .name = "envelope",
    .cpu = [](const StageOptions& options, Backend&) { return make_envelope_cpu(options.as<EnvelopeOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options, Backend&) { return make_envelope_cuda(options.as<EnvelopeOptions>()); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite&) {
          return StageStatement{envelope_output(options.as<EnvelopeOptions>(), inputs.only("envelope")), {}};
        },
};

}  // namespace echoform
