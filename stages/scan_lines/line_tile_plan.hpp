// The arguments of tiles of lines, computed once: the ranges of a tile, and the windows of samples that it reaches. For
// *_cuda.cpp files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/backend.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::gpu {

/// The rows that are summed.
struct TiledRows {
  bool whole_numbers = false;  ///< int16
  std::size_t row_bytes = 0;
  std::int32_t samples = 0;
  /// The first row of each line's event.
  std::span<const std::uint32_t> first_rows;
};

class LineTilePlan {
 public:
  explicit LineTilePlan(Backend& backend) : backend_(backend) {}

  /// Makes the plan. Returns whether tiles can sum these lines; if not, nothing is held. `set` has the tables of `options`
  /// on the device.
  [[nodiscard]] bool make(const ScanLinesOptions& options, const LineSetOnDevice& set, const scan_lines::LineTables& tables,
                          const TiledRows& rows);

  /// The arguments of a launch, except rows, gain, scale, out and facts.
  [[nodiscard]] const LineTiles& tiles() const { return tiles_; }
  void launch(const LineTiles& tiles, cudaStream_t stream) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  void list_events(const ScanLinesOptions& options, const scan_lines::LineTables& tables, const TiledRows& rows);
  bool find_tiles(const ScanLinesOptions& options, const scan_lines::LineTables& tables);
  void place_tiles(const ScanLinesOptions& options, const scan_lines::LineTables& tables);
  std::vector<std::int32_t> find_windows();
  void share_samples(const std::vector<std::int32_t>& windows);
  template <class T>
  T* keep(std::vector<Buffer>& where, const std::vector<T>& values);

  Backend& backend_;
  LineTiles tiles_;
  bool whole_numbers_ = false;
  std::vector<TileEvent> events_;
  std::size_t heard_ = 0;     // rows of all events
  std::vector<Buffer> held_;  // independent of the tiles
  std::vector<Buffer> of_tiles_;
};

}  // namespace echoform::gpu
