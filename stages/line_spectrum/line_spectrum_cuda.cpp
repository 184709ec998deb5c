#include <array>

#include "gpu/on_device.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/line_spectrum/line_spectrum_launch.hpp"

namespace echoform {
namespace {

/// The gate lives in device memory, so that a new one can replace it between frames although the frames' launches are captured.
class LineSpectrumCuda final : public Stage {
 public:
  LineSpectrumCuda(const LineSpectrumOptions& options, Backend& backend) : options_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    input_ = inputs.only("line-spectrum");
    const BlockSpec output = line_spectrum_output(options_, input_);
    const SpectrumTables tables = spectrum_tables(options_);
    taper_ = gpu::on_device(tables.taper, backend_);
    turn_re_ = gpu::on_device(tables.turn_re, backend_);
    turn_im_ = gpu::on_device(tables.turn_im, backend_);
    gate_ = backend_.allocate(spectrum_gate_numbers * sizeof(float), MemoryUse::working);
    const bool planar = input_.type == ElementType::planar_complex64;
    work_.gate = static_cast<const float*>(gate_.data());
    work_.taper = static_cast<const float*>(taper_.data());
    work_.turn_re = static_cast<const float*>(turn_re_.data());
    work_.turn_im = static_cast<const float*>(turn_im_.data());
    work_.in_stride = 2 * stride_of(input_);
    work_.step = planar ? 1 : 2;
    work_.quadrature = planar ? stride_of(input_) : 1;
    work_.ensemble = options_.ensemble;
    work_.samples = options_.samples;
    work_.hop = options_.hop;
    work_.bins = options_.bins;
    work_.spectra = output.rows;
    const gpu::Stream stream = gpu::make_stream();
    put_gate(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    LineSpectrumWork work = work_;
    work.in = input.as<float>() + 2 * input_.lead;
    work.out = output.as<float>();
    launch_line_spectrum(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return taper_.size() + turn_re_.size() + turn_im_.size() + gate_.size();
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    return accepts_line_spectrum(options, options_, input_);
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<LineSpectrumOptions>();
    put_gate(gpu::stream_of(queue));
  }

 private:
  void put_gate(cudaStream_t stream) const noexcept {
    const std::array<float, spectrum_gate_numbers> numbers{
        static_cast<float>(options_.line), static_cast<float>(options_.first_range), static_cast<float>(options_.ranges)};
    gpu::queue_values(numbers, static_cast<float*>(gate_.data()), stream);
  }

  LineSpectrumOptions options_;
  Backend& backend_;
  BlockSpec input_;
  LineSpectrumWork work_;  // complete except for what changes with each frame
  Buffer taper_;
  Buffer turn_re_;
  Buffer turn_im_;
  Buffer gate_;
};

}  // namespace

std::unique_ptr<Stage> make_line_spectrum_cuda(const LineSpectrumOptions& options, Backend& backend) {
  return std::make_unique<LineSpectrumCuda>(options, backend);
}

}  // namespace echoform
