#include "delay_laws/interpolated_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echoform {
namespace {

/// On smaller grids interpolation saves too little.
constexpr std::size_t least_pixels = 9;

/// Number of pixels that belong to a cell starting at `first` along an axis of `count` pixels. The cell's last pixel belongs to
/// the next cell, if there is one.
std::size_t own_pixels(std::size_t first, std::size_t edge, std::size_t count) {
  if (first > 0 && first + 1 >= count) return 0;
  const std::size_t left = count - first;
  return left == edge + 1 ? left : std::min(edge, left);
}

Vector2 in_plane(const Point& point) {
  return {point.x.value, point.z.value};
}

std::size_t whole_cells(std::size_t pixels, std::size_t edge) {
  return (pixels - 1 + edge - 1) / edge * edge + 1;
}

}  // namespace

bool InterpolatedTimes::serves(const RayField& field, const Grid& grid) {
  const bool in_one_plane = grid.y.count == 1 && std::all_of(field.sources().begin(), field.sources().end(),
                                                             [&](const Point& source) { return source.y == grid.y.first; });
  return in_one_plane && grid.x.count >= least_pixels && grid.z.count >= least_pixels && !RayBundles(field.path()).broken();
}

bool InterpolatedTimes::pays(const RayField& field) {
  return field.name() != "curve" || !field.path().interfaces.front().surface->shadows();
}

InterpolatedTimes::InterpolatedTimes(const RayField& field, const Grid& grid, const PartPixels& pixels, Seconds tolerance)
    : field_(field),
      grid_(grid),
      pixels_(pixels),
      tolerance_(tolerance.value),
      bundles_(field.path()),
      lattice_x_(whole_cells(grid.x.count, widest)),
      lattice_z_(whole_cells(grid.z.count, widest)) {
  const std::size_t row = grid.x.count + 1;
  outside_before_.resize(row * (grid.z.count + 1));
  for (std::size_t z = 0; z < grid.z.count; ++z) {
    for (std::size_t x = 0; x < grid.x.count; ++x) {
      outside_before_[(z + 1) * row + x + 1] = outside_before_[z * row + x + 1] + outside_before_[(z + 1) * row + x] -
                                               outside_before_[z * row + x] + (pixels.imaged(z * grid.x.count + x) ? 0 : 1);
    }
  }
  for (std::size_t level = 0; level < steps.size(); ++level) {
    for (std::size_t place = 0; place <= order * steps[level]; ++place) {
      const double t = static_cast<double>(place) / static_cast<double>(steps[level]);
      for (std::size_t k = 0; k < nodes; ++k) {
        double weight = 1.0;
        for (std::size_t other = 0; other < nodes; ++other) {
          if (other == k) continue;
          weight *= (t - static_cast<double>(other)) / (static_cast<double>(k) - static_cast<double>(other));
        }
        weights_[level][k][place] = static_cast<float>(weight);
      }
    }
  }
  for (std::size_t z = 0; z + 1 < lattice_z_; z += widest) {
    for (std::size_t x = 0; x + 1 < lattice_x_; x += widest) take({x, z}, 0, first_cells_);
  }
  first_rays_.index.resize(lattice_x_ * lattice_z_);
  for (std::size_t level = 0; level < steps.size(); ++level) {
    for (const Cell& cell : first_cells_.by_level[level]) enlist(cell, level, first_rays_, first_nodes_);
  }
  first_pixels_ = pixels_of(first_cells_.exact);
  first_cells_.exact.clear();
}

std::size_t InterpolatedTimes::sources_at_once() const {
  return std::clamp<std::size_t>(field_.portion().sources, 1, 8);
}

