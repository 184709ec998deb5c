#include "stages/polar_volume_conversion/polar_volume_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/polar_scan_conversion/polar_geometry.hpp"

namespace echoform::polar {
namespace {

constexpr std::size_t most_angles = 4096;
constexpr std::size_t most_samples = 65535;

template <class Value>
void require_of_volume(bool right, const std::string& option, const Value& found, const std::string& expected) {
  if (!right) throw InputError("polar-volume-conversion stage, " + option, fmt::format("{}", found), expected);
}

void check_angles(const BeamAngles& angles, const std::string& name, double farthest, const std::string& expected) {
  require_of_volume(angles.count >= 2 && angles.count <= most_angles, name + "s", angles.count,
                    fmt::format("2 to {}", most_angles));
  require_of_volume(angles.pitch > 0.0 && std::isfinite(angles.pitch), name + " pitch", angles.pitch, "above 0 rad");
  const double last = angles.first + static_cast<double>(angles.count - 1) * angles.pitch;
  const double most = farthest * (1.0 + 1e-12);
  require_of_volume(angles.first >= -most && last <= most, name + "s", fmt::format("{} to {} rad", angles.first, last), expected);
}

/// Place in cells on an axis of `count` numbers; below 0 outside of the axis.
double cell_on(double at, std::size_t count, bool whole) {
  const double last = static_cast<double>(count - 1);
  if (!(at >= -edge_cells && at <= last + edge_cells)) return -1.0;
  at = std::clamp(at, 0.0, last);
  return whole ? std::floor(at + 0.5) : at;
}

}  // namespace

std::size_t VolumePlaces::bytes() const {
  return rows.size() * sizeof(VoxelRow) + (azimuth.size() + axial.size() + elevation.size()) * sizeof(std::uint32_t);
}

std::size_t VolumePlaces::most_bytes(const Grid& display) {
  return display.z.count * display.y.count * sizeof(VoxelRow) +
         (display.z.count * display.x.count + 2 * display.pixels()) * sizeof(std::uint32_t);
}

VolumePlaces make_volume_places(const PolarVolumeConversionOptions& options) {
  const Grid& display = options.display;
  const bool whole = options.interpolation == ScanInterpolation::nearest;
  const double radius = options.probe_radius.value;
  const double nearest_range = radius + options.start_depth.value;
  const auto bits_of = [](std::size_t count) { return static_cast<unsigned>(std::bit_width(count)); };
  VolumePlaces places;
  places.bits = {bits_of(options.samples), bits_of(options.azimuths.count), bits_of(options.elevations.count)};
  places.rows.reserve(display.z.count * display.y.count);
  places.azimuth.reserve(display.z.count * display.x.count);
  std::vector<double> ahead(display.x.count);  // distance from the apex, without the path along y; below 0 where no azimuth is
  std::vector<std::uint32_t> axial(display.x.count);
  std::vector<std::uint32_t> elevation(display.x.count);
  for (std::size_t z = 0; z < display.z.count; ++z) {
    const double down = display.z.at(z).value + radius;
    for (std::size_t x = 0; x < display.x.count; ++x) {
      const double across = display.x.at(x).value;
      const double cell =
          cell_on((std::atan2(across, down) - options.azimuths.first) / options.azimuths.pitch, options.azimuths.count, whole);
      ahead[x] = cell < 0.0 ? -1.0 : std::hypot(across, down);
      places.azimuth.push_back(fixed_point(std::max(0.0, cell), places.bits.azimuth));
    }
    for (std::size_t y = 0; y < display.y.count; ++y) {
      const double aside = display.y.at(y).value;
      std::size_t begin = display.x.count;
      std::size_t end = 0;
      for (std::size_t x = 0; x < display.x.count; ++x) {
        axial[x] = outside;
        elevation[x] = 0;
        if (ahead[x] < 0.0) continue;
        const double sample =
            cell_on((std::hypot(ahead[x], aside) - nearest_range) / options.sample_spacing.value, options.samples, whole);
        const double row = cell_on((std::atan2(aside, ahead[x]) - options.elevations.first) / options.elevations.pitch,
                                   options.elevations.count, whole);
        if (sample < 0.0 || row < 0.0) continue;
        axial[x] = fixed_point(sample, places.bits.axial);
        elevation[x] = fixed_point(row, places.bits.elevation);
        begin = std::min(begin, x);
        end = x + 1;
      }
      begin = std::min(begin, end);
      places.rows.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin),
                             static_cast<std::uint32_t>(places.axial.size())});
      const auto from = static_cast<std::ptrdiff_t>(begin);
      const auto to = static_cast<std::ptrdiff_t>(end);
      places.axial.insert(places.axial.end(), axial.begin() + from, axial.begin() + to);
      places.elevation.insert(places.elevation.end(), elevation.begin() + from, elevation.begin() + to);
    }
  }
  places.axial.shrink_to_fit();
  places.elevation.shrink_to_fit();
  return places;
}

void validate(const PolarVolumeConversionOptions& options) {
  check_angles(options.azimuths, "azimuth", std::numbers::pi, "within -pi to pi");
  check_angles(options.elevations, "elevation", 0.5 * std::numbers::pi, "within -pi / 2 to pi / 2");
  require_of_volume(options.samples >= 2 && options.samples <= most_samples, "samples", options.samples, "2 to 65535");
  const double spacing = options.sample_spacing.value;
  require_of_volume(spacing > 0.0 && std::isfinite(spacing), "sample spacing", spacing, "above 0 m");
  const double depth = options.start_depth.value;
  require_of_volume(depth >= 0.0 && std::isfinite(depth), "start depth", depth, "0 m or more");
  const double radius = options.probe_radius.value;
  require_of_volume(radius >= 0.0 && std::isfinite(radius), "probe radius", radius, "0 m or more");
  require_of_volume(cubic_alphas.holds(options.cubic_alpha), "cubic alpha", options.cubic_alpha,
                    fmt::format("{} to {}", cubic_alphas.least, cubic_alphas.most));
  validate(options.display, "polar-volume-conversion stage, display grid");
}

BlockSpec describe_output(const PolarVolumeConversionOptions& options, const BlockSpec& input) {
  require_block(input, "polar-volume-conversion", {ElementType::uint8, ElementType::float32});
  const std::size_t beams = options.azimuths.count * options.elevations.count;
  if (input.rows != beams || input.columns != options.samples) {
    throw InputError("polar-volume-conversion stage, input shape", fmt::format("{} x {}", input.rows, input.columns),
                     fmt::format("{} x {}, beams by samples", beams, options.samples));
  }
  // Places are 32-bit offsets, also into padded copies.
  if ((input.columns + 1) * (options.azimuths.count + 3) * (options.elevations.count + 3) >= std::size_t{1} << 31 ||
      input.rows * stride_of(input) >= std::size_t{1} << 31) {
    throw InputError("polar-volume-conversion stage, input shape", fmt::format("{} x {}", input.rows, stride_of(input)),
                     "fewer than 2^31 numbers");
  }
  BlockSpec output = input;
  output.rows = options.display.z.count * options.display.y.count;
  output.columns = options.display.x.count;
  output.row_stride = output.columns;
  output.sub_blocks = options.display.y.count;
  return output;
}

}  // namespace echoform::polar
