#include "methods/beams/beam_level.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "acquisition/firings.hpp"
#include "base/planning.hpp"
#include "methods/filter_settings.hpp"

namespace echoform {
namespace {

// Maximum number of points along a line. Beams change over the length of their focus, which is many of these points.
constexpr std::size_t most_points = 129;

/// A Gaussian pulse g(t) = exp(-(s t)^2 / 2) exp(2 pi i f t), whose spectrum is half as high at +-bandwidth / 2.
struct Pulse {
  double turn = 0.0;    // 2 pi f
  double spread = 0.0;  // s

  [[nodiscard]] std::complex<double> at(double t) const {
    return std::exp(-0.5 * spread * spread * t * t) * std::polar(1.0, turn * t);
  }
};

Pulse pulse_of(const Probe& probe) {
  const double f = probe.centre_frequency.value;
  const double bandwidth = probe.bandwidth.value > 0.0 ? probe.bandwidth.value : usual_bandwidth * f;
  return {2.0 * std::numbers::pi * f, std::numbers::pi * bandwidth / std::sqrt(2.0 * std::numbers::ln2)};
}

/// The beams A_e(p), with the phase in which lines add up.
class Beams {
 public:
  Beams(const Acquisition& acquisition, MetresPerSecond velocity)
      : acquisition_(acquisition), velocity_(velocity), pulse_(pulse_of(acquisition.probe)) {}

  /// The beam at every range of every line of `set`; `times` are the lines' times. It is 0 where a time is missing.
  [[nodiscard]] std::vector<std::complex<double>> along(const LineSet& set, const std::vector<double>& times) {
    std::vector<std::complex<double>> sums(times.size());
    for (std::size_t line = 0; line < set.lines.size(); ++line) {
      keep_planning();
      const std::vector<Firing>& firings = firings_for(set.lines[line].event);
      for (std::size_t k = 0; k < set.ranges.count; ++k) {
        const std::size_t at = line * set.ranges.count + k;
        if (!std::isnan(times[at])) sums[at] = sum(firings, place(set.lines[line], set.ranges.at(k)), times[at]);
      }
    }
    return sums;
  }

 private:
  static Point place(const ImageLine& line, Metres r) {
    return {line.origin.x + r * line.direction.x, line.origin.y + r * line.direction.y, line.origin.z + r * line.direction.z};
  }
  const std::vector<Firing>& firings_for(std::uint32_t event) {
    const auto [known, fresh] = firings_.try_emplace(event);
    if (fresh) known->second = firings_of(acquisition_, event);
    return known->second;
  }
  [[nodiscard]] std::complex<double> sum(const std::vector<Firing>& firings, const Point& p, double time) const {
    std::complex<double> all;
    for (const Firing& firing : firings) {
      const Point& e = acquisition_.probe.elements[firing.element].centre;
      const double way = std::hypot((p.x - e.x).value, (p.y - e.y).value, (p.z - e.z).value);
      all += firing.weight * pulse_.at(time - firing.delay - way / velocity_.value);
    }
    return all;
  }

  const Acquisition& acquisition_;
  MetresPerSecond velocity_;
  Pulse pulse_;
  std::map<std::uint32_t, std::vector<Firing>> firings_;
};

/// The line at the event's own place, in the middle of the event's lines. `first` is the first of these.
ImageLine own_line(const FannedLines& fanned, std::size_t first, const LinesOfEvent& of_event) {
  const std::size_t row = fanned.fan.azimuths();
  const ImageLine& a = fanned.lines[first + (of_event.elevations - 1) / 2 * row + (of_event.azimuths - 1) / 2];
  const ImageLine& b = fanned.lines[first + of_event.elevations / 2 * row + of_event.azimuths / 2];
  ImageLine own = a;
  own.origin = {0.5 * (a.origin.x + b.origin.x), 0.5 * (a.origin.y + b.origin.y), 0.5 * (a.origin.z + b.origin.z)};
  const double x = a.direction.x + b.direction.x;
  const double y = a.direction.y + b.direction.y;
  const double z = a.direction.z + b.direction.z;
  const double length = std::hypot(x, y, z);
  own.direction = {x / length, y / length, z / length};
  return own;
}

}  // namespace

double BeamGains::at(std::size_t line, std::size_t range, std::size_t ranges) const {
  if (ranges < 2 || points < 2) return values[line * points];
  const double place = static_cast<double>(range) * static_cast<double>(points - 1) / static_cast<double>(ranges - 1);
  const std::size_t before = std::min(static_cast<std::size_t>(place), points - 2);
  const double* const gain = values.data() + line * points + before;
  return gain[0] + (place - static_cast<double>(before)) * (gain[1] - gain[0]);
}

BeamGains beam_gains(const BlendedLines& lines, const FannedLines& fanned, const LinesOfEvent& of_event,
                     const Acquisition& acquisition, MetresPerSecond velocity, const LineRanges& ranges,
                     const TransmitTimes& transmit_times) {
  BeamGains gains{std::min(ranges.count, most_points), {}};
  gains.values.assign(lines.shares.size() * gains.points, 1.0);
  if (!(acquisition.probe.centre_frequency.value > 0.0) || gains.points < 2) return gains;
  LineSet set;
  set.ranges = {ranges.first, static_cast<double>(ranges.count - 1) / static_cast<double>(gains.points - 1) * ranges.spacing,
                gains.points};
  Beams beams(acquisition, velocity);
  set.lines = lines.components;
  const std::vector<std::complex<double>> beside = beams.along(set, transmit_times(set));
  set.lines.clear();
  std::map<std::uint32_t, std::size_t> own_of;  // [event]
  const std::size_t columns = fanned.fan.azimuths();
  for (std::size_t row = 0; row < fanned.fan.elevations; row += of_event.elevations) {
    for (std::size_t column = 0; column < columns; column += of_event.azimuths) {
      const std::size_t first = row * columns + column;
      own_of.emplace(fanned.lines[first].event, set.lines.size());
      set.lines.push_back(own_line(fanned, first, of_event));
    }
  }
  const std::vector<std::complex<double>> own = beams.along(set, transmit_times(set));
  for (std::size_t line = 0; line < lines.shares.size(); ++line) {
    for (std::size_t k = 0; k < gains.points; ++k) {
      double wanted = 0.0;
      std::complex<double> there;
      for (const LineShare& share : lines.shares[line]) {
        const std::complex<double> beam = beside[share.component * gains.points + k];
        if (beam == 0.0) continue;  // the share of the other event is 1 there
        wanted += share.share * std::abs(own[own_of.at(lines.components[share.component].event) * gains.points + k]);
        there += share.share * beam;
      }
      if (!(wanted > 0.0)) continue;
      gains.values[line * gains.points + k] = std::clamp(wanted / std::abs(there), 1.0 / most_beam_gain, most_beam_gain);
    }
  }
  return gains;
}

}  // namespace echoform
