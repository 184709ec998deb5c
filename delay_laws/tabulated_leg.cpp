#include "delay_laws/tabulated_leg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "delay_laws/over_sources.hpp"

namespace echoform {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// Finds the index of a pixel centre again, which is exactly what the grid gave out.
class AxisPlaces {
 public:
  explicit AxisPlaces(const Axis& axis) : first_(axis.first.value), spacing_(axis.spacing().value) {
    for (std::size_t k = 0; k < axis.count; ++k) places_.push_back(axis.at(k).value);
  }

  [[nodiscard]] std::size_t find(double place) const {
    const double steps = spacing_ > 0.0 ? std::floor((place - first_) / spacing_ + 0.5) : 0.0;
    if (!(steps >= 0.0 && steps < static_cast<double>(places_.size()))) return nowhere;
    const auto index = static_cast<std::size_t>(steps);
    return places_[index] == place ? index : nowhere;
  }

 private:
  double first_;
  double spacing_;
  std::vector<double> places_;
};

class TabulatedLeg final : public Leg {
 public:
  TabulatedLeg(std::shared_ptr<const Leg> leg, const Grid& grid, const SourceTimes& times, std::size_t threads)
      : leg_(std::move(leg)),
        pixels_(grid.pixels()),
        nx_(grid.x.count),
        ny_(grid.y.count),
        x_(grid.x),
        y_(grid.y),
        z_(grid.z),
        middle_(leg_->sources()),
        table_(leg_->sources() * pixels_) {
    over_sources(leg_->sources(), threads, [&](std::size_t source) { fill(source, times); });
  }

  [[nodiscard]] std::size_t sources() const noexcept override { return middle_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::size_t place = find(pixels[k]);
      if (place == nowhere) {
        leg_->travel_times(source, pixels.subspan(k, 1), seconds.subspan(k, 1));
      } else {
        seconds[k] = middle_[source] + static_cast<double>(table_[source * pixels_ + place]);
      }
    }
  }

  [[nodiscard]] std::size_t table_bytes(const Grid& /*grid*/) const override { return table_.size() * sizeof(float); }

 private:
  void fill(std::size_t source, const SourceTimes& times) {
    std::vector<double> seconds(pixels_);
    times(source, seconds);
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (const double time : seconds) {
      if (std::isnan(time)) continue;
      least = std::min(least, time);
      greatest = std::max(greatest, time);
    }
    const double middle = least <= greatest ? 0.5 * (least + greatest) : 0.0;
    middle_[source] = middle;
    float* const row = table_.data() + source * pixels_;
    for (std::size_t k = 0; k < pixels_; ++k) row[k] = static_cast<float>(seconds[k] - middle);  // NaN stays
  }

  [[nodiscard]] std::size_t find(const Point& point) const {
    const std::size_t ix = x_.find(point.x.value);
    const std::size_t iy = y_.find(point.y.value);
    const std::size_t iz = z_.find(point.z.value);
    if (ix == nowhere || iy == nowhere || iz == nowhere) return nowhere;
    return (iz * ny_ + iy) * nx_ + ix;
  }

  std::shared_ptr<const Leg> leg_;
  std::size_t pixels_;
  std::size_t nx_;
  std::size_t ny_;
  AxisPlaces x_;
  AxisPlaces y_;
  AxisPlaces z_;
  std::vector<double> middle_;
  std::vector<float> table_;  // [source, pixel]
};

}  // namespace

std::shared_ptr<const Leg> tabulate(std::shared_ptr<const Leg> leg, const Grid& grid, const SourceTimes& times,
                                    std::size_t threads) {
  return std::make_shared<TabulatedLeg>(std::move(leg), grid, times, threads);
}

std::size_t leg_table_bytes(std::size_t sources, const Grid& grid) {
  return sources * grid.pixels() * sizeof(float);
}

}  // namespace echoform
