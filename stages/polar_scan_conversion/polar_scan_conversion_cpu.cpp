#include <algorithm>
#include <cstring>
#include <vector>

#include "stages/block_checks.hpp"
#include "stages/polar_scan_conversion/polar_geometry.hpp"
#include "stages/polar_scan_conversion/polar_kernels.hpp"
#include "stages/polar_scan_conversion/turned_rows.hpp"

namespace echoform {
namespace {

/// The pixels of an output row from the first to the last one inside, and the location of their places.
struct Row {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::size_t place = 0;
};

std::size_t texel_bytes(const PolarScanConversionOptions& options, const BlockSpec& input) {
  return (options.samples + 1) * (options.beams + 3) * (input.type == ElementType::uint8 ? 1 : sizeof(float));
}

class PolarScanConversionCpu final : public Stage {
 public:
  PolarScanConversionCpu(const PolarScanConversionOptions& options, SimdLevel level)
      : options_(options), geometry_(options), kernels_(polar::kernels_of(level)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("polar-scan-conversion");
    output_ = polar::describe_output(options_, input);
    input_stride_ = stride_of(input);
    texel_stride_ = options_.beams + 3;
    texels_.assign(texel_bytes(options_, input), 0);
    make_table();
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto method = static_cast<std::size_t>(options_.interpolation);
    if (output_.type == ElementType::uint8) {
      convert(input.as<std::uint8_t>(), output.as<std::uint8_t>(), team_of(queue), kernels_.levels[method]);
    } else {
      convert(input.as<float>(), output.as<float>(), team_of(queue), kernels_.floats[method]);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return texels_.size() + (axial_.size() + lateral_.size()) * sizeof(std::uint32_t) + rows_.size() * sizeof(Row);
  }

 private:
  void make_table() {
    const Grid& display = options_.display;
    axial_.clear();
    lateral_.clear();
    rows_.assign(display.z.count, {});
    std::vector<polar::Place> places(display.x.count);
    for (std::size_t z = 0; z < display.z.count; ++z) {
      std::size_t begin = display.x.count;
      std::size_t end = 0;
      for (std::size_t x = 0; x < display.x.count; ++x) {
        places[x] = geometry_.place(display.x.at(x), display.z.at(z));
        if (places[x].axial == polar::outside) continue;
        begin = std::min(begin, x);
        end = x + 1;
      }
      if (end == 0) continue;
      rows_[z] = {begin, end - begin, axial_.size()};
      for (std::size_t x = begin; x < end; ++x) {
        axial_.push_back(places[x].axial);
        lateral_.push_back(places[x].lateral);
      }
      const std::size_t padded = (axial_.size() + polar::group - 1) / polar::group * polar::group;
      axial_.resize(padded, polar::outside);
      lateral_.resize(padded, 0);
    }
    axial_.shrink_to_fit();
    lateral_.shrink_to_fit();
  }

  /// Copies samples [first, last) of all beams into their texel rows, with repeated edges.
  template <class Pixel>
  void fill_texels(const Pixel* input, Pixel* texels, std::size_t first, std::size_t last) const noexcept {
    const std::size_t beams = options_.beams;
    polar::turn_in_squares(input + first, input_stride_, texels + first * texel_stride_ + 1, texel_stride_, beams, last - first);
    for (std::size_t s = first; s < last; ++s) {
      Pixel* const row = texels + s * texel_stride_;
      row[0] = row[1];
      row[beams + 1] = row[beams + 2] = row[beams];
    }
    if (last == options_.samples) {
      std::memcpy(texels + last * texel_stride_, texels + (last - 1) * texel_stride_, texel_stride_ * sizeof(Pixel));
    }
  }

  template <class Pixel>
  void convert(const Pixel* input, Pixel* output, ThreadTeam& team, polar::Convert<Pixel> kernel) noexcept {
    auto* const texels = reinterpret_cast<Pixel*>(texels_.data());
    team.for_each(options_.samples, 64,
                  [&](std::size_t first, std::size_t last, std::size_t /*member*/) { fill_texels(input, texels, first, last); });
    const polar::Texels<Pixel> source{texels, static_cast<std::uint32_t>(texel_stride_), geometry_.axial_bits(),
                                      geometry_.lateral_bits(), static_cast<float>(options_.cubic_alpha)};
    const std::size_t grain = std::max<std::size_t>(1, 8192 / output_.columns);
    team.for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t z = first; z < last; ++z) {
        const Row& row = rows_[z];
        Pixel* const out = output + z * output_.row_stride;
        std::memset(out, 0, row.begin * sizeof(Pixel));
        kernel({axial_.data() + row.place, lateral_.data() + row.place, row.count}, source, out + row.begin);
        const std::size_t end = row.begin + row.count;
        std::memset(out + end, 0, (output_.columns - end) * sizeof(Pixel));
      }
    });
  }

  PolarScanConversionOptions options_;
  polar::Geometry geometry_;
  polar::Kernels kernels_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::size_t texel_stride_ = 0;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> axial_;
  std::vector<std::uint32_t> lateral_;
  std::vector<unsigned char> texels_;
};

}  // namespace

std::unique_ptr<Stage> make_polar_scan_conversion_cpu(const PolarScanConversionOptions& options, SimdLevel level) {
  return std::make_unique<PolarScanConversionCpu>(options, level);
}

constinit const StageKind polar_scan_conversion_stage{
    .name = "polar-scan-conversion",
    .cpu = [](const StageOptions& options,
              Backend&) { return make_polar_scan_conversion_cpu(options.as<PolarScanConversionOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_polar_scan_conversion_cuda(options.as<PolarScanConversionOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<PolarScanConversionOptions>();
          static_cast<void>(polar::Geometry(wanted));  // checks the options
          const BlockSpec& input = inputs.only("polar-scan-conversion");
          StageStatement statement{polar::describe_output(wanted, input), {}};
          const Axis& x = wanted.display.x;
          const Axis& z = wanted.display.z;
          const auto whole = [](std::size_t count, std::size_t of) { return (count + of - 1) / of; };
          if (site.backend == BackendKind::cuda) {
            const std::size_t tiles = whole(x.count, polar::tile_columns) * whole(z.count, polar::tile_rows);
            statement.memory.device = tiles * (1 + 2 * polar::tile_columns * polar::tile_rows) * sizeof(std::uint32_t);
          } else {
            const std::size_t places = z.count * whole(x.count, polar::group) * polar::group;
            statement.memory.host = texel_bytes(wanted, input) + 2 * places * sizeof(std::uint32_t) + z.count * sizeof(Row);
          }
          return statement;
        },
};

}  // namespace echoform
