#include "stages/polar_scan_conversion/polar_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"

namespace echoform::polar {
namespace {

constexpr std::size_t most_cells = 65535;
constexpr double greatest_tilt = 80.0 * std::numbers::pi / 180.0;

template <class Value>
void require(bool right, const char* option, Value found, const char* expected) {
  if (!right) throw InputError(fmt::format("polar-scan-conversion stage, {}", option), fmt::format("{}", found), expected);
}

double first_angle_of(const PolarScanConversionOptions& options) {
  return options.first_angle.value_or(-0.5 * static_cast<double>(options.beams - 1) * options.angle_pitch);
}

void check(const PolarScanConversionOptions& options) {
  require(options.beams >= 2 && options.beams <= most_cells, "beams", options.beams, "2 to 65535");
  require(options.samples >= 2 && options.samples <= most_cells, "samples", options.samples, "2 to 65535");
  if (options.line_pitch.value != 0.0) {
    require(options.line_pitch.value > 0.0 && std::isfinite(options.line_pitch.value), "line pitch", options.line_pitch.value,
            "above 0 m");
    require(options.angle_pitch == 0.0, "angle pitch", options.angle_pitch, "0 of parallel beams");
    require(std::abs(first_angle_of(options)) <= greatest_tilt, "angle of the beams", first_angle_of(options),
            "within 80 degrees of the z axis");
  } else {
    require(options.angle_pitch > 0.0 && std::isfinite(options.angle_pitch), "angle pitch", options.angle_pitch, "above 0 rad");
    const double first = first_angle_of(options);
    const double last = first + static_cast<double>(options.beams - 1) * options.angle_pitch;
    constexpr double half_turn = std::numbers::pi * (1.0 + 1e-12);
    require(first >= -half_turn && last <= half_turn, "angles of the beams", fmt::format("{} to {} rad", first, last),
            "within -pi to pi");
  }
  const double spacing = options.sample_spacing.value;
  require(spacing > 0.0 && std::isfinite(spacing), "sample spacing", spacing, "above 0 m");
  const double depth = options.start_depth.value;
  require(depth >= 0.0 && std::isfinite(depth), "start depth", depth, "0 m or more");
  const double radius = options.probe_radius.value;
  require(radius >= 0.0 && std::isfinite(radius), "probe radius", radius, "0 m or more");
  require(cubic_alphas.holds(options.cubic_alpha), "cubic alpha", options.cubic_alpha,
          fmt::format("{} to {}", cubic_alphas.least, cubic_alphas.most).c_str());
  validate(options.display, "polar-scan-conversion stage, display grid");
  require(options.display.y.count == 1, "display grid", fmt::format("{} pixels along y", options.display.y.count),
          "1: an image, not a volume");
}

}  // namespace

std::uint32_t fixed_point(double cells, unsigned cell_bits) {
  return static_cast<std::uint32_t>(std::llround(std::ldexp(cells, 32 - static_cast<int>(cell_bits))));
}

Geometry::Geometry(const PolarScanConversionOptions& options) {
  check(options);
  parallel_ = options.line_pitch.value > 0.0;
  radius_ = options.probe_radius.value;
  nearest_range_ = radius_ + options.start_depth.value;
  spacing_ = options.sample_spacing.value;
  first_angle_ = first_angle_of(options);
  pitch_ = parallel_ ? options.line_pitch.value : options.angle_pitch;
  last_sample_ = static_cast<double>(options.samples - 1);
  last_beam_ = static_cast<double>(options.beams - 1);
  axial_bits_ = static_cast<unsigned>(std::bit_width(options.samples));
  lateral_bits_ = static_cast<unsigned>(std::bit_width(options.beams));
  whole_ = options.interpolation == ScanInterpolation::nearest;
}

Geometry::Cell Geometry::cell(double x, double z) const {
  if (parallel_) {
    return {(z / std::cos(first_angle_) - nearest_range_) / spacing_, (x - z * std::tan(first_angle_)) / pitch_};
  }
  const double down = z + radius_;
  return {(std::hypot(x, down) - nearest_range_) / spacing_, (std::atan2(x, down) - first_angle_) / pitch_};
}

Place Geometry::place(Metres x, Metres z) const {
  auto [s, b] = cell(x.value, z.value);
  if (!(s >= -edge_cells && s <= last_sample_ + edge_cells)) return {};
  if (!(b >= -edge_cells && b <= last_beam_ + edge_cells)) return {};
  s = std::clamp(s, 0.0, last_sample_);
  b = std::clamp(b, 0.0, last_beam_);
  if (whole_) {
    s = std::floor(s + 0.5);
    b = std::floor(b + 0.5);
  }
  return {fixed_point(s, axial_bits_), fixed_point(b, lateral_bits_)};
}

BlockSpec describe_output(const PolarScanConversionOptions& options, const BlockSpec& input) {
  require_block(input, "polar-scan-conversion", {ElementType::uint8, ElementType::float32});
  if (input.rows != options.beams || input.columns != options.samples || input.sub_blocks != 1) {
    throw InputError("polar-scan-conversion stage, input shape",
                     fmt::format("{} x {} in {} sub-blocks", input.rows, input.columns, input.sub_blocks),
                     fmt::format("{} x {} in one, beams by samples", options.beams, options.samples));
  }
  // Places are 32-bit offsets, also into padded copies.
  if ((input.columns + 1) * (input.rows + 3) >= std::size_t{1} << 31 || input.rows * stride_of(input) >= std::size_t{1} << 31) {
    throw InputError("polar-scan-conversion stage, input shape", fmt::format("{} x {}", input.rows, stride_of(input)),
                     "fewer than 2^31 numbers");
  }
  BlockSpec output = input;
  output.rows = options.display.z.count;
  output.columns = options.display.x.count;
  output.row_stride = output.columns;
  return output;
}

}  // namespace echoform::polar
