// Places of the pixels of a display grid among the beams and samples.
#pragma once

#include "stages/polar_scan_conversion/polar_math.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"

namespace echoform::polar {

/// Fixed-point places of polar_math.hpp.
struct Place {
  std::uint32_t axial = outside;
  std::uint32_t lateral = 0;
};

class Geometry {
 public:
  /// Throws InputError if an option is out of its range.
  explicit Geometry(const PolarScanConversionOptions& options);

  /// A pixel counts as inside up to 1e-6 of a sample or beam beyond the outermost ones. For nearest interpolation places are
  /// whole numbers.
  [[nodiscard]] Place place(Metres x, Metres z) const;
  [[nodiscard]] unsigned axial_bits() const { return axial_bits_; }
  [[nodiscard]] unsigned lateral_bits() const { return lateral_bits_; }

 private:
  /// A position in samples and beams, which may lie outside of both.
  struct Cell {
    double sample;
    double beam;
  };
  [[nodiscard]] Cell cell(double x, double z) const;

  bool parallel_;
  double radius_;         // of the probe
  double nearest_range_;  // of sample 0 from the apex
  double spacing_;
  double first_angle_;
  double pitch_;  // radians, or metres of parallel beams
  double last_sample_;
  double last_beam_;
  unsigned axial_bits_;
  unsigned lateral_bits_;
  bool whole_;
};

/// Places up to this far beyond the outermost samples and beams, in cells, count as inside.
inline constexpr double edge_cells = 1e-6;

/// The fixed-point place (polar_math.hpp) of `cells`, with 0 <= cells < 2^cell_bits.
[[nodiscard]] std::uint32_t fixed_point(double cells, unsigned cell_bits);

/// Throws InputError unless `input` is a block of beams by samples as the options say; else describes the output.
[[nodiscard]] BlockSpec describe_output(const PolarScanConversionOptions& options, const BlockSpec& input);

}  // namespace echoform::polar
