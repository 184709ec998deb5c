#include <cstdint>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/polar_volume_conversion/polar_volume_geometry.hpp"
#include "stages/polar_volume_conversion/polar_volume_launch.hpp"

namespace echoform {
namespace {

class PolarVolumeConversionCuda final : public Stage {
 public:
  PolarVolumeConversionCuda(const PolarVolumeConversionOptions& options, Backend& backend)
      : options_(options), backend_(backend) {
    polar::validate(options);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("polar-volume-conversion");
    const BlockSpec output = polar::describe_output(options_, input);
    const polar::VolumePlaces places = polar::make_volume_places(options_);
    rows_ = gpu::on_device(places.rows, backend_);
    azimuth_ = gpu::on_device(places.azimuth, backend_);
    axial_ = gpu::on_device(places.axial, backend_);
    elevation_ = gpu::on_device(places.elevation, backend_);
    levels_ = input.type == ElementType::uint8;
    conversion_.voxel_rows = static_cast<const polar::VoxelRow*>(rows_.data());
    conversion_.azimuth = static_cast<const std::uint32_t*>(azimuth_.data());
    conversion_.axial = static_cast<const std::uint32_t*>(axial_.data());
    conversion_.elevation = static_cast<const std::uint32_t*>(elevation_.data());
    conversion_.bits = places.bits;
    conversion_.rows = static_cast<std::uint32_t>(output.rows);
    conversion_.columns = static_cast<std::uint32_t>(output.columns);
    conversion_.rows_of_plane = static_cast<std::uint32_t>(options_.display.y.count);
    conversion_.azimuths = static_cast<std::uint32_t>(options_.azimuths.count);
    conversion_.elevations = static_cast<std::uint32_t>(options_.elevations.count);
    conversion_.samples = static_cast<std::uint32_t>(options_.samples);
    conversion_.input_stride = static_cast<std::uint32_t>(stride_of(input));
    conversion_.alpha = static_cast<float>(options_.cubic_alpha);
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    if (levels_) {
      polar::launch(conversion_, options_.interpolation, input.as<std::uint8_t>(), output.as<std::uint8_t>(),
                    gpu::stream_of(queue));
    } else {
      polar::launch(conversion_, options_.interpolation, input.as<float>(), output.as<float>(), gpu::stream_of(queue));
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return rows_.size() + azimuth_.size() + axial_.size() + elevation_.size();
  }

 private:
  PolarVolumeConversionOptions options_;
  Backend& backend_;
  bool levels_ = true;
  polar::VolumeConversion conversion_;  // complete except for what changes with each frame
  Buffer rows_;
  Buffer azimuth_;
  Buffer axial_;
  Buffer elevation_;
};

}  // namespace

std::unique_ptr<Stage> make_polar_volume_conversion_cuda(const PolarVolumeConversionOptions& options, Backend& backend) {
  return std::make_unique<PolarVolumeConversionCuda>(options, backend);
}

}  // namespace echoform
