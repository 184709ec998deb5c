#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/scan_conversion/resample_launch.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

/// Taps of an axis in device memory.
struct TapMemory {
  Buffer index;
  Buffer weight;

  [[nodiscard]] std::size_t bytes() const noexcept { return index.size() + weight.size(); }
  [[nodiscard]] DeviceTaps upload(const AxisTaps& taps, Backend& backend) {
    index = backend.allocate(taps.index.size() * sizeof(std::int32_t), MemoryUse::working);
    weight = backend.allocate(taps.weight.size() * sizeof(float), MemoryUse::working);
    copy_now(index.data(), taps.index.data(), index.size());
    copy_now(weight.data(), taps.weight.data(), weight.size());
    return {static_cast<const std::int32_t*>(index.data()), static_cast<const float*>(weight.data()),
            static_cast<std::uint32_t>(taps.count), static_cast<std::uint32_t>(taps.begin), static_cast<std::uint32_t>(taps.end)};
  }
};

class CartesianScanConversionCuda final : public Stage {
 public:
  CartesianScanConversionCuda(const ScanConversionOptions& options, Backend& backend) : options_(options), backend_(backend) {
    validate(options);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("scan-conversion");
    const BlockSpec output = scan_conversion_output(options_, input);
    levels_ = input.type == ElementType::uint8;
    const auto taps = [&](const Axis& from, const Axis& to) {
      return make_axis_taps(from, to, options_.interpolation, options_.cubic_alpha);
    };
    const AxisTaps columns = taps(options_.acoustic.x, options_.display.x);
    const AxisTaps rows = taps(options_.acoustic.z, options_.display.z);
    resampling_ = {columns.taps, rows_.upload(rows, backend_), columns_.upload(columns, backend_), stride_of(input)};
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    if (levels_) {
      launch_resample(resampling_, input.as<std::uint8_t>(), output.as<std::uint8_t>(), gpu::stream_of(queue));
    } else {
      launch_resample(resampling_, input.as<float>(), output.as<float>(), gpu::stream_of(queue));
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return rows_.bytes() + columns_.bytes(); }

 private:
  ScanConversionOptions options_;
  Backend& backend_;
  bool levels_ = true;
  TapMemory rows_;
  TapMemory columns_;
  Resampling resampling_;
};

}  // namespace

std::unique_ptr<Stage> make_scan_conversion_cuda(const ScanConversionOptions& options, Backend& backend) {
  return std::make_unique<CartesianScanConversionCuda>(options, backend);
}

}  // namespace echoform
