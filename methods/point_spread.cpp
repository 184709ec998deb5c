#include "methods/point_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "base/directions.hpp"
#include "rays/curve.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

Vector2 within(const Direction& slowness, SpreadPlane plane) {
  return {plane == SpreadPlane::along ? slowness.x : slowness.y, slowness.z};
}

Direction out_of(Vector2 d, SpreadPlane plane) {
  return plane == SpreadPlane::along ? Direction{d.x, 0.0, d.z} : Direction{0.0, d.x, d.z};
}

struct Moments {
  Vector2 mean;
  double xx = 0.0;  // covariance
  double xz = 0.0;
  double zz = 0.0;
};

Moments moments_of(std::span<const SpotRay> rays, SpreadPlane plane) {
  Moments found;
  double all = 0.0;
  for (const SpotRay& ray : rays) all += ray.weight;
  for (const SpotRay& ray : rays) found.mean = found.mean + ray.weight / all * within(ray.slowness, plane);
  for (const SpotRay& ray : rays) {
    const Vector2 off = within(ray.slowness, plane) - found.mean;
    found.xx += ray.weight / all * off.x * off.x;
    found.xz += ray.weight / all * off.x * off.z;
    found.zz += ray.weight / all * off.z * off.z;
  }
  return found;
}

class PointSpread {
 public:
  explicit PointSpread(const Meeting& at) : at_(at) {
    const double slowest = std::max(length(at.transmit[0].slowness), length(at.receive[0].slowness));
    const auto [first, last] = std::ranges::minmax_element(at.spectrum, {}, &SpectralLine::frequency);
    wavelength_ = 2.0 / ((first->frequency + last->frequency) * slowest);
  }

  [[nodiscard]] Complex complex_at(const Direction& d) const {
    Complex sum = 0.0;
    const bool alike = at_.transmit.data() == at_.receive.data() && at_.transmit.size() == at_.receive.size();
    for (const SpectralLine& line : at_.spectrum) {
      const Complex out = aperture(at_.transmit, line, d);
      sum += line.amplitude * out * (alike ? out : aperture(at_.receive, line, d));
    }
    return sum;
  }
  [[nodiscard]] double at(const Direction& d) const { return std::abs(complex_at(d)); }
  [[nodiscard]] double wavelength() const { return wavelength_; }

  /// P(-d) is the conjugate of P(d), so half of a pixel's corners are sufficient.
  [[nodiscard]] PixelLoss loss(const PixelEdges& pixel) const {
    const double peak = at({0.0, 0.0, 0.0});
    PixelLoss worst;
    for (const double z_side : {0.5, -0.5}) {
      for (const double y_side : {0.5, -0.5}) {
        if (y_side < 0.0 && !(pixel.y.value > 0.0)) continue;
        const Complex there = complex_at({0.5 * pixel.x.value, y_side * pixel.y.value, z_side * pixel.z.value});
        worst.envelope = std::max(worst.envelope, decibels_of(peak, std::abs(there)));
        worst.oscillating = std::max(worst.oscillating, decibels_of(peak, there.real()));
      }
    }
    return worst;
  }

  /// Width along a unit vector of the plane, to where P first falls to one half. P(-d) = P(d), because the sums are conjugates.
  [[nodiscard]] SpotWidth width_along(Vector2 direction, SpreadPlane plane) const {
    double degrees = std::atan2(direction.z, direction.x) * 180.0 / std::numbers::pi;
    if (degrees < 0.0) degrees += 180.0;
    // Rounding must not turn a direction along x into 180 degrees.
    SpotWidth found{degrees > 179.9 ? 0.0 : degrees, std::nullopt};
    const double half = 0.5 * at({0.0, 0.0, 0.0});
    const auto left = [&](double way) { return at(out_of(way * direction, plane)); };
    double inside = 0.0;
    double outside = 0.02 * wavelength_;
    if (!std::isfinite(outside)) return found;  // one element at the place itself: no time changes to first order
    while (left(outside) > half) {
      inside = outside;
      outside *= 1.1;
      if (outside > 50.0 * wavelength_) return found;
    }
    while (outside - inside > 1e-4 * outside) {
      const double middle = 0.5 * (inside + outside);
      (left(middle) > half ? inside : outside) = middle;
    }
    found.width = Metres(inside + outside);
    return found;
  }

