#include "stages/beamform/tile_side.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace echoform::beamform {
namespace {

/// Half path: farther than so many samples from a source, or from the grid's middle along a plane wave's way, single precision
/// holds a distance to no more than 1e-3 of a sample, and farther still not within rounding_guard. Delays then come from tables.
constexpr double half_distance_limit = 1 << 14;

/// Coordinates of the half path count from here, wherever the probe's own origin lies: single precision is for differences.
double middle(const Axis& axis) {
  return 0.5 * (axis.first.value + axis.last.value);
}

/// Those of the float path from here.
double reference(const Axis& axis, std::uint32_t first, std::uint32_t end) {
  return axis.at((first + end - 1) / 2).value;
}

/// Whether a wave's times to all pixels are what a leg's may be: they are linear, so its corners tell.
bool has_valid_times(const PlaneWaveForm& form, const Grid& grid) {
  for (const Metres x : {grid.x.first, grid.x.last}) {
    for (const Metres y : {grid.y.first, grid.y.last}) {
      for (const Metres z : {grid.z.first, grid.z.last}) {
        if (!(std::abs(form.time_to({x, y, z})) < 1.0)) return false;
      }
    }
  }
  return true;
}

}  // namespace

TilePlace place_of(const Grid& grid, const TileShape& shape, std::size_t tile) {
  const std::size_t across = (grid.x.count + shape.x - 1) / shape.x;
  const std::size_t down = (grid.z.count + shape.z - 1) / shape.z;
  const std::size_t in_plane = tile % (across * down);
  const auto x = static_cast<std::uint32_t>(in_plane % across * shape.x);
  const auto z = static_cast<std::uint32_t>(in_plane / across * shape.z);
  return {x, std::min(x + shape.x, static_cast<std::uint32_t>(grid.x.count)), z,
          std::min(z + shape.z, static_cast<std::uint32_t>(grid.z.count)), static_cast<std::uint32_t>(tile / (across * down))};
}

std::size_t tile_count(const Grid& grid, const TileShape& shape) {
  return ((grid.x.count + shape.x - 1) / shape.x) * ((grid.z.count + shape.z - 1) / shape.z) * grid.y.count;
}

void tile_points(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::vector<Point>& points) {
  const std::uint32_t across = shape.x / 8;
  points.resize(std::size_t{shape.x} * shape.z);
  for (std::uint32_t place = 0; place < points.size(); ++place) {
    const std::uint32_t x = tile.x_first + place / 32 % across * 8 + place % 8;
    const std::uint32_t z = tile.z_first + place / 32 / across * 4 + place % 32 / 8;
    points[place] = {grid.x.at(std::min(x, tile.x_end - 1)), grid.y.at(tile.y), grid.z.at(std::min(z, tile.z_end - 1))};
  }
}

SideInSamples::SideInSamples(const TilePlanRequest& request, const Leg& leg, beamform::Side side)
    : options_(request.options), leg_(leg), side_(side), half_(request.half), offset_(delay_offset(request)) {
  window_ = source_window(options_.aperture, side, leg.sources());
  analytic_ = true;
  for (std::size_t source = 0; source < leg.sources() && analytic_; ++source) {
    const auto form = leg.point_source(source);
    if (form && source == 0) velocity_ = form->velocity.value;
    analytic_ = form && form->velocity.value == velocity_;
    if (form) forms_.push_back(*form);
  }
  if (half_ && analytic_) analytic_ = greatest_distance() < half_distance_limit;
  if (!analytic_) find_waves();
}

void SideInSamples::find_waves() {
  const Aperture& aperture = options_.aperture;
  const bool by_event = side_ == beamform::Side::transmit && !aperture.event_weights.empty();
  if (weighted() && !by_event && aperture.apodization.angular()) return;
  std::vector<Wave> waves(leg_.sources());
  double farthest = 0.0;
  for (std::size_t source = 0; source < waves.size(); ++source) {
    if (leg_.reaches_nothing(source)) continue;
    const auto form = leg_.plane_wave(source);
    if (!form || !has_valid_times(*form, options_.grid)) return;
    waves[source] = {*form, weighted() ? static_cast<float>(window_[source]) : 1.0F};
    const auto half_way = [](double slowness, const Axis& axis) {
      return 0.5 * std::abs(slowness * (axis.last - axis.first).value);
    };
    const double way = half_way(form->slowness.x, options_.grid.x) + half_way(form->slowness.z, options_.grid.z);
    farthest = std::max(farthest, way * options_.sample_rate.value);
  }
  if (half_ && !(farthest < half_distance_limit)) return;
  for (const Wave& wave : waves) greatest_weight_ = std::max(greatest_weight_, std::abs(wave.weight));
  waves_ = std::move(waves);
}

double SideInSamples::greatest_distance() const {
  const auto farthest = [](Metres position, const Axis& axis) {
    return std::max(std::abs((axis.first - position).value), std::abs((axis.last - position).value));
  };
  double greatest = 0.0;
  for (const PointSourceForm& form : forms_) {
    greatest = std::max(greatest, std::hypot(farthest(form.origin.x, options_.grid.x), farthest(form.origin.y, options_.grid.y),
                                             farthest(form.origin.z, options_.grid.z)));
  }
  return greatest * samples_per_metre();
}

