#include "delay_laws/tabulated_leg.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "delay_laws/field_portions.hpp"
#include "delay_laws/grid_places.hpp"
#include "delay_laws/interpolated_times.hpp"
#include "delay_laws/over_sources.hpp"

namespace echoform {
namespace {

class TabulatedLeg final : public Leg {
 public:
  TabulatedLeg(std::shared_ptr<const Leg> leg, const Grid& grid, LegRays rays, std::size_t threads, Seconds tolerance,
               std::unique_ptr<const Departures> departures)
      : leg_(std::move(leg)),
        rays_(std::move(rays)),
        departures_(std::move(departures)),
        grid_(grid),
        pixels_(grid.pixels()),
        places_(grid),
        middle_(leg_->sources()),
        table_(std::make_unique_for_overwrite<float[]>(leg_->sources() * pixels_)) {
    const RayField& field = *rays_.field;
    const ImagedPixels imaged(grid, rays_.pixels);
    if (imaged.points.size() < pixels_) {
      over_sources(sources(), threads, [&](std::size_t source) {
        std::fill_n(table_.get() + source * pixels_, pixels_, std::numeric_limits<float>::quiet_NaN());
      });
    }
    find_middles(field, imaged, threads);
    if (tolerance.value > 0.0 && InterpolatedTimes::serves(field, grid) && InterpolatedTimes::pays(field)) {
      interpolate(field, grid, threads, tolerance);
      return;
    }
    rays_.found = sources() * imaged.points.size();
    over_portions_and_pixels(field, sources(), threads, imaged.points.size(),
                             [&](std::size_t first, std::size_t last, std::size_t from, std::size_t to) {
                               fill(field, first, last, imaged, from, to);
                             });
  }

  [[nodiscard]] std::size_t sources() const noexcept override { return middle_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::size_t place = places_.find(pixels[k]);
      if (place == GridPlaces::nowhere) {
        leg_->travel_times(source, pixels.subspan(k, 1), seconds.subspan(k, 1));
      } else {
        seconds[k] = middle_[source] + static_cast<double>(table_[source * pixels_ + place]);
      }
    }
  }

  [[nodiscard]] const LegRays* rays(const Grid& grid) const override { return grid == grid_ ? &rays_ : nullptr; }

  [[nodiscard]] const Departures* departures() const override {
    return departures_ != nullptr ? departures_.get() : leg_->departures();
  }

  [[nodiscard]] std::size_t table_bytes(const Grid& grid, bool /*with_departures*/ = false) const override {
    return (departures_ != nullptr ? 2 : 1) * leg_table_bytes(sources(), grid);
  }

 private:
  /// Uses the times to some of the pixels, among them the first and the last: the table needs a number near the middle, not the
  /// exact middle.
  void find_middles(const RayField& field, const ImagedPixels& imaged, std::size_t threads) {
    const std::size_t count = std::min<std::size_t>(imaged.points.size(), 65);
    std::vector<Point> some;
    for (std::size_t k = 0; k < count; ++k) {
      some.push_back(imaged.points[k * (imaged.points.size() - 1) / std::max<std::size_t>(1, count - 1)]);
    }
    over_portions(field, sources(), threads, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      std::vector<double> seconds((last - first) * count);
      field.times(first, last, some, seconds);
      for (std::size_t source = first; source < last; ++source) {
        middle_[source] = middle_of(std::span(seconds).subspan((source - first) * count, count));
      }
    });
  }

  static double middle_of(std::span<const double> seconds) {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (const double time : seconds) {
      if (std::isnan(time)) continue;
      least = std::min(least, time);
      greatest = std::max(greatest, time);
    }
    return least <= greatest ? 0.5 * (least + greatest) : 0.0;
  }

  void interpolate(const RayField& field, const Grid& grid, std::size_t threads, Seconds tolerance) {
    const InterpolatedTimes times(field, grid, rays_.pixels, tolerance);
    const std::size_t at_once = times.sources_at_once();
    std::atomic<std::size_t> found{0};
    over_sources((sources() + at_once - 1) / at_once, threads, [&](std::size_t k) {
      found += times.fill(k * at_once, std::min((k + 1) * at_once, sources()), middle_, table_.get());
    });
    rays_.found = found;
  }

  void fill(const RayField& field, std::size_t first, std::size_t last, const ImagedPixels& imaged, std::size_t from,
            std::size_t to) {
    const std::size_t count = to - from;
    std::vector<double> seconds((last - first) * count);
    field.times(first, last, std::span(imaged.points).subspan(from, count), seconds);
    for (std::size_t source = first; source < last; ++source) {
      const double* const times = seconds.data() + (source - first) * count;
      float* const row = table_.get() + source * pixels_;
      for (std::size_t k = 0; k < count; ++k) {
        row[imaged.place[from + k]] = static_cast<float>(times[k] - middle_[source]);  // NaN stays
      }
    }
  }

  std::shared_ptr<const Leg> leg_;
  LegRays rays_;
  std::unique_ptr<const Departures> departures_;  // null if they were not requested
  Grid grid_;
  std::size_t pixels_;
  GridPlaces places_;
  std::vector<double> middle_;
  std::unique_ptr<float[]> table_;  // [source, pixel]; its memory is first written by all threads at once
};

}  // namespace

std::shared_ptr<const Leg> tabulate(std::shared_ptr<const Leg> leg, const Grid& grid, LegRays rays, std::size_t threads,
                                    Seconds tolerance, std::unique_ptr<const Departures> departures) {
  return std::make_shared<TabulatedLeg>(std::move(leg), grid, std::move(rays), threads, tolerance, std::move(departures));
}

std::size_t leg_table_bytes(std::size_t sources, const Grid& grid) {
  return sources * grid.pixels() * sizeof(float);
}

}  // namespace echoform
