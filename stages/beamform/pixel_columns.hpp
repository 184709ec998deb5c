// Delays and weights of a leg, by columns of pixels, for beamformers that process one pixel after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/thread_team.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform::beamform {

/// The tables of one leg. The column c = iy * nx + ix of the grid has nz pixels.
struct LegColumns {
  std::size_t sources = 0;
  std::size_t points = 0;     ///< nz
  std::vector<double> base;   ///< [column, source]: whole samples, below every delay of the column
  std::vector<float> offset;  ///< [column, source, point]: samples beyond the base
  std::vector<float> weight;  ///< likewise; 0 where there is no path
  [[nodiscard]] std::size_t bytes() const {
    return base.size() * sizeof(double) + (offset.size() + weight.size()) * sizeof(float);
  }
};

/// Bytes of the columns of a leg of `sources` sources.
[[nodiscard]] std::size_t leg_columns_bytes(const Grid& grid, std::size_t sources);

/// Evaluates one side of the law over the whole grid. Throws InputError if it gives an infinite time or one of 1 s and more.
[[nodiscard]] LegColumns make_leg_columns(const BeamformOptions& options, BeamformSide side, ThreadTeam& team);

}  // namespace echoform::beamform
