#include "methods/tfm/point_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace echoform {
namespace {

using Complex = std::complex<double>;

/// Frequencies of the spectrum, from 1.5 bandwidths below the centre, where a Gaussian has 0.2 % left, to as many above. Lying
/// 3 / 16 of the bandwidth apart, they repeat the pulse after 16 / 3 of its inverse: twelve times the pulse's -6 dB width.
constexpr int frequencies = 17;

struct Moments {
  Vector2 mean;
  double xx = 0.0;  // covariance
  double xz = 0.0;
  double zz = 0.0;
};

Moments moments_of(std::span<const Vector2> all) {
  Moments found;
  const double share = 1.0 / static_cast<double>(all.size());
  for (const Vector2 s : all) found.mean = found.mean + share * s;
  for (const Vector2 s : all) {
    const Vector2 off = s - found.mean;
    found.xx += share * off.x * off.x;
    found.xz += share * off.x * off.z;
    found.zz += share * off.z * off.z;
  }
  return found;
}

class PointSpread {
 public:
  PointSpread(std::span<const Vector2> transmit, std::span<const Vector2> receive, double centre, double bandwidth)
      : transmit_(transmit), receive_(receive), wavelength_(1.0 / (centre * std::max(length(transmit[0]), length(receive[0])))) {
    if (!(bandwidth > 0.0)) {
      spectrum_.push_back({centre, 1.0});
      return;
    }
    for (int k = 0; k < frequencies; ++k) {
      const double off = 3.0 * k / (frequencies - 1) - 1.5;  // in bandwidths
      if (centre + off * bandwidth <= 0.0) continue;
      spectrum_.push_back({centre + off * bandwidth, std::exp(-4.0 * std::numbers::ln2 * off * off)});
    }
  }

  [[nodiscard]] Complex complex_at(Vector2 d) const {
    Complex sum = 0.0;
    const bool alike = transmit_.data() == receive_.data() && transmit_.size() == receive_.size();
    for (const Line& line : spectrum_) {
      const Complex out = aperture(transmit_, line, d);
      sum += line.weight * out * (alike ? out : aperture(receive_, line, d));
    }
    return sum;
  }
  [[nodiscard]] double at(Vector2 d) const { return std::abs(complex_at(d)); }
  [[nodiscard]] double wavelength() const { return wavelength_; }

  /// Of pixels of `x` by `z`, in m. P(-d) is the conjugate of P(d): two corners of a pixel tell of all four.
  [[nodiscard]] PixelLoss loss(double x, double z) const {
    const double peak = at({});
    PixelLoss worst;
    for (const double side : {0.5, -0.5}) {
      const Complex there = complex_at({0.5 * x, side * z});
      worst.envelope = std::max(worst.envelope, decibels_of(peak, std::abs(there)));
      worst.oscillating = std::max(worst.oscillating, decibels_of(peak, there.real()));
    }
    return worst;
  }

  /// Along a unit vector, to where P has first come down to one half. P(-d) = P(d): their sums are conjugates.
  [[nodiscard]] SpotWidth width_along(Vector2 direction) const {
    double degrees = std::atan2(direction.z, direction.x) * 180.0 / std::numbers::pi;
    if (degrees < 0.0) degrees += 180.0;
    // Rounding must not make a direction along x one of 180 degrees.
    SpotWidth found{degrees > 179.9 ? 0.0 : degrees, std::nullopt};
    const double half = 0.5 * at({});
    double inside = 0.0;
    double outside = 0.02 * wavelength_;
    if (!std::isfinite(outside)) return found;  // one element, on the pixel itself: no time changes to first order
    while (at(outside * direction) > half) {
      inside = outside;
      outside *= 1.1;
      if (outside > 50.0 * wavelength_) return found;
    }
    while (outside - inside > 1e-4 * outside) {
      const double middle = 0.5 * (inside + outside);
      (at(middle * direction) > half ? inside : outside) = middle;
    }
    found.width = Metres(inside + outside);
    return found;
  }

 private:
  struct Line {
    double frequency;
    double weight;
  };

  static double decibels_of(double peak, double left) {
    return left > 0.0 ? 20.0 * std::log10(peak / left) : std::numeric_limits<double>::infinity();
  }

