// Launches of the kernels that find rays tile by tile.
#pragma once

#include <cuda_runtime_api.h>

#include "delay_laws/part_side.hpp"
#include "rays/field_forms.hpp"
#include "rays/shadow_math.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

/// Sources that a block works on at a time. One warp finds the windows of one source.
inline constexpr std::uint32_t ray_sources = 8;
inline constexpr std::uint32_t ray_threads = 32 * ray_sources;

/// Errors and special cases that a launch found. All are zero before the launch.
struct RayTileFlags {
  std::uint32_t invalid;     ///< some pixel is out of some source's reach
  std::uint32_t bad_source;  ///< source + 1 whose time is 1 s or more, or no number at all; 0: none
  std::uint32_t far_source;  ///< source + 1 whose delays are beyond delay_limit; 0: none
  std::uint32_t asked;       ///< rows with rays that the host has to find
};

/// Device memory for rows with rays that are left to the host.
struct AskedRows {
  std::uint32_t most = 0;            ///< maximum number of rows
  std::uint64_t* entries = nullptr;  ///< [row]: tile * sources + source
  double* times = nullptr;           ///< [row, pixel of the tile], s; asked_time() where the host is asked
};

/// A pixel on a surface of the part. Its rays go to the place (x, y, z) just inside.
struct MovedPixel {
  std::uint64_t pixel;
  double x;
  double y;
  double z;
};

/// Arguments of a launch. Pointers are to device memory.
struct RayTileTask {
  const double* x = nullptr;  ///< pixel centres in m: [nx], [ny], [nz]
  const double* y = nullptr;
  const double* z = nullptr;
  const PartSide* sides = nullptr;    ///< [nz, ny, nx]; absent where all are within the part
  const MovedPixel* moved = nullptr;  ///< pixels on a surface, ascending by pixel
  std::uint32_t moved_count = 0;
  std::uint32_t nx = 0;
  std::uint32_t ny = 0;
  std::uint32_t nz = 0;
  std::uint32_t tiles_x = 0;
  std::uint32_t tiles_z = 0;
  std::uint32_t tiles = 0;    ///< of all planes y, one after the other
  std::uint32_t shape_x = 0;  ///< pixels of a tile
  std::uint32_t shape_z = 0;
  std::uint32_t sources = 0;
  double rate = 0.0;    ///< samples a second
  double offset = 0.0;  ///< samples: delay_offset()
  double unit = 0.0;    ///< units of a table's delays in one sample

  SourceWindow* windows = nullptr;  ///< [tile, source]
  std::uint32_t* delays = nullptr;  ///< [tile, source, pixel of the tile]
  float* weights = nullptr;         ///< likewise; may be absent
  RayTileFlags* flags = nullptr;
  AskedRows asked{};
};

/// LayerForm on the device.
struct LayerRays {
  Vector3 tangent;
  Vector3 across;
  Vector3 normal;
  double depth;
  double leaves;
  int slow;
  const rays::LayerSource* sources;
};

/// CurveForm on the device.
struct CurveRays {
  std::uint32_t count;  ///< nodes
  const rays::CurveNode* nodes;
  const rays::CurvePiece* pieces;
  const float* slopes;
  float point_slowness;
  double before;
  double after;
  rays::CrossingSides sides;
  const Vector2* sources;
};

/// Rays through a curve that casts shadows, with sources and pixels in its plane.
struct ShadedRays {
  CurveRays curve;
  rays::ShadedCurve shaded;  ///< the same curve
};

/// Rays through a curve that is extruded along an axis, with sources and pixels anywhere along that axis.
struct DrawnRays {
  CurveRays curve;
  SurfaceAxes axes;
  bool along_y;  ///< whether the image's planes are stacked along the axis, so that all have the same rays in the curve's plane
  const rays::PieceReach* reaches;
  const double* across;  ///< of the sources
};

/// Bytes of shared memory of a block for a curve of `nodes` nodes.
[[nodiscard]] std::size_t curve_tile_bytes(const RayTileTask& task, std::uint32_t nodes);
[[nodiscard]] std::size_t drawn_tile_bytes(const RayTileTask& task, std::uint32_t nodes);
[[nodiscard]] std::size_t layer_tile_bytes(const RayTileTask& task);

/// Prepares the kernels. Called once, at set-up. Throws RuntimeFault.
void prepare_ray_tiles(std::size_t shared_limit);
void launch_ray_tiles(const RayTileTask& task, const LayerRays& rays, cudaStream_t stream);
void launch_ray_tiles(const RayTileTask& task, const CurveRays& rays, cudaStream_t stream);
void launch_ray_tiles(const RayTileTask& task, const ShadedRays& rays, cudaStream_t stream);
/// Rows with rays that only the host can find go to task.asked, up to its capacity, and not into the tables. flags->asked
/// counts them.
void launch_ray_tiles(const RayTileTask& task, const DrawnRays& rays, cudaStream_t stream);
/// Fills the tables of the first `rows` rows of task.asked, which have all their times by now.
void launch_asked_rows(const RayTileTask& task, std::uint32_t rows, cudaStream_t stream);

}  // namespace echoform::beamform