/// Appends a cell to interpolate, or pieces of it where it crosses the part's surface or lies too near to the surface.
void InterpolatedTimes::take(const Cell& cell, std::size_t level, Cells& into) const {
  const std::size_t edge = order * steps[level];
  if (own_pixels(cell.x, edge, grid_.x.count) == 0 || own_pixels(cell.z, edge, grid_.z.count) == 0) return;
  if (cell.x >= grid_.x.count || cell.z >= grid_.z.count) return;
  const std::size_t row = grid_.x.count + 1;
  const std::size_t end_x = std::min(cell.x + edge + 1, grid_.x.count);
  const std::size_t end_z = std::min(cell.z + edge + 1, grid_.z.count);
  const std::size_t outside = outside_before_[end_z * row + end_x] + outside_before_[cell.z * row + cell.x] -
                              outside_before_[cell.z * row + end_x] - outside_before_[end_z * row + cell.x];
  if (outside == (end_x - cell.x) * (end_z - cell.z)) return;
  if (outside == 0 && nothing_hides(cell, level)) {
    into.by_level[level].push_back(cell);
  } else {
    divide(cell, level, into);
  }
}

void InterpolatedTimes::divide(const Cell& cell, std::size_t level, Cells& into) const {
  if (level + 1 == steps.size()) {
    into.exact.push_back(cell);
    return;
  }
  const std::size_t half = order * steps[level + 1];
  for (const std::size_t z : {cell.z, cell.z + half}) {
    for (const std::size_t x : {cell.x, cell.x + half}) take({x, z}, level + 1, into);
  }
}

bool InterpolatedTimes::nothing_hides(const Cell& cell, std::size_t level) const {
  if (bundles_.convex()) return true;
  const std::size_t edge = order * steps[level];
  const Vector2 corner = in_plane(place(cell.x, cell.z));
  const Vector2 middle = in_plane(place(cell.x + edge / 2, cell.z + edge / 2));
  const double clear = bundles_.distance(middle) - length(middle - corner);
  const double gap = static_cast<double>(steps[level]) * std::max(grid_.x.spacing().value, grid_.z.spacing().value);
  return clear > 0.0 && bundles_.hidden(gap, clear) <= tolerance_;
}

Point InterpolatedTimes::place(std::size_t x, std::size_t z) const {
  if (x < grid_.x.count && z < grid_.z.count) return pixels_.place(grid_, z * grid_.x.count + x);
  const auto along = [](const Axis& axis, std::size_t k) {
    return k < axis.count ? axis.at(k) : axis.first + static_cast<double>(k) * axis.spacing();
  };
  return {along(grid_.x, x), grid_.y.first, along(grid_.z, z)};
}

/// Adds those nodes of a cell that `rays` does not know to `missing` and reserves their places in `rays`.
void InterpolatedTimes::enlist(const Cell& cell, std::size_t level, Rays& rays, std::vector<std::size_t>& missing) const {
  for (std::size_t k = 0; k < nodes * nodes; ++k) {
    const std::size_t lattice = (cell.z + k / nodes * steps[level]) * lattice_x_ + cell.x + k % nodes * steps[level];
    if (rays.index[lattice] != 0) continue;
    missing.push_back(lattice);
    rays.index[lattice] = static_cast<std::uint32_t>(rays.traces.size() + missing.size());
  }
}

/// Appends the rays of the sources first .. last - 1 to into[source - first].
void InterpolatedTimes::trace(std::size_t first, std::size_t last, std::span<const std::size_t> lattice,
                              std::vector<RayTrace>* into) const {
  const std::size_t at_once = std::max<std::size_t>(1, field_.portion().points);
  std::vector<Point> points;
  std::vector<double> seconds;
  std::vector<RayTrace> traces;
  for (std::size_t from = 0; from < lattice.size(); from += at_once) {
    const auto part = lattice.subspan(from, std::min(at_once, lattice.size() - from));
    points.clear();
    for (const std::size_t k : part) points.push_back(place(k));
    traces.assign((last - first) * points.size(), {});
    if (bundles_.convex()) {
      seconds.resize(traces.size());
      field_.times(first, last, points, seconds);
      for (std::size_t k = 0; k < traces.size(); ++k) traces[k].seconds = seconds[k];
    } else {
      field_.trace(first, last, points, traces);
    }
    for (std::size_t source = 0; source < last - first; ++source) {
      const auto row = traces.begin() + static_cast<std::ptrdiff_t>(source * points.size());
      into[source].insert(into[source].end(), row, row + static_cast<std::ptrdiff_t>(points.size()));
    }
  }
}