 private:
  static double decibels_of(double peak, double left) {
    return left > 0.0 ? 20.0 * std::log10(peak / left) : std::numeric_limits<double>::infinity();
  }

  static Complex aperture(std::span<const SpotRay> rays, const SpectralLine& line, const Direction& d) {
    Complex sum = 0.0;
    for (const SpotRay& ray : rays) {
      sum += std::polar(ray.weight, 2.0 * std::numbers::pi * line.frequency * dot(ray.slowness, d));
    }
    return sum;
  }

  Meeting at_;
  double wavelength_ = 0.0;
};

}  // namespace

std::vector<SpotRay> rays_to(const Leg& leg, const std::vector<bool>& sources, const Point& place, Metres step, RaySpace space) {
  std::vector<Point> around;
  for (Metres Point::*const axis : {&Point::x, &Point::z, &Point::y}) {
    if (axis == &Point::y && space == RaySpace::plane) continue;
    for (const Metres off : {step, -step}) {
      around.push_back(place);
      around.back().*axis += off;
    }
  }
  std::vector<SpotRay> found;
  std::array<double, 6> times{};
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (!sources[source]) continue;
    leg.travel_times(source, around, std::span(times).first(around.size()));
    const double per_metre = 0.5 / step.value;
    const Direction slowness{per_metre * (times[0] - times[1]),
                             space == RaySpace::plane ? 0.0 : per_metre * (times[4] - times[5]),
                             per_metre * (times[2] - times[3])};
    if (std::isfinite(slowness.x) && std::isfinite(slowness.y) && std::isfinite(slowness.z)) {
      found.push_back({slowness, 1.0, source});
    }
  }
  return found;
}

PixelLoss pixel_loss(const Meeting& at, const PixelEdges& pixel) {
  return PointSpread(at).loss(pixel);
}

CoarsestPixel coarsest_pixel(const Meeting& at, double decibels, RaySpace space) {
  const PointSpread spread(at);
  const auto loss = [&](double edge) {
    return spread.loss({Metres(edge), Metres(space == RaySpace::volume ? edge : 0.0), Metres(edge)});
  };
  const auto edge_of = [&](double PixelLoss::*image) {
    double inside = 0.0;
    double outside = 0.02 * spread.wavelength();
    if (!std::isfinite(outside)) return Metres(outside);
    while (loss(outside).*image <= decibels) {
      inside = outside;
      outside *= 1.1;
      if (outside > 50.0 * spread.wavelength()) return Metres(std::numeric_limits<double>::infinity());
    }
    while (outside - inside > 1e-4 * outside) {
      const double middle = 0.5 * (inside + outside);
      (loss(middle).*image <= decibels ? inside : outside) = middle;
    }
    return Metres(inside);
  };
  return {edge_of(&PixelLoss::envelope), edge_of(&PixelLoss::oscillating)};
}

Spot spot_of(const Meeting& at, SpreadPlane plane) {
  const Moments tx = moments_of(at.transmit, plane);
  const Moments rx = moments_of(at.receive, plane);
  const Vector2 mean = tx.mean + rx.mean;
  // The covariance for independent frequency and rays: E[f^2] Cov(s) + Var(f) mean mean^T.
  const SpectralMoments f = echoform::moments_of(at.spectrum);
  const double square = f.mean * f.mean + f.variance;
  const double xx = square * (tx.xx + rx.xx) + f.variance * mean.x * mean.x;
  const double xz = square * (tx.xz + rx.xz) + f.variance * mean.x * mean.z;
  const double zz = square * (tx.zz + rx.zz) + f.variance * mean.z * mean.z;
  const double angle = 0.5 * std::atan2(2.0 * xz, xx - zz);
  const Vector2 one{std::cos(angle), std::sin(angle)};
  const Vector2 other{-one.z, one.x};
  const bool blind = length(mean) < 0.1 * (length(tx.mean) + length(rx.mean));
  const Vector2 late = blind ? Vector2{0.0, 1.0} : mean;
  const bool along = std::abs(dot(one, late)) > std::abs(dot(other, late));
  const PointSpread spread(at);
  return {spread.width_along(along ? other : one, plane), spread.width_along(along ? one : other, plane), blind};
}

}  // namespace echoform
