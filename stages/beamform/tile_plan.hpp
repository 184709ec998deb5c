// Delay laws as the CUDA beamformer wants them, made on the host in double precision. No CUDA here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/thread_team.hpp"
#include "pipeline/imaging_plan.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

/// Tables of one side; empty where the kernel does not want them. Layouts as TileSide.
struct TileSideTables {
  std::vector<SourceWindow> windows;
  std::vector<SourceForm> forms;
  std::vector<float> phases;
  std::vector<float> x;
  std::vector<float> z;
  std::vector<std::uint32_t> delays;
  std::vector<float> weights;
};

struct TilePlan {
  TileKind kind = TileKind::large_narrow;
  bool analytic = false;
  PairOrder order = PairOrder::once;
  float once_weight = 1.0F;
  std::uint32_t tiles_x = 0;
  std::uint32_t tiles_z = 0;
  std::uint32_t ny = 0;
  TileSideTables transmit;
  TileSideTables receive;             ///< empty under PairOrder::once: both sides are `transmit`
  std::vector<std::uint8_t> checked;  ///< [tile]
  [[nodiscard]] std::size_t tiles() const { return std::size_t{tiles_x} * tiles_z * ny; }
};

struct TilePlanRequest {
  const ImagingPlan& plan;
  std::size_t view = 0;
  MatrixKind matrix = MatrixKind::half_summed;        ///< form of the beamformer's input
  std::size_t samples = 0;                            ///< of its rows: those of the gate
  bool half = false;                                  ///< data path
  std::size_t shared_limit = std::size_t{227} << 10;  ///< bytes that a block may have on the device
  std::optional<TileKind> kind{};                     ///< asked for by tests and benchmarks; else the best that fits
};

/// Evaluates the law in double precision: bounds over every tile, and whole tables where it has no analytic form or there are
/// weights. Throws InputError if the law gives an infinite time or one of 1 s and more, if delays are out of all proportion to
/// the A-scan, or if `kind` does not hold what the tiles reach.
[[nodiscard]] TilePlan make_tile_plan(const TilePlanRequest& request, ThreadTeam& team);

}  // namespace echoform::beamform
