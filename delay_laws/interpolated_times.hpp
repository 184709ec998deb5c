// Times from the sources of a field to the pixels of a grid, of which rays give some and polynomials the others.
//
// The image is cut into square cells, 32 pixels on each side, with 5 x 5 nodes whose rays are found exactly; inside, the time is
// the polynomial of degree four along x and along z through them. A cell is taken so where
//   - all its pixels lie in the part, and its rays are one bundle (rays/ray_bundle.hpp): no corner, no shadow, no other way;
//   - each row and each column of nodes has a fourth difference of at most half of the tolerance: a cubic through four nodes
//     foretells the fifth that well. The polynomial's own error is of the next order: 0.03 of the fifth difference along an axis
//     (the greatest of |t (t-1) (t-2) (t-3) (t-4)| / 120), and along the other one that times the nodes' Lebesgue constant, 2.2.
//     A kink, where another way becomes the quickest, is for the bundles to see: the fourth difference of one at 1.35 of the
//     nodes' distance is 0;
//   - the eikonal equation |grad t| = 1 / c of the last leg holds for the polynomial at all nodes, to the tolerance over the
//     nodes' distance;
//   - a way that is the quickest between nodes alone could be quicker by no more than the tolerance (RayBundles::hidden).
// Else the cell is cut into four. Below 8 pixels a side all are found exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/grid.hpp"
#include "base/units.hpp"
#include "delay_laws/part_bounds.hpp"
#include "rays/ray_bundle.hpp"
#include "rays/ray_field.hpp"

namespace echoform {

class InterpolatedTimes {
 public:
  /// `pixels` are those of `grid`. `tolerance`, more than 0: how far a time may be off. All but the grid outlive this.
  InterpolatedTimes(const RayField& field, const Grid& grid, const PartPixels& pixels, Seconds tolerance);

  /// Whether there is anything to interpolate: a plane grid of some size in the plane y of all sources, and surfaces that are no
  /// mere points.
  [[nodiscard]] static bool serves(const RayField& field, const Grid& grid);

  /// Whether interpolation is faster than a ray for every pixel. By measurement (docs/performance.md) it is not over one
  /// surface that casts shadows: the curve field finds its rays at once for all sources of a pixel, and little between them
  /// is smooth.
  [[nodiscard]] static bool pays(const RayField& field);

  /// Sources of one call at which fill() is quickest.
  [[nodiscard]] std::size_t sources_at_once() const;

  /// Times of the sources first .. last - 1 less `middle` [source], into the pixels inside of rows of grid.pixels() at `table` +
  /// source * grid.pixels(); NaN where there is no ray. What is outside stays. Returns how many rays were found. Thread-safe.
  std::size_t fill(std::size_t first, std::size_t last, std::span<const double> middle, float* table) const;

 private:
  static constexpr std::size_t order = 4;
  static constexpr std::size_t nodes = order + 1;              ///< on a side
  static constexpr std::array<std::size_t, 3> steps{8, 4, 2};  ///< pixels between nodes, level by level
  static constexpr std::size_t widest = order * steps.front();
  /// A node's weights by place, along one axis.
  using Weights = std::array<std::array<float, widest + 1>, nodes>;

  struct Cell {
    std::size_t x;  ///< first pixel
    std::size_t z;
  };
  struct Cells {
    std::array<std::vector<Cell>, steps.size()> by_level;
    std::vector<Cell> exact;  ///< of the last level's size: ray by ray
  };
  /// The rays of one source.
  struct Rays {
    std::vector<std::uint32_t> index;  ///< by place in the lattice: 1 + place in `traces`; 0: not found yet
    std::vector<RayTrace> traces;
  };
  using Nodes = std::array<RayTrace, nodes * nodes>;

  void take(const Cell& cell, std::size_t level, Cells& into) const;
  void divide(const Cell& cell, std::size_t level, Cells& into) const;
  [[nodiscard]] bool nothing_hides(const Cell& cell, std::size_t level) const;
  [[nodiscard]] Point place(std::size_t x, std::size_t z) const;
  [[nodiscard]] Point place(std::size_t lattice) const { return place(lattice % lattice_x_, lattice / lattice_x_); }
  void enlist(const Cell& cell, std::size_t level, Rays& rays, std::vector<std::size_t>& missing) const;
  void trace(std::size_t first, std::size_t last, std::span<const std::size_t> lattice, std::vector<RayTrace>* into) const;
  [[nodiscard]] std::vector<std::size_t> pixels_of(std::span<const Cell> cells) const;
  void fill_exactly(std::size_t first, std::size_t last, std::span<const std::size_t> pixels, std::span<const double> middle,
                    float* table) const;
  [[nodiscard]] std::size_t fill_source(std::size_t source, Rays& rays, std::span<const double> middle, float* table) const;
  [[nodiscard]] bool is_smooth(std::size_t source, const Cell& cell, std::size_t level, const Nodes& traces) const;
  void interpolate(const Cell& cell, std::size_t level, const Nodes& traces, double middle, float* row) const;

  const RayField& field_;
  Grid grid_;
  const PartPixels& pixels_;
  double tolerance_;
  RayBundles bundles_;
  std::size_t lattice_x_;  ///< the lattice holds whole cells: it may go on beyond the grid
  std::size_t lattice_z_;
  std::vector<std::uint32_t> outside_before_;  ///< [z, x]: pixels above and to the left that are not in the part
  // What is known before any ray:
  Cells first_cells_;
  Rays first_rays_;  ///< without traces
  std::vector<std::size_t> first_nodes_;
  std::vector<std::size_t> first_pixels_;
  std::array<Weights, steps.size()> weights_{};
};

}  // namespace echoform
