#include "methods/tfm/reached.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/tfm/element_roles.hpp"

namespace echoform {
namespace {

/// Removes from `reached` the pixels that none of those sources of the leg reaches.
void keep_reached(const Leg& leg, const std::vector<bool>& elements, const Grid& grid, std::vector<std::uint8_t>& reached) {
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    // Such a source reaches every pixel.
    if (elements[source] && (leg.point_source_on(source, grid) || leg.revolved(source))) return;
  }
  const LegRays* const rays = leg.rays(grid);
  std::vector<std::size_t> waiting;
  std::vector<Point> points;
  for (std::size_t k = 0; k < reached.size(); ++k) {
    if (reached[k] == 0) continue;
    reached[k] = 0;
    if (rays != nullptr && !rays->pixels.imaged(k)) continue;
    waiting.push_back(k);
    points.push_back(grid.at(k));
  }
  std::vector<double> times;
  // The first element already reaches most pixels; later ones are only tested for the rest.
  for (std::size_t source = 0; source < leg.sources() && !waiting.empty(); ++source) {
    if (!elements[source]) continue;
    times.resize(points.size());
    leg.travel_times(source, points, times);
    std::size_t left = 0;
    for (std::size_t k = 0; k < waiting.size(); ++k) {
      if (!std::isnan(times[k])) {
        reached[waiting[k]] = 1;
        continue;
      }
      waiting[left] = waiting[k];
      points[left++] = points[k];
    }
    waiting.resize(left);
    points.resize(left);
  }
}

bool reaches(const Leg& leg, const std::vector<bool>& elements, const Point& pixel) {
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (!elements[source]) continue;
    double time = 0.0;
    leg.travel_times(source, {&pixel, 1}, {&time, 1});
    if (!std::isnan(time)) return true;
  }
  return false;
}

}  // namespace

bool reaches_any_pixel(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                       std::span<const std::uint32_t> chosen) {
  const ElementRoles living = living_roles(acquisition, chosen);
  // A few pixels from all over the grid nearly always decide it.
  const std::size_t pixels = grid.pixels();
  const std::size_t some = std::min<std::size_t>(pixels, 64);
  for (std::size_t k = 0; k < some; ++k) {
    const Point pixel = grid.at((2 * k + 1) * pixels / (2 * some));
    if (reaches(*law.transmit, living.transmit, pixel) && reaches(*law.receive, living.receive, pixel)) return true;
  }
  const std::vector<std::uint8_t> reached = reached_pixels(law, acquisition, grid, chosen);
  return std::find(reached.begin(), reached.end(), 1) != reached.end();
}

std::vector<std::uint8_t> reached_pixels(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                                         std::span<const std::uint32_t> chosen) {
  const ElementRoles living = living_roles(acquisition, chosen);
  std::vector<std::uint8_t> reached(grid.pixels(), 1);
  keep_reached(*law.transmit, living.transmit, grid, reached);
  if (!(law.reciprocal() && living.alike())) keep_reached(*law.receive, living.receive, grid, reached);
  return reached;
}

std::vector<std::uint8_t> reached_pixels(const ImagingPlan& plan, std::size_t view) {
  if (plan.positions.empty()) return reached_pixels(plan.laws[view], plan.acquisition, plan.grid, plan.events);
  std::vector<std::uint8_t> reached(plan.grid.pixels());
  for (const PositionPlan& position : plan.positions) {
    const std::vector<std::uint8_t> from_here = reached_pixels(*position.plan, view);
    for (std::size_t k = 0; k < reached.size(); ++k) reached[k] = reached[k] | from_here[k];
    if (std::find(reached.begin(), reached.end(), 0) == reached.end()) break;
  }
  return reached;
}

bool reaches_any_pixel(const ImagingPlan& plan, std::size_t view) {
  if (plan.positions.empty()) return reaches_any_pixel(plan.laws[view], plan.acquisition, plan.grid, plan.events);
  return std::ranges::any_of(plan.positions,
                             [view](const PositionPlan& position) { return reaches_any_pixel(*position.plan, view); });
}

double unreached_share(const std::vector<std::uint8_t>& reached) {
  return static_cast<double>(std::count(reached.begin(), reached.end(), 0)) / static_cast<double>(reached.size());
}

std::optional<std::string> unreached_warning(const ImagingPlan& plan, const std::vector<double>& shares) {
  std::string views;
  for (std::size_t view = 0; view < shares.size(); ++view) {
    if (shares[view] < unreached_worth_saying) continue;
    views += fmt::format("{}{:.0f} % of the pixels of {}", views.empty() ? "" : ", ", 100.0 * shares[view], plan.laws[view].view);
  }
  if (views.empty()) return std::nullopt;
  return fmt::format("no ray reaches {}: they stay dark, whatever is there", views);
}

}  // namespace echoform
