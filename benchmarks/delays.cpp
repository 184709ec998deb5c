#include "benchmarks/delays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "acquisition/acquisition.hpp"
#include "benchmarks/stopwatch.hpp"
#include "cpu/thread_team.hpp"
#include "delay_laws/over_sources.hpp"
#include "delay_laws/ray_leg.hpp"

namespace echoform::benchmarks {
namespace {

constexpr MetresPerSecond water{1480.0};
constexpr MetresPerSecond aluminium{6320.0};

/// A wave with an amplitude of 1 mm through `count` points.
std::shared_ptr<const Surface> wave(std::size_t count, bool smooth) {
  constexpr double number = 2.0 * std::numbers::pi / 40e-3;
  const auto place = [&](std::size_t k) {
    const double x = -64e-3 + 128e-3 * static_cast<double>(k) / static_cast<double>(count - 1);
    return Vector2{x, 1e-3 * std::sin(number * x)};
  };
  std::vector<Segment> segments;
  for (std::size_t k = 0; k + 1 < count; ++k) {
    const Vector2 from = place(k);
    const Vector2 to = place(k + 1);
    const double step = to.x - from.x;
    const auto slope = [&](double x) { return Vector2{step, step * 1e-3 * number * std::cos(number * x)}; };
    segments.push_back(smooth ? cubic_segment(from, slope(from.x), to, slope(to.x)) : line_segment(from, to));
  }
  return std::make_shared<const Surface>("wave", std::move(segments));
}

/// A parabola through `count` points. No straight line meets it three times, so nothing lies in shadow.
std::shared_ptr<const Surface> arch(std::size_t count) {
  const double step = 128e-3 / static_cast<double>(count - 1);
  const auto place = [&](std::size_t k) {
    const double x = -64e-3 + step * static_cast<double>(k);
    return Vector2{x, 3.0 * x * x};
  };
  std::vector<Segment> segments;
  for (std::size_t k = 0; k + 1 < count; ++k) {
    const Vector2 from = place(k);
    const Vector2 to = place(k + 1);
    segments.push_back(cubic_segment(from, {step, 6.0 * from.x * step}, to, {step, 6.0 * to.x * step}));
  }
  return std::make_shared<const Surface>("arch", std::move(segments));
}

Probe probe_of(const DelaysCase& test) {
  Probe probe = make_matrix_probe({.columns = test.elements,
                                   .rows = test.rows,
                                   .pitch = Metres(0.5e-3),
                                   .row_pitch = Metres(0.5e-3),
                                   .width = Metres(0.4e-3),
                                   .length = {}},
                                  Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) element.centre.z = Metres(-20e-3);
  return probe;
}

Grid grid_of(const DelaysCase& test) {
  if (test.volume()) {
    const Axis lateral{Metres(-20e-3), Metres(20e-3), test.pixels};
    return {lateral, {Metres(8e-3), Metres(48e-3), test.pixels}, lateral};
  }
  return {{Metres(-32e-3), Metres(32e-3), test.pixels}, {Metres(8e-3), Metres(68e-3), test.pixels}, {}};
}

RayPath path_of(const DelaysPart& part) {
  RayPath path{{water, aluminium}, {{part.surface, false, false}}};
  if (part.backwall == nullptr) return path;
  path.velocities.push_back(aluminium);
  path.interfaces.push_back({part.backwall, true, false});
  return path;
}

class Measurement {
 public:
  Measurement(const DelaysCase& test, std::size_t threads, DelaysPart surface)
      : threads_(threads), surface_(std::move(surface)), probe_(probe_of(test)), grid_(grid_of(test)), path_(path_of(surface_)) {
    // The comparison uses a sample of the table: every 16th element, and pixels that share no row or column for long.
    for (std::size_t k = 0; k < grid_.pixels(); k += 17) pixels_.push_back(grid_.at(k));
    for (std::size_t k = 0; k < probe_.elements.size(); k += 16) sources_.push_back(k);
  }

  [[nodiscard]] std::size_t general_rays() const { return pixels_.size() * sources_.size(); }

