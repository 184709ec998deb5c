// The loops over many rays on the CPU, once for each instruction set. Plain types only: the instruction-set files include nothing
// that could leave wide instructions in functions shared with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rays/layer_math.hpp"

namespace echoform::rays {

/// Rays of one source through layers to a run of points.
struct LayerRun {
  LayerStack stack;
  double source_along = 0.0;  ///< along the planes, m
  double source_y = 0.0;
  const double* along = nullptr;  ///< of the points
  const double* y = nullptr;
  const double* last = nullptr;  ///< distance from the last plane to the side on which the last leg lies; below 0: no ray
  double* seconds = nullptr;     ///< NaN where there is no ray
  std::size_t count = 0;
};

/// Rays over pieces of a curve, each with a start of its own.
struct CrossingBatch {
  static constexpr std::size_t capacity = 128;
  // Coefficients of the pieces, as in CurvePiece.
  alignas(64) double at_x[capacity];
  double at_z[capacity];
  double b_x[capacity];
  double b_z[capacity];
  double c_x[capacity];
  double c_z[capacity];
  double d_x[capacity];
  double d_z[capacity];
  double q[capacity];
  double source_x[capacity];
  double source_z[capacity];
  double point_x[capacity];
  double point_z[capacity];
  double start[capacity];
  double across[capacity];   ///< of the point from the source along y, m; crossings() do without
  double seconds[capacity];  ///< NaN where no ray is found
  double found_x[capacity];
  double found_z[capacity];
  double found_t[capacity];  ///< on the piece
  double before = 0.0;       ///< slownesses, s/m
  double after = 0.0;
  double source_side = 0.0;  ///< as CrossingSides
  double point_side = 0.0;
  std::size_t count = 0;
};

/// Nodes of a curve, padded to words of 64.
struct NodeRow {
  const float* x;
  const float* z;
  const float* tangent_x;
  const float* tangent_z;
  std::size_t words;
};

/// How many points' tables a scan takes at once.
inline constexpr std::size_t scanned_points = 8;

struct FieldKernels {
  /// The kernels for layers, indexed by the number of slow layers.
  void (*layers[most_slow_layers + 1])(const LayerRun&);
  void (*crossings)(CrossingBatch&);
  /// The same kernel for ends that may lie on the surface; it is slower.
  void (*touching_crossings)(CrossingBatch&);
  /// The same for rays whose ends lie apart along y; where `seconds` is below 0, the ray must be searched elsewhere.
  void (*across)(CrossingBatch&);
  /// slopes[n] = node_slope of node n and the point (x, z).
  void (*node_slopes)(const NodeRow& nodes, float slowness, float x, float z, float* slopes);
  /// Sets bit n of `negative` [row, words] where source[n] + row[n] < 0, for each of scanned_points rows of `points` [row,
  /// 64 * words].
  void (*scan)(const float* source, const float* points, std::size_t words, std::uint64_t* negative);
  /// Bit n: whether the line through (x, z) along (along_x, along_z) may meet the curve between node 64 * word + n and the next
  /// one: unless both lie on one side of it, by more than `margin`, m, times the length of (along_x, along_z).
  std::uint64_t (*parted)(const NodeRow& nodes, std::size_t word, float x, float z, float along_x, float along_z, float margin);
};

extern const FieldKernels portable_field_kernels;
extern const FieldKernels avx2_field_kernels;
extern const FieldKernels avx512_field_kernels;

}  // namespace echoform::rays
