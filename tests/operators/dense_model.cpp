#include "tests/operators/dense_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "operators/spherical_spectrum.hpp"

namespace echoform::test {
namespace {

constexpr double pi = std::numbers::pi;
using Vector = std::array<double, 3>;

Vector vector_of(const Point& p) {
  return {p.x.value, p.y.value, p.z.value};
}
Vector vector_of(const Direction& d) {
  return {d.x, d.y, d.z};
}
double product(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector difference(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double sinc(double x) {
  return std::abs(x) < 1e-9 ? 1.0 : std::sin(pi * x) / (pi * x);
}

/// Adds `weight` times the tents of all voxels about a place.
void add_tents(const Grid& grid, double spacing, const Vector& place, double weight, double* row) {
  const std::array<const Axis*, 3> axes{&grid.x, &grid.y, &grid.z};
  std::array<long, 3> first{};
  for (std::size_t a = 0; a < 3; ++a) first[a] = static_cast<long>(std::floor((place[a] - axes[a]->first.value) / spacing));
  for (long z = first[2]; z <= first[2] + 1; ++z) {
    for (long y = first[1]; y <= first[1] + 1; ++y) {
      for (long x = first[0]; x <= first[0] + 1; ++x) {
        const std::array<long, 3> voxel{x, y, z};
        double tent = weight;
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a) {
          inside = inside && voxel[a] >= 0 && voxel[a] < static_cast<long>(axes[a]->count);
          const double from = place[a] - axes[a]->first.value - static_cast<double>(voxel[a]) * spacing;
          tent *= 1.0 - std::abs(from) / spacing;
        }
        if (inside)
          row[(static_cast<std::size_t>(z) * grid.y.count + static_cast<std::size_t>(y)) * grid.x.count +
              static_cast<std::size_t>(x)] += tent;
      }
    }
  }
}

/// t / (4 pi) INTEGRAL over directions, as a row.
std::vector<double> sphere_row(const ModelGeometry& geometry, const Detector& detector, double time) {
  const Grid& grid = geometry.grid;
  const double spacing = voxel_spacing(grid).value;
  std::vector<double> row(grid.pixels());
  const double radius = geometry.velocity.value * time;
  if (radius <= 0.0) return row;
  Vector middle{};
  double reach = 0.0;
  const std::array<const Axis*, 3> axes{&grid.x, &grid.y, &grid.z};
  for (std::size_t a = 0; a < 3; ++a) {
    middle[a] = 0.5 * (axes[a]->first.value + axes[a]->last.value);
    const double half = 0.5 * static_cast<double>(axes[a]->count + 1) * spacing;
    reach += half * half;
  }
  reach = std::sqrt(reach);
  const Vector at = vector_of(detector.centre);
  const Vector out = difference(at, middle);
  const double away = std::sqrt(product(out, out));
  const double polar = std::acos(out[2] / away);
  const double azimuth = std::atan2(out[1], out[0]);
  const Vector n{std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth), std::cos(polar)};
  const Vector e1{std::cos(polar) * std::cos(azimuth), std::cos(polar) * std::sin(azimuth), -std::sin(polar)};
  const Vector e2{-std::sin(azimuth), std::cos(azimuth), 0.0};
  const double cosine = (away * away + radius * radius - reach * reach) / (2.0 * away * radius);
  if (cosine >= 1.0) return row;
  const double cap = std::acos(std::max(-1.0, cosine));
  const double rings = std::max(1.0, std::ceil(radius * cap / spacing));
  for (double ring = 0.0; ring < rings; ring += 1.0) {
    const double from = ring * cap / rings;
    const double to = (ring + 1.0) * cap / rings;
    const double polar_in = 0.5 * (from + to);
    const double samples = std::max(1.0, std::round(2.0 * pi * radius * std::sin(polar_in) / spacing));
    const double weight = time * (std::cos(from) - std::cos(to)) / (2.0 * samples);
    for (double k = 0.0; k < samples; k += 1.0) {
      const double turn = 2.0 * pi * (k + 0.5) / samples;
      Vector place{};
      for (std::size_t a = 0; a < 3; ++a) {
        place[a] = at[a] +
                   radius * (-std::cos(polar_in) * n[a] + std::sin(polar_in) * (std::cos(turn) * e1[a] + std::sin(turn) * e2[a]));
      }
      add_tents(grid, spacing, place, weight, row.data());
    }
  }
  return row;
}

double norm(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

std::vector<double> DenseModel::apply(std::span<const float> image) const {
  std::vector<double> data(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      data[row] += entries[row * columns + column] * static_cast<double>(image[column]);
  }
  return data;
}

std::vector<double> DenseModel::adjoint(std::span<const float> data) const {
  std::vector<double> image(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      image[column] += entries[row * columns + column] * static_cast<double>(data[row]);
  }
  return image;
}

DenseModel dense_interpolated_model(const ModelGeometry& geometry) {
  DenseModel model(geometry.detectors.size() * geometry.samples, geometry.grid.pixels());
  const double rate = geometry.sample_rate.value;
  for (std::size_t q = 0; q < geometry.detectors.size(); ++q) {
    if (geometry.detectors[q].dead) continue;
    for (std::size_t k = 0; k < geometry.samples; ++k) {
      const double time = geometry.start_time.value + static_cast<double>(k) / rate;
      const std::vector<double> before = sphere_row(geometry, geometry.detectors[q], time - 0.5 / rate);
      const std::vector<double> after = sphere_row(geometry, geometry.detectors[q], time + 0.5 / rate);
      for (std::size_t n = 0; n < model.columns; ++n) model.at(q * geometry.samples + k, n) = rate * (after[n] - before[n]);
    }
  }
  return model;
}

DenseModel dense_spherical_model(const ModelGeometry& geometry, const SphericalModelOptions& options) {
  DenseModel model(geometry.detectors.size() * geometry.samples, geometry.grid.pixels());
  const double rate = geometry.sample_rate.value;
  const double velocity = geometry.velocity.value;
  const double spacing = voxel_spacing(geometry.grid).value;
  const SphericalTimeGrid grid = spherical_time_grid(geometry, options, "reference");
  const double step = rate / static_cast<double>(grid.period);
  const double highest = options.highest_frequency.value > 0.0 ? options.highest_frequency.value : 0.25 * rate;
  for (double f = step; f <= highest * (1.0 + 1e-12) && f < 0.5 * rate - 0.5 * step; f += step) {
    const double w = 2.0 * pi * f;
    const double t = 0.5 * spacing / velocity;
    std::complex<double> voxel =
        6.0 / pi * std::complex<double>(0.0, -velocity / w) * (t * std::cos(w * t) - std::sin(w * t) / w);
    std::complex<double> response = options.impulse_response.empty() ? 1.0 : 0.0;
    for (std::size_t k = 0; k < options.impulse_response.size(); ++k) {
      response += static_cast<double>(options.impulse_response[k]) * std::polar(1.0, -w * static_cast<double>(k) / rate);
    }
    voxel *= response;
    for (std::size_t q = 0; q < geometry.detectors.size(); ++q) {
      const Detector& detector = geometry.detectors[q];
      if (detector.dead) continue;
      const Vector across = vector_of(detector.across);
      const Vector normal = vector_of(detector.normal);
      const Vector along{normal[1] * across[2] - normal[2] * across[1], normal[2] * across[0] - normal[0] * across[2],
                         normal[0] * across[1] - normal[1] * across[0]};
      for (std::size_t n = 0; n < model.columns; ++n) {
        const Vector way = difference(vector_of(geometry.grid.at(n)), vector_of(detector.centre));
        const double d = std::sqrt(product(way, way));
        double directivity = 1.0;
        if (options.rectangular_elements) {
          directivity = sinc(f * detector.width.value * product(way, across) / d / velocity) *
                        sinc(f * detector.length.value * product(way, along) / d / velocity);
        }
        const std::complex<double> at_start =
            step * directivity / d * voxel * std::polar(1.0, w * (geometry.start_time.value - d / velocity));
        // Frequencies f and -f together, sample by sample.
        const std::complex<double> turn = std::polar(1.0, w / rate);
        std::complex<double> wave = at_start;
        for (std::size_t k = 0; k < geometry.samples; ++k) {
          model.at(q * geometry.samples + k, n) += 2.0 * wave.real();
          wave *= turn;
        }
      }
    }
  }
  return model;
}

double distance(std::span<const float> values, std::span<const double> reference) {
  std::vector<double> off(reference.size());
  for (std::size_t k = 0; k < off.size(); ++k) off[k] = static_cast<double>(values[k]) - reference[k];
  return norm(off) / norm(reference);
}

double distance(LinearOperator& linear, const DenseModel& reference) {
  const std::vector<float> image = drawn(linear.image_size(), 5);
  const std::vector<float> data = drawn(linear.data_size(), 6);
  // What was there is overwritten.
  std::vector<float> of_image(data.size(), 1e9F);
  std::vector<float> of_data(image.size(), 1e9F);
  linear.apply(image, of_image);
  linear.adjoint(data, of_data);
  return std::max(distance(of_image, reference.apply(image)), distance(of_data, reference.adjoint(data)));
}

double dot_test(const DenseModel& model, unsigned seed) {
  const std::vector<float> image = drawn(model.columns, seed);
  const std::vector<float> data = drawn(model.rows, seed + 1);
  const std::vector<double> of_image = model.apply(image);
  const std::vector<double> of_data = model.adjoint(data);
  double left = 0.0;
  double right = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < data.size(); ++k) left += of_image[k] * static_cast<double>(data[k]);
  for (std::size_t n = 0; n < image.size(); ++n) right += of_data[n] * static_cast<double>(image[n]);
  for (const float value : data) size += static_cast<double>(value) * static_cast<double>(value);
  return std::abs(left - right) / (norm(of_image) * std::sqrt(size));
}

}  // namespace echoform::test