/// The pixels that belong to cells of the last level and lie in the part.
std::vector<std::size_t> InterpolatedTimes::pixels_of(std::span<const Cell> cells) const {
  constexpr std::size_t edge = order * steps.back();
  std::vector<std::size_t> pixels;
  for (const Cell& cell : cells) {
    const std::size_t end_x = cell.x + own_pixels(cell.x, edge, grid_.x.count);
    const std::size_t end_z = cell.z + own_pixels(cell.z, edge, grid_.z.count);
    for (std::size_t z = cell.z; z < end_z; ++z) {
      for (std::size_t x = cell.x; x < end_x; ++x) {
        if (pixels_.imaged(z * grid_.x.count + x)) pixels.push_back(z * grid_.x.count + x);
      }
    }
  }
  return pixels;
}

void InterpolatedTimes::fill_exactly(std::size_t first, std::size_t last, std::span<const std::size_t> pixels,
                                     std::span<const double> middle, float* table) const {
  const std::size_t at_once = std::max<std::size_t>(1, field_.portion().points);
  std::vector<Point> points;
  std::vector<double> seconds;
  for (std::size_t from = 0; from < pixels.size(); from += at_once) {
    const auto part = pixels.subspan(from, std::min(at_once, pixels.size() - from));
    points.clear();
    for (const std::size_t pixel : part) points.push_back(pixels_.place(grid_, pixel));
    seconds.resize((last - first) * points.size());
    field_.times(first, last, points, seconds);
    for (std::size_t source = first; source < last; ++source) {
      const double* const times = seconds.data() + (source - first) * points.size();
      float* const row = table + source * grid_.pixels();
      for (std::size_t k = 0; k < part.size(); ++k) row[part[k]] = static_cast<float>(times[k] - middle[source]);  // NaN stays
    }
  }
}

std::size_t InterpolatedTimes::fill(std::size_t first, std::size_t last, std::span<const double> middle, float* table) const {
  std::vector<std::vector<RayTrace>> traces(last - first);
  trace(first, last, first_nodes_, traces.data());
  fill_exactly(first, last, first_pixels_, middle, table);
  std::size_t found = (last - first) * first_pixels_.size();
  for (std::size_t source = first; source < last; ++source) {
    Rays rays{first_rays_.index, std::move(traces[source - first])};
    found += fill_source(source, rays, middle, table);
  }
  return found;
}

/// Returns how many rays were found.
std::size_t InterpolatedTimes::fill_source(std::size_t source, Rays& rays, std::span<const double> middle, float* table) const {
  Cells cells = first_cells_;
  std::vector<std::size_t> missing;
  for (std::size_t level = 0; level < steps.size(); ++level) {
    missing.clear();
    for (const Cell& cell : cells.by_level[level]) enlist(cell, level, rays, missing);
    trace(source, source + 1, missing, &rays.traces);
    for (const Cell& cell : cells.by_level[level]) {
      Nodes traces;
      for (std::size_t k = 0; k < traces.size(); ++k) {
        const std::size_t lattice = (cell.z + k / nodes * steps[level]) * lattice_x_ + cell.x + k % nodes * steps[level];
        traces[k] = rays.traces[rays.index[lattice] - 1];
      }
      if (is_smooth(source, cell, level, traces)) {
        interpolate(cell, level, traces, middle[source], table + source * grid_.pixels());
      } else {
        divide(cell, level, cells);
      }
    }
  }
  std::vector<std::size_t> pixels = pixels_of(cells.exact);
  float* const row = table + source * grid_.pixels();
  std::erase_if(pixels, [&](std::size_t pixel) {
    const std::uint32_t known = rays.index[pixel / grid_.x.count * lattice_x_ + pixel % grid_.x.count];
    if (known != 0) row[pixel] = static_cast<float>(rays.traces[known - 1].seconds - middle[source]);
    return known != 0;
  });
  fill_exactly(source, source + 1, pixels, middle, table);
  return rays.traces.size() + pixels.size();
}