  /// Solves the sampled rays; returns the seconds that they took on all threads.
  [[nodiscard]] double solve() {
    sides_.resize(pixels_.size());
    PartBounds{surface_.surface, surface_.backwall}.sides(pixels_, sides_);
    general_.assign(general_rays(), std::nan(""));
    const auto begin = std::chrono::steady_clock::now();
    over_sources(sources_.size(), threads_, [&](std::size_t k) {
      RaySolver solver(path_, probe_.elements[sources_[k]].centre);
      for (std::size_t n = 0; n < pixels_.size(); ++n) {
        if (sides_[n] == PartSide::within) general_[k * pixels_.size() + n] = solver.time_to(pixels_[n]);
      }
    });
    return seconds_since(begin);
  }

  [[nodiscard]] double tabulate(SimdLevel level) {
    const auto leg = make_ray_leg(probe_, path_, {surface_.surface, surface_.backwall}, level);
    table_ = nullptr;
    const auto begin = std::chrono::steady_clock::now();
    table_ = leg->tabulated(grid_, threads_);
    return seconds_since(begin);
  }

  [[nodiscard]] double interpolate(SimdLevel level, Seconds tolerance) {
    const auto leg = make_ray_leg(probe_, path_, {surface_.surface, surface_.backwall}, level);
    interpolated_ = nullptr;
    const auto begin = std::chrono::steady_clock::now();
    interpolated_ = leg->tabulated(grid_, threads_, tolerance);
    return seconds_since(begin);
  }

  /// Compares both tables entry by entry.
  void compare(DelaysInterpolated& figure) const {
    figure.found = interpolated_->rays(grid_)->found;
    const std::vector<Point> points = grid_.points();
    std::vector<double> exact(points.size());
    std::vector<double> times(points.size());
    for (std::size_t source = 0; source < probe_.elements.size(); ++source) {
      table_->travel_times(source, points, exact);
      interpolated_->travel_times(source, points, times);
      for (std::size_t k = 0; k < points.size(); ++k) {
        if (std::isnan(exact[k]) != std::isnan(times[k])) {
          ++figure.disagreements;
        } else if (!std::isnan(exact[k])) {
          figure.largest_difference = std::max(figure.largest_difference, std::abs(times[k] - exact[k]));
        }
      }
    }
  }

  [[nodiscard]] std::string field() const { return std::string(table_->rays(grid_)->field->name()); }

  void compare(DelaysFigure& figure, double& reached) const {
    std::vector<double> times(pixels_.size());
    std::size_t rays = 0;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      table_->travel_times(sources_[k], pixels_, times);
      for (std::size_t n = 0; n < pixels_.size(); ++n) {
        const double general = general_[k * pixels_.size() + n];
        if (std::isnan(times[n]) != std::isnan(general)) {
          ++figure.disagreements;
        } else if (!std::isnan(general)) {
          ++rays;
          figure.largest_difference = std::max(figure.largest_difference, std::abs(times[n] - general));
        }
      }
    }
    reached = static_cast<double>(rays) / static_cast<double>(general_rays());
  }

 private:
  std::size_t threads_;
  DelaysPart surface_;
  Probe probe_;
  Grid grid_;
  RayPath path_;
  std::vector<Point> pixels_;
  std::vector<std::size_t> sources_;
  std::vector<PartSide> sides_;
  std::vector<double> general_;
  std::shared_ptr<const Leg> table_;
  std::shared_ptr<const Leg> interpolated_;
};

}  // namespace

std::vector<DelaysPart> delays_parts() {
  const Vector2 half{0.5, 0.5 * std::tan(10.0 * std::numbers::pi / 180.0)};
  constexpr double radius = 50e-3;
  return {{"plane, tilted by 10 degrees", std::make_shared<const Surface>("plane", std::vector{line_segment(-1.0 * half, half)})},
          {"profile of 200 points, spline", wave(200, true)},
          {"profile of 200 points, lines", wave(200, false)},
          {"arch of 200 points, spline", arch(200)},
          {"cylinder, 50 mm radius",
           std::make_shared<const Surface>(
               "cylinder", std::vector{arc_segment({0.0, radius}, radius, -std::numbers::pi, std::numbers::pi)})}};
}

