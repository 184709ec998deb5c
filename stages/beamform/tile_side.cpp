#include "stages/beamform/tile_side.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "base/directions.hpp"

namespace echoform::beamform {
namespace {

/// The limit of distances for the half path, in samples. Farther from a source, or from the grid's middle along a plane wave's
/// path, single precision holds a distance to no more than 1e-3 of a sample, and farther still not within rounding_guard. Delays
/// then come from tables.
constexpr double half_distance_limit = 1 << 14;

/// The origin of the coordinates of the half path, wherever the probe's own origin lies. Single precision serves for differences
/// only.
double middle(const Axis& axis) {
  return 0.5 * (axis.first.value + axis.last.value);
}

/// The origin of the coordinates of the float path.
double reference(const Axis& axis, std::uint32_t first, std::uint32_t end) {
  return axis.at((first + end - 1) / 2).value;
}

/// Whether a wave's times to all pixels are within the range of a leg's times. They are linear, so the corners of the grid
/// suffice.
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

std::size_t tile_pixel(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::uint32_t place) {
  const std::uint32_t across = shape.x / 8;
  const std::uint32_t x = std::min(tile.x_first + place / 32 % across * 8 + place % 8, tile.x_end - 1);
  const std::uint32_t z = std::min(tile.z_first + place / 32 / across * 4 + place % 32 / 8, tile.z_end - 1);
  return (z * grid.y.count + tile.y) * grid.x.count + x;
}

void tile_points(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::vector<Point>& points) {
  points.resize(std::size_t{shape.x} * shape.z);
  for (std::uint32_t place = 0; place < points.size(); ++place) points[place] = grid.at(tile_pixel(grid, shape, tile, place));
}

SideInSamples::SideInSamples(const TilePlanRequest& request, const Leg& leg, beamform::Side side)
    : options_(request.options), leg_(leg), side_(side), half_(request.half), offset_(delay_offset(request)) {
  window_ = source_window(options_.aperture, side, leg.sources());
  analytic_ = true;
  for (std::size_t source = 0; source < leg.sources() && analytic_; ++source) {
    const auto form = leg.point_source_on(source, options_.grid);
    if (form && source == 0) velocity_ = form->velocity.value;
    analytic_ = form && form->velocity.value == velocity_;
    if (form) forms_.push_back(*form);
  }
  if (half_ && analytic_) analytic_ = greatest_distance() < half_distance_limit;
  if (!analytic_) find_waves();
  if (!analytic_ && waves_.empty()) find_turned_waves();
}

bool SideInSamples::weighs_pixels_alike() const {
  const Aperture& aperture = options_.aperture;
  const bool by_event = side_ == beamform::Side::transmit && !aperture.event_weights.empty();
  return !weighted() || by_event || !aperture.apodization.angular();
}

float SideInSamples::weight_of(std::uint32_t source) const {
  return weighted() ? static_cast<float>(window_[source]) : 1.0F;
}

void SideInSamples::find_waves() {
  if (!weighs_pixels_alike()) return;
  std::vector<Wave> waves(leg_.sources());
  double farthest = 0.0;
  for (std::uint32_t source = 0; source < waves.size(); ++source) {
    if (leg_.reaches_nothing(source)) continue;
    const auto form = leg_.plane_wave_on(source, options_.grid);
    if (!form || !has_valid_times(*form, options_.grid)) return;
    waves[source] = {*form, weight_of(source)};
    const auto half_way = [](double slowness, const Axis& axis) {
      return 0.5 * std::abs(slowness * (axis.last - axis.first).value);
    };
    const double way = half_way(form->slowness.x, options_.grid.x) + half_way(form->slowness.z, options_.grid.z);
    farthest = std::max(farthest, way * options_.sample_rate.value);
  }
  if (half_ && !(farthest < half_distance_limit)) return;
  take(std::move(waves));
}

void SideInSamples::take(std::vector<Wave> waves) {
  for (const Wave& wave : waves) greatest_weight_ = std::max(greatest_weight_, std::abs(wave.weight));
  waves_ = std::move(waves);
}

void SideInSamples::find_turned_waves() {
  if (!weighs_pixels_alike()) return;
  const double rate = options_.sample_rate.value;
  std::vector<Wave> waves(leg_.sources());
  std::optional<Revolution> about;
  std::optional<bool> from_points;
  bool some_reach_nothing = false;
  for (std::uint32_t source = 0; source < waves.size(); ++source) {
    if (leg_.reaches_nothing(source)) {
      some_reach_nothing = true;
      continue;
    }
    const auto form = leg_.revolved(source);
    if (!form || (about && !(*about == form->about))) return;
    about = form->about;
    const auto* const point = std::get_if<PointSourceForm>(&form->in_plane);
    if (from_points.value_or(point != nullptr) != (point != nullptr)) return;
    from_points = point != nullptr;
    Wave& wave = waves[source];
    wave.weight = weight_of(source);
    if (point != nullptr) {
      if (velocity_ != 0.0 && point->velocity.value != velocity_) return;
      velocity_ = point->velocity.value;
      const Point own = about->frame.to_probe(point->origin);
      wave.along = own.x.value * samples_per_metre();
      wave.out = own.z.value * samples_per_metre();
      wave.delay = point->offset.value * rate;
    } else {
      wave.form = std::get<PlaneWaveForm>(form->in_plane);
      if (velocity_ == 0.0) velocity_ = 1.0 / length(wave.form.slowness);
      wave.along = dot(wave.form.slowness, about->frame.x) * velocity_;
      wave.out = dot(wave.form.slowness, about->frame.z) * velocity_;
      wave.delay = wave.form.time_to(about->frame.origin) * rate;
    }
  }
  // A virtual source that reaches nothing has no delays that would fit into a window.
  if (!about || (*from_points && some_reach_nothing)) return;
  about_ = about;
  from_points_ = *from_points;
  const TurnedBox box = turned_box(options_.grid.x, options_.grid.y, options_.grid.z);
  const bool holds = std::ranges::all_of(waves, [&](const Wave& wave) {
    if (wave.weight == 0.0F) return true;
    const Bounds bounds = bounds_in(wave, box);
    const bool near = !half_ || !from_points_ || (bounds.most - wave.delay) < half_distance_limit;
    return near && std::abs(bounds.least) < rate && std::abs(bounds.most) < rate;
  });
  if (holds) take(std::move(waves));
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
  // Waves of weight 0 look up the first sample of windows of zeros.
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

SideInSamples::Turned SideInSamples::turned_place(const Point& point) const {
  const Point own = about_->frame.to_probe(point);
  return {own.x.value * samples_per_metre(), std::hypot(own.y.value, own.z.value) * samples_per_metre()};
}

SideInSamples::TurnedBox SideInSamples::turned_box(const Axis& x, const Axis& y, const Axis& z) const {
  constexpr double far = std::numeric_limits<double>::infinity();
  Point min{Metres(far), Metres(far), Metres(far)};
  Point max{Metres(-far), Metres(-far), Metres(-far)};
  double out = 0.0;
  for (const Metres at_x : {x.first, x.last}) {
    for (const Metres at_y : {y.first, y.last}) {
      for (const Metres at_z : {z.first, z.last}) {
        const Point own = about_->frame.to_probe({at_x, at_y, at_z});
        min = {std::min(min.x, own.x), std::min(min.y, own.y), std::min(min.z, own.z)};
        max = {std::max(max.x, own.x), std::max(max.y, own.y), std::max(max.z, own.z)};
        out = std::max(out, std::hypot(own.y.value, own.z.value));
      }
    }
  }
  const auto nearest = [](Metres from, Metres to) { return std::max({from.value, -to.value, 0.0}); };
  const double k = samples_per_metre();
  const double in = std::hypot(nearest(min.y, max.y), nearest(min.z, max.z));
  return {{min.x.value * k, in * k}, {max.x.value * k, out * k}};
}

SideInSamples::TurnedBox SideInSamples::turned_box(const TilePlace& tile) const {
  const Grid& grid = options_.grid;
  const Metres y = grid.y.at(tile.y);
  return turned_box({grid.x.at(tile.x_first), grid.x.at(tile.x_end - 1), 2}, {y, y, 1},
                    {grid.z.at(tile.z_first), grid.z.at(tile.z_end - 1), 2});
}

double SideInSamples::turned_delay(const Wave& wave, const Turned& place) const {
  const double way =
      from_points_ ? std::hypot(place.along - wave.along, place.out - wave.out) : wave.along * place.along + wave.out * place.out;
  return way + wave.delay;
}

Bounds SideInSamples::bounds_in(const Wave& wave, const TurnedBox& box) const {
  // Delays grow with the distance from the line. Along the line they are smallest nearest to a virtual source.
  Turned first = box.min;
  Turned last = box.max;
  if (from_points_) {
    first.along = std::clamp(wave.along, box.min.along, box.max.along);
    if (wave.along - box.min.along > box.max.along - wave.along) last.along = box.min.along;
  } else if (wave.along < 0.0) {
    std::swap(first.along, last.along);
  }
  return {turned_delay(wave, first), turned_delay(wave, last)};
}

SideInSamples::Turned SideInSamples::turned_reference(const TilePlace& tile) const {
  const Grid& grid = options_.grid;
  return turned_place({Metres(reference(grid.x, tile.x_first, tile.x_end)), grid.y.at(tile.y),
                       Metres(reference(grid.z, tile.z_first, tile.z_end))});
}

void SideInSamples::turned_places(const TileShape& shape, const TilePlace& tile, std::span<TurnedPlace> places) const {
  std::vector<Point> points;
  tile_points(options_.grid, shape, tile, points);
  const Turned from = turned_reference(tile);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Turned at = turned_place(points[k]);
    places[k] = {static_cast<float>(at.along - from.along), static_cast<float>(at.out - from.out)};
  }
}

Bounds SideInSamples::turned_bounds(std::uint32_t source, const TilePlace& tile) const {
  const Wave& wave = waves_[source];
  // A plane wave of weight 0 has no slope, and fits into any window.
  if (wave.weight == 0.0F && !from_points_) return {};
  const Bounds bounds = bounds_in(wave, turned_box(tile));
  return {bounds.least + offset_, bounds.most + offset_};
}

SourceForm SideInSamples::turned_form(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                      std::uint32_t index_bits, float& phase) const {
  const Wave& wave = waves_[source];
  double added = static_cast<double>(1u << index_bits);
  SourceForm form{};
  if (wave.weight != 0.0F || from_points_) {
    const Turned from = turned_reference(tile);
    added += offset_ - window.base;
    if (wave.weight != 0.0F) form.c = wave.weight / greatest_weight_;
    if (!from_points_) {
      added += turned_delay(wave, from);
      form.a = static_cast<float>(wave.along);
      form.b = static_cast<float>(wave.out);
    } else if (half_) {
      added += wave.delay;
      form.a = static_cast<float>(wave.along - from.along);
      form.b = static_cast<float>(wave.out - from.out);
    } else {
      added += turned_delay(wave, from);
      form.a = static_cast<float>(2.0 * (from.along - wave.along));
      form.b = static_cast<float>(2.0 * (from.out - wave.out));
      form.d = static_cast<float>(std::hypot(from.along - wave.along, from.out - wave.out));
    }
  }
  phase = half_ ? 0.0F : static_cast<float>(added);
  if (half_) form.d = static_cast<float>(added);
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