bool InterpolatedTimes::is_smooth(std::size_t source, const Cell& cell, std::size_t level, const Nodes& traces) const {
  std::array<double, nodes * nodes> t{};
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = traces[k].seconds;
  // The comparisons are written so that NaN fails.
  for (std::size_t k = 0; k < nodes; ++k) {
    const auto fourth = [&](std::size_t from, std::size_t by) {
      return std::abs(t[from] - 4.0 * t[from + by] + 6.0 * t[from + 2 * by] - 4.0 * t[from + 3 * by] + t[from + 4 * by]);
    };
    if (!(fourth(k * nodes, 1) <= 0.5 * tolerance_) || !(fourth(k, nodes) <= 0.5 * tolerance_)) return false;
  }
  // Derivatives of the polynomial at its nodes, times 12: a row for each node.
  constexpr std::array<std::array<double, nodes>, nodes> slope{
      {{-25, 48, -36, 16, -3}, {-3, -10, 18, -6, 1}, {1, -8, 0, 8, -1}, {-1, 6, -18, 10, 3}, {3, -16, 36, -48, 25}}};
  const double step_x = static_cast<double>(steps[level]) * grid_.x.spacing().value;
  const double step_z = static_cast<double>(steps[level]) * grid_.z.spacing().value;
  const double slowness = 1.0 / field_.path().velocities.back().value;
  for (std::size_t k = 0; k < t.size(); ++k) {
    double along_x = 0.0;
    double along_z = 0.0;
    for (std::size_t n = 0; n < nodes; ++n) {
      along_x += slope[k % nodes][n] * t[k / nodes * nodes + n];
      along_z += slope[k / nodes][n] * t[n * nodes + k % nodes];
    }
    const double off = std::hypot(along_x / (12.0 * step_x), along_z / (12.0 * step_z)) - slowness;
    if (!(std::abs(off) * std::max(step_x, step_z) <= tolerance_)) return false;
  }
  if (bundles_.convex()) return true;
  std::array<Vector2, nodes * nodes> points;
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k] = in_plane(place(cell.x + k % nodes * steps[level], cell.z + k / nodes * steps[level]));
  }
  return bundles_.one(in_plane(field_.sources()[source]), points, traces, 0.5 * std::hypot(step_x, step_z));
}

void InterpolatedTimes::interpolate(const Cell& cell, std::size_t level, const Nodes& traces, double middle, float* row) const {
  const std::size_t edge = order * steps[level];
  const std::size_t count_x = own_pixels(cell.x, edge, grid_.x.count);
  const std::size_t count_z = own_pixels(cell.z, edge, grid_.z.count);
  const Weights& weights = weights_[level];
  // Relative to the time at the cell's middle, single precision is accurate to 1e-13 s.
  const double base = traces[nodes * nodes / 2].seconds;
  std::array<std::array<float, widest + 1>, nodes> lines;
  for (std::size_t k = 0; k < nodes; ++k) {
    std::array<float, nodes> t;
    for (std::size_t n = 0; n < nodes; ++n) t[n] = static_cast<float>(traces[k * nodes + n].seconds - base);
    for (std::size_t x = 0; x < count_x; ++x) {
      lines[k][x] =
          t[0] * weights[0][x] + t[1] * weights[1][x] + t[2] * weights[2][x] + t[3] * weights[3][x] + t[4] * weights[4][x];
    }
  }
  const auto offset = static_cast<float>(base - middle);
  for (std::size_t z = 0; z < count_z; ++z) {
    float* const to = row + (cell.z + z) * grid_.x.count + cell.x;
    const float w0 = weights[0][z], w1 = weights[1][z], w2 = weights[2][z], w3 = weights[3][z], w4 = weights[4][z];
    for (std::size_t x = 0; x < count_x; ++x) {
      to[x] = offset + (w0 * lines[0][x] + w1 * lines[1][x] + w2 * lines[2][x] + w3 * lines[3][x] + w4 * lines[4][x]);
    }
  }
}

}  // namespace echoform
