// Places of the voxels of a display grid among beams in two directions and samples.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/polar_volume_conversion/polar_volume_conversion.hpp"
#include "stages/polar_volume_conversion/polar_volume_math.hpp"

namespace echoform::polar {

/// Fixed-point places of the voxels inside. A voxel counts as inside up to 1e-6 of a sample or beam beyond the outermost ones.
/// For nearest interpolation places are whole numbers.
struct VolumePlaces {
  VolumeBits bits;
  std::vector<VoxelRow> rows;            ///< [z, y]
  std::vector<std::uint32_t> azimuth;    ///< [z, x], the same for all y
  std::vector<std::uint32_t> axial;      ///< of the rows' voxels; `outside` where one is not
  std::vector<std::uint32_t> elevation;  ///< likewise

  [[nodiscard]] std::size_t bytes() const;
  /// Maximum of bytes(), known before the places are made.
  [[nodiscard]] static std::size_t most_bytes(const Grid& display);
};

[[nodiscard]] VolumePlaces make_volume_places(const PolarVolumeConversionOptions& options);

/// Throws InputError if an option is out of its range.
void validate(const PolarVolumeConversionOptions& options);

/// Throws InputError unless `input` is a block of beams by samples as the options say; else describes the output.
[[nodiscard]] BlockSpec describe_output(const PolarVolumeConversionOptions& options, const BlockSpec& input);

}  // namespace echoform::polar