std::vector<DelaysPart> delays_skips() {
  const auto level = [](double depth, double degrees) {
    const Vector2 half{0.5, 0.5 * std::tan(degrees * std::numbers::pi / 180.0)};
    return std::make_shared<const Surface>("plane",
                                           std::vector{line_segment(Vector2{0.0, depth} - half, Vector2{0.0, depth} + half)});
  };
  return {{"plane, off a backwall tilted by 5 degrees", level(0.0, 0.0), level(75e-3, 5.0)},
          {"profile of 200 points, spline, off a plane backwall", wave(200, true), level(75e-3, 0.0)}};
}

ImagingPlan delays_plan(const DelaysCase& test, const DelaysPart& part) {
  ImagingPlan plan;
  plan.acquisition.probe = probe_of(test);
  plan.acquisition.samples = 4096;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {aluminium, MetresPerSecond(3130.0)};
  plan.grid = grid_of(test);
  const auto leg =
      make_ray_leg(plan.acquisition.probe, path_of(part), {part.surface, part.backwall})->tabulated(plan.grid, test.threads);
  plan.laws = {{"L", leg, leg}};
  return plan;
}

DelaysReport measure_delays(const DelaysCase& test, const std::function<void(const std::string&)>& progress) {
  DelaysReport report;
  report.threads = test.threads != 0 ? test.threads : usable_processors();
  report.rays = test.rays();
  std::vector<SimdLevel> levels;
  for (const SimdLevel level : {SimdLevel::avx512, SimdLevel::avx2, SimdLevel::portable}) {
    if (level <= simd_level()) levels.push_back(level);
  }
  std::vector<DelaysPart> parts = delays_parts();
  // For a volume only the last part, the cylinder, is measured: through a plane surface a delay takes as long as in an image
  // plane, and no delays of a volume are interpolated.
  if (test.volume()) parts.erase(parts.begin(), parts.end() - 1);
  for (DelaysPart& skip : delays_skips()) {
    if (!test.volume()) parts.push_back(std::move(skip));
  }
  report.tolerance = 0.005 / probe_of(test).centre_frequency.value;
  for (const DelaysPart& surface : parts) {
    progress(surface.name);
    Measurement measurement(test, report.threads, surface);
    // The general solver has no instruction sets.
    const std::size_t sets = surface.backwall == nullptr ? levels.size() : 1;
    DelaysSurface found;
    found.name = surface.name;
    found.nodes = surface.surface->nodes().size();
    found.general_rays = measurement.general_rays();
    std::vector<double> general;
    std::vector<std::vector<double>> seconds(sets);
    std::vector<std::vector<double>> ratio(sets);
    std::vector<double> interpolated;
    std::vector<double> gain;
    for (std::size_t round = 0; round <= test.rounds; ++round) {
      const double solved = measurement.solve() / static_cast<double>(found.general_rays);
      if (round > 0) general.push_back(solved * static_cast<double>(report.threads));
      for (std::size_t k = 0; k < sets; ++k) {
        const double taken = measurement.tabulate(levels[k]);
        if (round == 0) {
          found.figures.emplace_back().level = levels[k];
          measurement.compare(found.figures.back(), found.reached);
        } else {
          seconds[k].push_back(taken);
          ratio[k].push_back(solved / (taken / static_cast<double>(report.rays)));
        }
        if (k > 0 || test.volume()) continue;
        const double between = measurement.interpolate(levels[k], Seconds(report.tolerance));
        if (round == 0) {
          measurement.compare(found.interpolated);
        } else {
          interpolated.push_back(between);
          gain.push_back(taken / between);
        }
      }
    }
    found.field = measurement.field();
    found.general = spread_of(general);
    for (std::size_t k = 0; k < sets; ++k) {
      found.figures[k].seconds = spread_of(seconds[k]);
      found.figures[k].ratio = spread_of(ratio[k]);
    }
    if (test.volume()) {
      report.surfaces.push_back(std::move(found));
      continue;
    }
    found.interpolated.exact = found.figures.front().seconds;
    found.interpolated.seconds = spread_of(interpolated);
    found.interpolated.ratio = spread_of(gain);
    report.surfaces.push_back(std::move(found));
  }
  return report;
}

}  // namespace echoform::benchmarks
