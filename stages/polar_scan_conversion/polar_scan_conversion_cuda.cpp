#include <fmt/format.h>

#include <vector>

#include "base/errors.hpp"
#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/polar_scan_conversion/polar_geometry.hpp"
#include "stages/polar_scan_conversion/polar_launch.hpp"

namespace echoform {
namespace {

class PolarScanConversionCuda final : public Stage {
 public:
  PolarScanConversionCuda(const PolarScanConversionOptions& options, Backend& backend)
      : options_(options), geometry_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("polar-scan-conversion");
    const BlockSpec output = polar::describe_output(options_, input);
    levels_ = input.type == ElementType::uint8;
    conversion_.rows = static_cast<std::uint32_t>(output.rows);
    conversion_.columns = static_cast<std::uint32_t>(output.columns);
    conversion_.beams = static_cast<std::uint32_t>(options_.beams);
    conversion_.samples = static_cast<std::uint32_t>(options_.samples);
    conversion_.input_stride = static_cast<std::uint32_t>(stride_of(input));
    conversion_.axial_bits = geometry_.axial_bits();
    conversion_.lateral_bits = geometry_.lateral_bits();
    conversion_.alpha = static_cast<float>(options_.cubic_alpha);
    make_tables();
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

  [[nodiscard]] std::size_t bytes() const noexcept override { return places_.size() + tiles_.size(); }

 private:
  void make_tables() {
    constexpr std::size_t table_size = std::size_t{2} * polar::tile_columns * polar::tile_rows;
    const Grid& display = options_.display;
    const std::size_t across = (display.x.count + polar::tile_columns - 1) / polar::tile_columns;
    const std::size_t down = (display.z.count + polar::tile_rows - 1) / polar::tile_rows;
    if (across > 0xffff || down > 0xffff) {
      throw InputError("polar-scan-conversion stage, display grid",
                       fmt::format("{} x {} pixels", display.z.count, display.x.count),
                       fmt::format("at most {} along z and {} along x", 0xffff * polar::tile_rows, 0xffff * polar::tile_columns));
    }
    std::vector<std::uint32_t> places;
    std::vector<std::uint32_t> tiles;
    std::vector<std::uint32_t> empty;
    std::vector<std::uint32_t> table(table_size);
    for (std::size_t row = 0; row < down; ++row) {
      for (std::size_t column = 0; column < across; ++column) {
        const auto name = static_cast<std::uint32_t>(row << 16 | column);
        if (fill_table(column * polar::tile_columns, row * polar::tile_rows, table)) {
          tiles.push_back(name);
          places.insert(places.end(), table.begin(), table.end());
        } else {
          empty.push_back(name);
        }
      }
    }
    conversion_.tiles_inside = static_cast<std::uint32_t>(tiles.size());
    tiles.insert(tiles.end(), empty.begin(), empty.end());
    conversion_.tile_count = static_cast<std::uint32_t>(tiles.size());
    places_ = gpu::on_device(places, backend_);
    tiles_ = gpu::on_device(tiles, backend_);
    conversion_.places = static_cast<const std::uint32_t*>(places_.data());
    conversion_.tiles = static_cast<const std::uint32_t*>(tiles_.data());
  }

  /// Returns whether any pixel of the tile that begins at (x, z) lies inside.
  [[nodiscard]] bool fill_table(std::size_t x0, std::size_t z0, std::vector<std::uint32_t>& table) const {
    const Grid& display = options_.display;
    bool inside = false;
    for (std::uint32_t z = 0; z < polar::tile_rows; ++z) {
      for (std::uint32_t x = 0; x < polar::tile_columns; ++x) {
        polar::Place place;
        if (x0 + x < display.x.count && z0 + z < display.z.count)
          place = geometry_.place(display.x.at(x0 + x), display.z.at(z0 + z));
        inside = inside || place.axial != polar::outside;
        const std::size_t index = polar::table_index(x, z);
        table[index] = place.axial;
        table[index + 1] = place.lateral;
      }
    }
    return inside;
  }

  PolarScanConversionOptions options_;
  polar::Geometry geometry_;
  Backend& backend_;
  bool levels_ = true;
  polar::Conversion conversion_;
  Buffer places_;
  Buffer tiles_;
};

}  // namespace

std::unique_ptr<Stage> make_polar_scan_conversion_cuda(const PolarScanConversionOptions& options, Backend& backend) {
  return std::make_unique<PolarScanConversionCuda>(options, backend);
}

}  // namespace echoform
