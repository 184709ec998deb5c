// Memory that sums along lines will take on a GPU. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/block.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::gpu {

/// The rows of events that have lines, one event after the other. Their raw samples are converted before they are summed.
struct HeardRows {
  std::vector<std::size_t> rows;             ///< of the input
  std::vector<std::uint32_t> first_of_line;  ///< for each line: the first row of its event among `rows`
};
[[nodiscard]] HeardRows heard_rows(const LineSet& set);

/// Maximum number of receivers of a line.
[[nodiscard]] std::size_t most_receivers(const LineSet& set);

/// Minimum number of ranges of a tile of lines. With fewer, threads would be idle.
inline constexpr std::size_t least_tile_ranges = 128;

/// Upper bounds of device memory, in bytes.
struct LineSizes {
  std::size_t tables = 0;  ///< LineSetOnDevice
  std::size_t rows = 0;    ///< raw samples converted to floats, and the table of their rows
  std::size_t gain = 0;
  std::size_t facts = 0;
  std::size_t tiles = 0;
  std::size_t adaptive = 0;  ///< tables, sums and channels of adaptive weights, without cuFFT's workspace

  [[nodiscard]] std::size_t bytes() const { return tables + rows + gain + facts + tiles + adaptive; }
};
[[nodiscard]] LineSizes line_sizes(const ScanLinesOptions& options, const BlockSpec& input);

/// The block of raw samples converted to floats: `rows` rows, padded to a multiple of 16.
[[nodiscard]] BlockSpec float_rows(std::size_t rows, std::size_t samples);

}  // namespace echoform::gpu
