// What sums along lines take on a GPU, before it is taken. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/block.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::gpu {

/// Rows of events that have lines, behind each other: what raw samples become before they are summed.
struct HeardRows {
  std::vector<std::size_t> rows;             ///< of the input
  std::vector<std::uint32_t> first_of_line;  ///< by line: of its event, among them
};
[[nodiscard]] HeardRows heard_rows(const LineSet& set);

/// Receivers of a line at most.
[[nodiscard]] std::size_t most_receivers(const LineSet& set);

/// Ranges of a tile of lines at least: fewer leave threads idle.
inline constexpr std::size_t least_tile_ranges = 128;

/// Bytes of device memory at most.
struct LineSizes {
  std::size_t tables = 0;  ///< LineSetOnDevice
  std::size_t rows = 0;    ///< raw samples made floats, and where they come from
  std::size_t gain = 0;
  std::size_t facts = 0;
  std::size_t tiles = 0;
  std::size_t adaptive = 0;  ///< tables, sums and channels of adaptive weights; without what cuFFT works in

  [[nodiscard]] std::size_t bytes() const { return tables + rows + gain + facts + tiles + adaptive; }
};
[[nodiscard]] LineSizes line_sizes(const ScanLinesOptions& options, const BlockSpec& input);

/// Raw samples as floats: so many rows, padded to 16.
[[nodiscard]] BlockSpec float_rows(std::size_t rows, std::size_t samples);

}  // namespace echoform::gpu
