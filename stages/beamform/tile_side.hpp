// One side of a delay law, in samples, in the form that the CUDA beamformer's tiles need. This file does not need CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "delay_laws/revolution.hpp"
#include "stages/beamform/apodization.hpp"
#include "stages/beamform/tile_plan.hpp"

namespace echoform::beamform {

struct Bounds {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  [[nodiscard]] bool empty() const { return !(least <= most); }
};

/// Pixels [x_first, x_end) x [z_first, z_end) in one plane.
struct TilePlace {
  std::uint32_t x_first, x_end, z_first, z_end, y;
};

[[nodiscard]] TilePlace place_of(const Grid& grid, const TileShape& shape, std::size_t tile);
[[nodiscard]] std::size_t tile_count(const Grid& grid, const TileShape& shape);
/// The pixel, in image order, at a place of a tile in the order of its threads: patches of 8 x 4 pixels, row by row. Places
/// beyond the image repeat its last pixels.
[[nodiscard]] std::size_t tile_pixel(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::uint32_t place);
/// Writes the points of all places of the tile.
void tile_points(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::vector<Point>& points);

class SideInSamples {
 public:
  /// `request` must outlive this object.
  SideInSamples(const TilePlanRequest& request, const Leg& leg, beamform::Side side);

  /// Whether all sources are points, in a medium of one velocity.
  [[nodiscard]] bool analytic() const { return analytic_; }
  /// Whether every source is a plane wave or reaches no pixel, and has the same weight at all pixels. True also for waves of
  /// revolution, see turned().
  [[nodiscard]] bool plane() const { return !waves_.empty(); }
  /// Whether all sources are waves of revolution about one line: all plane, or all from virtual sources with one velocity.
  [[nodiscard]] bool turned() const { return plane() && about_.has_value(); }
  [[nodiscard]] bool turned_points() const { return turned() && from_points_; }
  [[nodiscard]] bool weighted() const { return !window_.empty(); }
  [[nodiscard]] std::uint32_t sources() const { return static_cast<std::uint32_t>(leg_.sources()); }
  [[nodiscard]] const DelayLaw& law() const { return options_.law; }
  /// Requires analytic() or turned().
  [[nodiscard]] double samples_per_metre() const { return options_.sample_rate.value / velocity_; }
  /// The greatest |weight| of a wave. Requires plane().
  [[nodiscard]] float greatest_weight() const { return greatest_weight_; }

  /// Bounds of the delays over a tile, in closed form; empty for waves of weight 0. Requires analytic() or plane().
  [[nodiscard]] Bounds bounds(std::uint32_t source, const TilePlace& tile) const {
    return turned() ? turned_bounds(source, tile) : plane() ? plane_bounds(source, tile) : point_bounds(source, tile);
  }

  /// The analytic form of a source. `unit` is samples_per_metre() of the coordinates in the kernel. Requires analytic() or
  /// plane().
  [[nodiscard]] SourceForm form_of(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                   std::uint32_t index_bits, double unit, float& phase) const {
    return turned()  ? turned_form(source, tile, window, index_bits, phase)
           : plane() ? plane_form(source, tile, window, index_bits, unit, phase)
                     : point_form(source, tile, window, index_bits, phase);
  }
  /// Writes the places of a tile's pixels, in the order of tile_points(). Requires turned().
  void turned_places(const TileShape& shape, const TilePlace& tile, std::span<TurnedPlace> places) const;
  /// Pixel coordinates for the forms. Requires analytic().
  [[nodiscard]] std::vector<float> coordinates(const Axis& axis, std::uint32_t tile_pixels) const;

  /// Writes delays and weights of a tile's places; delays are NaN where there is no path. Returns false if the law is invalid.
  [[nodiscard]] bool evaluate(std::uint32_t source, const std::vector<Point>& points, std::vector<double>& delays,
                              std::vector<float>& weights) const;

 private:
  struct Wave {
    PlaneWaveForm form;
    float weight = 0.0F;  ///< 0 where it reaches nothing
    /// Where turned(), relative to the line about which the wave is symmetric. For a plane wave `along` and `out` are
    /// samples per coordinate and `delay` is the delay at the line's origin. For a virtual source they are its place, in
    /// samples.
    double along = 0.0;
    double out = 0.0;
    double delay = 0.0;
  };
  /// A place relative to the line of turned(), in samples.
  struct Turned {
    double along;
    double out;
  };
  struct TurnedBox {
    Turned min;
    Turned max;
  };

  /// Fills waves_ if all sources of the leg are waves.
  void find_waves();
  void find_turned_waves();
  void take(std::vector<Wave> waves);
  [[nodiscard]] bool weighs_pixels_alike() const;
  [[nodiscard]] float weight_of(std::uint32_t source) const;
  /// The greatest distance of a pixel from a point source, in samples.
  [[nodiscard]] double greatest_distance() const;

  /// Bounds from the nearest point of the tile and its farthest corner.
  [[nodiscard]] Bounds point_bounds(std::uint32_t source, const TilePlace& tile) const;
  [[nodiscard]] SourceForm point_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                      std::uint32_t index_bits, float& phase) const;
  /// Bounds from the delays at the tile's corners.
  [[nodiscard]] Bounds plane_bounds(std::uint32_t source, const TilePlace& tile) const;
  [[nodiscard]] SourceForm plane_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                      std::uint32_t index_bits, double unit, float& phase) const;

  [[nodiscard]] Turned turned_place(const Point& point) const;
  /// A box that contains the points of all three ranges, and is hardly larger than necessary.
  [[nodiscard]] TurnedBox turned_box(const Axis& x, const Axis& y, const Axis& z) const;
  [[nodiscard]] TurnedBox turned_box(const TilePlace& tile) const;
  [[nodiscard]] double turned_delay(const Wave& wave, const Turned& place) const;
  /// Bounds of the delays over all places in the box, in samples.
  [[nodiscard]] Bounds bounds_in(const Wave& wave, const TurnedBox& box) const;
  /// The reference place of a tile, from which its coordinates count.
  [[nodiscard]] Turned turned_reference(const TilePlace& tile) const;
  [[nodiscard]] Bounds turned_bounds(std::uint32_t source, const TilePlace& tile) const;
  [[nodiscard]] SourceForm turned_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                       std::uint32_t index_bits, float& phase) const;

  const BeamformOptions& options_;
  const Leg& leg_;
  beamform::Side side_;
  bool half_;
  double offset_;
  std::vector<double> window_;
  bool analytic_ = false;
  double velocity_ = 0.0;
  std::vector<PointSourceForm> forms_;
  std::vector<Wave> waves_;
  float greatest_weight_ = 0.0F;
  std::optional<Revolution> about_;  ///< turned()
  bool from_points_ = false;         ///< where turned(): from virtual sources
};

}  // namespace echoform::beamform