Bounds SideInSamples::point_bounds(std::uint32_t source, const TilePlace& tile) const {
  const PointSourceForm& form = forms_[source];
  const Grid& grid = options_.grid;
  const auto nearest = [](double position, double first, double last) { return std::clamp(position, first, last) - position; };
  const auto farthest = [](double position, double first, double last) {
    return std::max(std::abs(first - position), std::abs(last - position));
  };
  const double x0 = grid.x.at(tile.x_first).value, x1 = grid.x.at(tile.x_end - 1).value;
  const double z0 = grid.z.at(tile.z_first).value, z1 = grid.z.at(tile.z_end - 1).value;
  const double dy = grid.y.at(tile.y).value - form.origin.y.value;
  const double least = std::hypot(nearest(form.origin.x.value, x0, x1), dy, nearest(form.origin.z.value, z0, z1));
  const double most = std::hypot(farthest(form.origin.x.value, x0, x1), dy, farthest(form.origin.z.value, z0, z1));
  const double offset = form.offset.value * options_.sample_rate.value + offset_;
  return {least * samples_per_metre() + offset, most * samples_per_metre() + offset};
}

SourceForm SideInSamples::point_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                     std::uint32_t index_bits, float& phase) const {
  const PointSourceForm& form = forms_[source];
  const Grid& grid = options_.grid;
  const double k = samples_per_metre();
  const double dy = (grid.y.at(tile.y).value - form.origin.y.value) * k;
  const double added =
      form.offset.value * options_.sample_rate.value + offset_ - window.base + static_cast<double>(1u << index_bits);
  if (half_) {
    phase = 0.0F;
    return {static_cast<float>((form.origin.x.value - middle(grid.x)) * k),
            static_cast<float>((form.origin.z.value - middle(grid.z)) * k), static_cast<float>(dy * dy),
            static_cast<float>(added)};
  }
  const double dx = reference(grid.x, tile.x_first, tile.x_end) * k - form.origin.x.value * k;
  const double dz = reference(grid.z, tile.z_first, tile.z_end) * k - form.origin.z.value * k;
  const double squared = dx * dx + dy * dy + dz * dz;
  phase = static_cast<float>(std::sqrt(squared) + added);
  return {static_cast<float>(2.0 * dx), static_cast<float>(2.0 * dz), static_cast<float>(squared),
          static_cast<float>(std::sqrt(squared))};
}

Bounds SideInSamples::plane_bounds(std::uint32_t source, const TilePlace& tile) const {
  const Wave& wave = waves_[source];
  if (wave.weight == 0.0F) return {};
  const auto ends = [&](double slowness, const Axis& axis, std::uint32_t first, std::uint32_t end) {
    return std::minmax({slowness * axis.at(first).value, slowness * axis.at(end - 1).value});
  };
  const auto along_x = ends(wave.form.slowness.x, options_.grid.x, tile.x_first, tile.x_end);
  const auto along_z = ends(wave.form.slowness.z, options_.grid.z, tile.z_first, tile.z_end);
  const double rest = wave.form.offset.value + wave.form.slowness.y * options_.grid.y.at(tile.y).value;
  const double rate = options_.sample_rate.value;
  return {(rest + along_x.first + along_z.first) * rate + offset_, (rest + along_x.second + along_z.second) * rate + offset_};
}

SourceForm SideInSamples::plane_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                     std::uint32_t index_bits, double unit, float& phase) const {
  const Wave& wave = waves_[source];
  const Grid& grid = options_.grid;
  double added = static_cast<double>(1u << index_bits);
  SourceForm form{};
  // Waves that count for nothing look up the first sample of windows of zeros.
  if (wave.weight != 0.0F) {
    const Point from{Metres(half_ ? middle(grid.x) : reference(grid.x, tile.x_first, tile.x_end)), grid.y.at(tile.y),
                     Metres(half_ ? middle(grid.z) : reference(grid.z, tile.z_first, tile.z_end))};
    const double rate = options_.sample_rate.value;
    added += wave.form.time_to(from) * rate + offset_ - window.base;
    form.a = static_cast<float>(wave.form.slowness.x * rate / unit);
    form.b = static_cast<float>(wave.form.slowness.z * rate / unit);
    form.c = wave.weight / greatest_weight_;
  }
  phase = half_ ? 0.0F : static_cast<float>(added);
  form.d = half_ ? static_cast<float>(added) : 0.0F;
  return form;
}

std::vector<float> SideInSamples::coordinates(const Axis& axis, std::uint32_t tile_pixels) const {
  std::vector<float> places(axis.count);
  for (std::uint32_t pixel = 0; pixel < axis.count; ++pixel) {
    const std::uint32_t first = pixel / tile_pixels * tile_pixels;
    const std::uint32_t end = std::min(first + tile_pixels, static_cast<std::uint32_t>(axis.count));
    const double from = half_ ? middle(axis) : reference(axis, first, end);
    places[pixel] = static_cast<float>((axis.at(pixel).value - from) * samples_per_metre());
  }
  return places;
}

bool SideInSamples::evaluate(std::uint32_t source, const std::vector<Point>& points, std::vector<double>& delays,
                             std::vector<float>& weights) const {
  delays.resize(points.size());
  weights.assign(points.size(), 1.0F);
  leg_.travel_times(source, points, delays);
  if (weighted()) {
    element_weights(options_.aperture, side_, leg_, source, window_[source], points, weights);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (std::isnan(delays[k])) {
      weights[k] = 0.0F;
      continue;
    }
    if (!(std::abs(delays[k]) < 1.0)) return false;
    delays[k] = delays[k] * options_.sample_rate.value + offset_;
  }
  return true;
}

}  // namespace echoform::beamform
