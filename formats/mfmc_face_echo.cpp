#include "formats/mfmc_face_echo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "acquisition/frame_layout.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t farthest_pair = 20;  // elements
constexpr std::size_t fewest_a_scans = 16;
constexpr std::size_t most_lags = 64;      // to either side
constexpr std::size_t usual_lags = 8;      // if no centre frequency is known
constexpr double usual_wavelength = 1e-3;  // metres, if no centre frequency is known
// An echo agrees with a placement that gives its A-scans at least this semblance, and at least this many times the semblance of
// the other placement.
constexpr double least_semblance = 0.3;
constexpr double least_ratio = 3.0;
constexpr double least_power = 0.05;  // minimum power of an echo, as a share of that of the whole A-scan, both without its mean

double mean_height(const Probe& placed) {
  double sum = 0.0;
  for (const Element& element : placed.elements) sum -= element.centre.z.value;
  return sum / static_cast<double>(placed.elements.size());
}

/// Angle in degrees by which the end at greater x is lower.
double turn_of(const Probe& placed) {
  const Point& first = placed.elements.front().centre;
  const Point& last = placed.elements.back().centre;
  return std::atan2((last.z - first.z).value, (last.x - first.x).value) * 180.0 / std::numbers::pi;
}

class Stack {
 public:
  explicit Stack(std::size_t lags) : lags_(lags), sum_(2 * lags + 1), energy_(2 * lags + 1) {}

  /// Adds an A-scan about its sample `place`, with the mean of the whole A-scan removed. An A-scan that does not cover all lags
  /// about `place` is left out.
  void add(std::span<const float> a_scan, double place) {
    const double first = place - static_cast<double>(lags_);
    const double last = place + static_cast<double>(lags_) + 1.0;
    if (!(first >= 0.0 && last < static_cast<double>(a_scan.size()))) return;
    double mean = 0.0;
    double square = 0.0;
    for (const float sample : a_scan) {
      mean += sample;
      square += static_cast<double>(sample) * sample;
    }
    mean /= static_cast<double>(a_scan.size());
    power_ += square / static_cast<double>(a_scan.size()) - mean * mean;
    const auto at = static_cast<std::size_t>(first);
    const double between = first - std::floor(first);
    for (std::size_t lag = 0; lag < sum_.size(); ++lag) {
      const double value = (1.0 - between) * a_scan[at + lag] + between * a_scan[at + lag + 1] - mean;
      sum_[lag] += value;
      energy_[lag] += value * value;
    }
    ++count_;
  }

  [[nodiscard]] std::optional<double> semblance() const {
    if (count_ < fewest_a_scans) return std::nullopt;
    double best = 0.0;
    for (std::size_t lag = 0; lag < sum_.size(); ++lag) {
      // Between echoes, A-scans may be alike by rounding, or by signals that stand still.
      if (!(energy_[lag] > least_power * power_)) continue;
      best = std::max(best, sum_[lag] * sum_[lag] / (static_cast<double>(count_) * energy_[lag]));
    }
    return best;
  }

 private:
  std::size_t lags_;
  std::size_t count_ = 0;
  double power_ = 0.0;  // sum over the A-scans of their samples' variance: the mean power after the mean is removed
  std::vector<double> sum_, energy_;
};

}  // namespace

std::optional<double> face_semblance(const Acquisition& acquisition, const Probe& placed, MetresPerSecond velocity,
                                     std::span<const float> samples) {
  const double frequency = acquisition.probe.centre_frequency.value;
  const double rate = acquisition.sample_rate.value;
  const bool known = frequency > 0.0;
  if (!(mean_height(placed) > (known ? velocity.value / frequency : usual_wavelength))) return std::nullopt;
  const double period = known ? std::ceil(rate / frequency) : static_cast<double>(usual_lags);
  Stack stack(static_cast<std::size_t>(std::clamp(period, 1.0, static_cast<double>(most_lags))));
  const FrameLayout layout(acquisition);
  const std::vector<EventReceiver> rows = layout.pairs();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto fires = firing_element(acquisition, rows[row].event);
    const std::size_t hears = rows[row].receiver;
    if (!fires || std::max(*fires, hears) - std::min(*fires, hears) > farthest_pair) continue;
    const Element& from = placed.elements[*fires];
    const Element& to = placed.elements[hears];
    if (from.dead || to.dead) continue;
    const double down = (from.centre.z + to.centre.z).value;
    const double path = std::hypot((to.centre.x - from.centre.x).value, (to.centre.y - from.centre.y).value, down);
    const double time = path / velocity.value - (acquisition.start_time - acquisition.time_offset).value;
    stack.add(samples.subspan(row * acquisition.samples, acquisition.samples), time * rate);
  }
  return stack.semblance();
}

std::string face_proposal(std::optional<double> by_wedge, std::optional<double> by_placement, const Probe& seated,
                          const Probe& stated) {
  const double wedge = by_wedge.value_or(0.0);
  const double placement = by_placement.value_or(0.0);
  const auto clear = [](double one, double other) { return one >= least_semblance && one >= least_ratio * other; };
  if (clear(wedge, placement)) {
    return fmt::format("the face's echoes agree with the wedge (semblance {:.2f}, and {:.2f} with the placement)", wedge,
                       placement);
  }
  if (clear(placement, wedge)) {
    return fmt::format(
        "the face's echoes agree with the placement (semblance {:.2f}, and {:.2f} with the wedge): [probe] stand_off = {:.4g} "
        "and "
        "angle = {:.3g} put the probe there",
        placement, wedge, mean_height(stated), turn_of(stated) - turn_of(seated));
  }
  return fmt::format("no echoes of the face tell which is right (semblance {:.2f} with the wedge, {:.2f} with the placement)",
                     wedge, placement);
}

}  // namespace echoform::formats