  static Complex aperture(std::span<const Vector2> slownesses, const Line& line, Vector2 d) {
    Complex sum = 0.0;
    for (const Vector2 s : slownesses) sum += std::polar(1.0, 2.0 * std::numbers::pi * line.frequency * dot(s, d));
    return sum;
  }

  std::span<const Vector2> transmit_;
  std::span<const Vector2> receive_;
  std::vector<Line> spectrum_;
  double wavelength_;
};

}  // namespace

std::vector<Vector2> slownesses_at(const Leg& leg, const std::vector<bool>& elements, const Point& pixel, Metres step,
                                   SpreadPlane plane) {
  std::array<Point, 4> around{pixel, pixel, pixel, pixel};
  Metres Point::*const sideways = plane == SpreadPlane::along ? &Point::x : &Point::y;
  around[0].*sideways += step;
  around[1].*sideways += -step;
  around[2].z += step;
  around[3].z += -step;
  std::vector<Vector2> found;
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (!elements[source]) continue;
    std::array<double, 4> times{};
    leg.travel_times(source, around, times);
    const Vector2 slowness = (0.5 / step.value) * Vector2{times[0] - times[1], times[2] - times[3]};
    if (std::isfinite(slowness.x) && std::isfinite(slowness.z)) found.push_back(slowness);
  }
  return found;
}

PixelLoss pixel_loss(std::span<const Vector2> transmit, std::span<const Vector2> receive, Hertz centre_frequency, Hertz bandwidth,
                     Metres x, Metres z) {
  return PointSpread(transmit, receive, centre_frequency.value, bandwidth.value).loss(x.value, z.value);
}

CoarsestPixel coarsest_pixel(std::span<const Vector2> transmit, std::span<const Vector2> receive, Hertz centre_frequency,
                             Hertz bandwidth, double decibels) {
  const PointSpread spread(transmit, receive, centre_frequency.value, bandwidth.value);
  const auto edge_of = [&](double PixelLoss::*image) {
    double inside = 0.0;
    double outside = 0.02 * spread.wavelength();
    if (!std::isfinite(outside)) return Metres(outside);
    while (spread.loss(outside, outside).*image <= decibels) {
      inside = outside;
      outside *= 1.1;
      if (outside > 50.0 * spread.wavelength()) return Metres(std::numeric_limits<double>::infinity());
    }
    while (outside - inside > 1e-4 * outside) {
      const double middle = 0.5 * (inside + outside);
      (spread.loss(middle, middle).*image <= decibels ? inside : outside) = middle;
    }
    return Metres(inside);
  };
  return {edge_of(&PixelLoss::envelope), edge_of(&PixelLoss::oscillating)};
}

Spot spot_of(std::span<const Vector2> transmit, std::span<const Vector2> receive, Hertz centre_frequency, Hertz bandwidth) {
  const Moments tx = moments_of(transmit);
  const Moments rx = moments_of(receive);
  const Vector2 mean = tx.mean + rx.mean;
  // With independent frequency and elements: E[f^2] Cov(s) + Var(f) mean mean^T. The variance of a Gaussian of amplitude whose
  // width at one half is B is B^2 / (8 ln 2).
  const double f = centre_frequency.value;
  const double variance = bandwidth.value * bandwidth.value / (8.0 * std::numbers::ln2);
  const double xx = (f * f + variance) * (tx.xx + rx.xx) + variance * mean.x * mean.x;
  const double xz = (f * f + variance) * (tx.xz + rx.xz) + variance * mean.x * mean.z;
  const double zz = (f * f + variance) * (tx.zz + rx.zz) + variance * mean.z * mean.z;
  const double angle = 0.5 * std::atan2(2.0 * xz, xx - zz);
  const Vector2 one{std::cos(angle), std::sin(angle)};
  const Vector2 other{-one.z, one.x};
  const bool blind = length(mean) < 0.1 * (length(tx.mean) + length(rx.mean));
  const Vector2 late = blind ? Vector2{0.0, 1.0} : mean;
  const bool along = std::abs(dot(one, late)) > std::abs(dot(other, late));
  const PointSpread spread(transmit, receive, f, bandwidth.value);
  return {spread.width_along(along ? other : one), spread.width_along(along ? one : other), blind};
}

}  // namespace echoform
