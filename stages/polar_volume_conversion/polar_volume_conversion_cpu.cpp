#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "stages/block_checks.hpp"
#include "stages/polar_scan_conversion/turned_rows.hpp"
#include "stages/polar_volume_conversion/polar_volume_geometry.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

/// Samples are kept transposed, [samples + 1, elevations + 3, azimuths + 3], so that the neighbours of a voxel stand side by
/// side. Edges are repeated: one beam before the first, two behind the last, one sample behind the last.
struct TurnedVolume {
  std::size_t row = 0;    // distance from one elevation to the next
  std::size_t plane = 0;  // distance from one sample to the next

  explicit TurnedVolume(const PolarVolumeConversionOptions& options)
      : row(options.azimuths.count + 3), plane(row * (options.elevations.count + 3)) {}
  [[nodiscard]] std::size_t bytes(const PolarVolumeConversionOptions& options, ElementType type) const {
    return (options.samples + 1) * plane * (type == ElementType::uint8 ? 1 : sizeof(float));
  }
};

template <class Pixel>
struct VoxelTaps {
  const Pixel* cell;
  TurnedVolume volume;
  float operator()(int sample, int elevation, int azimuth) const {
    return static_cast<float>(cell[static_cast<std::size_t>(sample) * volume.plane +
                                   static_cast<std::size_t>(elevation) * volume.row + static_cast<std::size_t>(azimuth)]);
  }
};

void put_voxel(float value, float& out) {
  out = value;
}
void put_voxel(float value, std::uint8_t& out) {
  out = level_of(value);
}

class PolarVolumeConversionCpu final : public Stage {
 public:
  explicit PolarVolumeConversionCpu(const PolarVolumeConversionOptions& options) : options_(options), volume_(options) {
    polar::validate(options);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("polar-volume-conversion");
    output_ = polar::describe_output(options_, input);
    input_stride_ = stride_of(input);
    turned_.assign(volume_.bytes(options_, input.type), 0);
    places_ = polar::make_volume_places(options_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    if (output_.type == ElementType::uint8) {
      convert_as(input.as<std::uint8_t>(), output.as<std::uint8_t>(), team_of(queue));
    } else {
      convert_as(input.as<float>(), output.as<float>(), team_of(queue));
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return turned_.size() + places_.bytes(); }

 private:
  /// Copies the beams of one elevation into their row of each sample.
  template <class Pixel>
  void turn(const Pixel* input, Pixel* turned, std::size_t elevation) const noexcept {
    const std::size_t azimuths = options_.azimuths.count;
    Pixel* const row = turned + (elevation + 1) * volume_.row;
    polar::turn_in_squares(input + elevation * azimuths * input_stride_, input_stride_, row + 1, volume_.plane, azimuths,
                           options_.samples);
    for (std::size_t sample = 0; sample <= options_.samples; ++sample) {
      Pixel* const at = row + sample * volume_.plane;
      if (sample == options_.samples) std::memcpy(at, at - volume_.plane, volume_.row * sizeof(Pixel));
      at[0] = at[1];
      at[azimuths + 1] = at[azimuths + 2] = at[azimuths];
    }
  }

  template <class Pixel>
  void repeat_edges(Pixel* turned, std::size_t sample) const noexcept {
    Pixel* const plane = turned + sample * volume_.plane;
    const std::size_t row = volume_.row;
    std::memcpy(plane, plane + row, row * sizeof(Pixel));
    const std::size_t last = options_.elevations.count;
    for (const std::size_t behind : {last + 1, last + 2})
      std::memcpy(plane + behind * row, plane + last * row, row * sizeof(Pixel));
  }

  template <ScanInterpolation how, class Pixel>
  void convert_row(const Pixel* turned, std::size_t row, Pixel* out) const noexcept {
    const polar::VoxelRow& voxels = places_.rows[row];
    const std::uint32_t* const azimuths = places_.azimuth.data() + row / options_.display.y.count * output_.columns;
    const polar::VolumeBits& bits = places_.bits;
    const auto alpha = static_cast<float>(options_.cubic_alpha);
    std::memset(out, 0, output_.columns * sizeof(Pixel));
    for (std::uint32_t k = 0; k < voxels.count; ++k) {
      const std::uint32_t axial = places_.axial[voxels.place + k];
      if (axial == polar::outside) continue;
      const std::uint32_t elevation = places_.elevation[voxels.place + k];
      const std::uint32_t azimuth = azimuths[voxels.begin + k];
      const polar::VolumeOffsets at{polar::offset_of(axial, bits.axial), polar::offset_of(azimuth, bits.azimuth),
                                    polar::offset_of(elevation, bits.elevation)};
      const VoxelTaps<Pixel> taps{turned + polar::cell_of(axial, bits.axial) * volume_.plane +
                                      polar::cell_of(elevation, bits.elevation) * volume_.row +
                                      polar::cell_of(azimuth, bits.azimuth),
                                  volume_};
      put_voxel(polar::voxel_value<how>(taps, at, alpha), out[voxels.begin + k]);
    }
  }

  template <class Pixel>
  void convert_as(const Pixel* input, Pixel* output, ThreadTeam& team) noexcept {
    auto* const turned = reinterpret_cast<Pixel*>(turned_.data());
    team.for_each(options_.elevations.count, 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t elevation = first; elevation < last; ++elevation) turn(input, turned, elevation);
    });
    team.for_each(options_.samples + 1, 64, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t sample = first; sample < last; ++sample) repeat_edges(turned, sample);
    });
    const std::size_t grain = std::max<std::size_t>(1, 4096 / output_.columns);
    team.for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t row = first; row < last; ++row) {
        Pixel* const out = output + row * output_.row_stride;
        switch (options_.interpolation) {
          case ScanInterpolation::nearest:
            convert_row<ScanInterpolation::nearest>(turned, row, out);
            break;
          case ScanInterpolation::bilinear:
            convert_row<ScanInterpolation::bilinear>(turned, row, out);
            break;
          case ScanInterpolation::cubic:
            convert_row<ScanInterpolation::cubic>(turned, row, out);
            break;
        }
      }
    });
  }

  PolarVolumeConversionOptions options_;
  TurnedVolume volume_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  polar::VolumePlaces places_;
  std::vector<unsigned char> turned_;
};

}  // namespace

std::unique_ptr<Stage> make_polar_volume_conversion_cpu(const PolarVolumeConversionOptions& options) {
  return std::make_unique<PolarVolumeConversionCpu>(options);
}

constinit const StageKind polar_volume_conversion_stage{
    .name = "polar-volume-conversion",
    .cpu = [](const StageOptions& options,
              Backend&) { return make_polar_volume_conversion_cpu(options.as<PolarVolumeConversionOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda =
        [](const StageOptions& options, Backend& backend) {
          return make_polar_volume_conversion_cuda(options.as<PolarVolumeConversionOptions>(), backend);
        },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<PolarVolumeConversionOptions>();
          polar::validate(wanted);
          const BlockSpec& input = inputs.only("polar-volume-conversion");
          StageStatement statement{polar::describe_output(wanted, input), {}};
          const std::size_t places = polar::VolumePlaces::most_bytes(wanted.display);
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = places;
          } else {
            statement.memory.host = places + TurnedVolume(wanted).bytes(wanted, input.type);
          }
          return statement;
        },
};

}  // namespace echoform
