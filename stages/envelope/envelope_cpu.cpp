#include "stages/block_checks.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/envelope/envelope_kernels_body.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class EnvelopeCpu final : public Stage {
 public:
  explicit EnvelopeCpu(SimdLevel level) : kernel_(envelope_kernel(level)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("envelope");
    output_ = envelope_output(input);
    const bool planar = input.type == ElementType::planar_complex64;
    lead_ = 2 * input.lead;
    input_stride_ = 2 * stride_of(input);
    step_ = planar ? 1 : 2;
    quadrature_ = planar ? stride_of(input) : 1;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    for_each_row(queue, output_.rows, output_.columns, [&](std::size_t row) {
      const float* const in_phase = input.as<float>() + lead_ + row * input_stride_;
      kernel_(in_phase, in_phase + quadrature_, step_, output.as<float>() + row * output_.row_stride, output_.columns);
    });
  }

 private:
  EnvelopeKernel kernel_;
  BlockSpec output_;
  std::size_t lead_ = 0;          // in floats, as all distances
  std::size_t input_stride_ = 0;  // of rows
  std::size_t step_ = 2;          // of numbers in a row
  std::size_t quadrature_ = 1;    // from a number's real part to its imaginary one
};

}  // namespace

EnvelopeKernel envelope_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &envelope_row_avx512;
  if (level == SimdLevel::avx2) return &envelope_row_avx2;
#endif
  return &envelope_row_portable;
}

void envelope_row_portable(const float* re, const float* im, std::size_t step, float* out, std::size_t count) {
  envelope_row(re, im, step, out, count);
}

BlockSpec envelope_output(const BlockSpec& input) {
  require_block(input, "envelope", {ElementType::complex64, ElementType::planar_complex64});
  BlockSpec output = input;
  output.lead = 0;
  output.trailer = 0;
  output.type = ElementType::float32;
  output.row_stride = input.columns;
  return output;
}

std::unique_ptr<Stage> make_envelope_cpu(SimdLevel level) {
  return std::make_unique<EnvelopeCpu>(level);
}

constinit const StageKind envelope_stage{
    .name = "envelope",
    .cpu = [](const StageOptions&, Backend&) { return make_envelope_cpu(); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions&, Backend&) { return make_envelope_cuda(); },
#endif
    .state =
        [](const StageOptions&, const InputSpecs& inputs, const StageSite&) {
          return StageStatement{envelope_output(inputs.only("envelope")), {}};
        },
};

}  // namespace echoform
