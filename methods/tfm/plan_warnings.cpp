#include "methods/tfm/plan_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "acquisition/firings.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/gate.hpp"

namespace echoform {
namespace {

/// As many pixels of a volume as of an image: each costs a ray from every element.
constexpr std::size_t most_along_an_axis = 64;
constexpr std::size_t most_along_an_axis_of_volumes = 16;

/// Up to `most` of `count`, evenly, both ends among them.
std::vector<std::size_t> some_of(std::size_t count, std::size_t most) {
  const std::size_t some = std::min(count, most);
  std::vector<std::size_t> found(some);
  for (std::size_t k = 0; k < some; ++k) found[k] = some > 1 ? k * (count - 1) / (some - 1) : 0;
  return found;
}

std::vector<Point> some_pixels(const Grid& grid) {
  const std::size_t most = grid.y.count > 1 ? most_along_an_axis_of_volumes : most_along_an_axis;
  std::vector<Point> found;
  for (const std::size_t z : some_of(grid.z.count, most)) {
    for (const std::size_t y : some_of(grid.y.count, most)) {
      for (const std::size_t x : some_of(grid.x.count, most)) found.push_back(grid.at((z * grid.y.count + y) * grid.x.count + x));
    }
  }
  return found;
}

/// Of each pixel over those sources; empty where none reaches it.
std::vector<TimeRange> times_of(const Leg& leg, const std::vector<bool>& elements, std::span<const Point> pixels) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<TimeRange> found(pixels.size(), {never, -never});
  std::vector<double> times(pixels.size());
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (!elements[source]) continue;
    leg.travel_times(source, pixels, times);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (std::isnan(times[k])) continue;
      found[k].least = std::min(found[k].least, times[k]);
      found[k].greatest = std::max(found[k].greatest, times[k]);
    }
  }
  return found;
}

/// "12 % of the pixels of LT", where any is dark.
void add_share(std::vector<std::string>& texts, const std::string& view, std::size_t dark, std::size_t pixels) {
  if (dark == 0) return;
  const double percent = 100.0 * static_cast<double>(dark) / static_cast<double>(pixels);
  texts.push_back(
      fmt::format("{} of the pixels of {}", percent < 1.0 ? "less than 1 %" : fmt::format("{:.0f} %", percent), view));
}

}  // namespace

std::vector<std::string> unsampled_warnings(const ImagingPlan& plan) {
  // From some position every pixel is sampled: none stays dark. Otherwise the first position's share stands for all.
  std::vector<std::string> of_first;
  for (const PositionPlan& position : plan.positions) {
    std::vector<std::string> of_this = unsampled_warnings(*position.plan);
    if (of_this.empty()) return {};
    if (of_first.empty()) of_first = std::move(of_this);
  }
  if (!plan.positions.empty()) return of_first;
  const Acquisition& acquisition = plan.acquisition;
  const double zero = (acquisition.start_time - acquisition.time_offset).value;
  const double rate = acquisition.sample_rate.value;
  const double last = static_cast<double>(acquisition.samples) - 1.0;
  const std::vector<Point> pixels = some_pixels(plan.grid);
  const ElementRoles living = living_roles(acquisition, plan.events);
  std::vector<std::string> beyond;
  std::vector<std::string> before;
  for (const DelayLaw& law : plan.laws) {
    const auto transmit = times_of(*law.transmit, living.transmit, pixels);
    const bool alike = living.alike() && same_leg(*law.transmit, *law.receive);
    const auto receive = alike ? transmit : times_of(*law.receive, living.receive, pixels);
    std::size_t late = 0;
    std::size_t early = 0;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (transmit[k].empty() || receive[k].empty()) continue;
      if ((transmit[k].least + receive[k].least - zero) * rate > last + 1.0) ++late;
      if ((transmit[k].greatest + receive[k].greatest - zero) * rate < -1.0) ++early;
    }
    add_share(beyond, law.view, late, pixels.size());
    add_share(before, law.view, early, pixels.size());
  }
  std::vector<std::string> lines;
  const auto reach = beyond.empty() && before.empty() ? std::nullopt : samples_reached(plan);
  if (!reach) return lines;
  if (!beyond.empty()) {
    lines.push_back(fmt::format("the image asks for samples up to {:.0f}, the A-scan ends with {:.0f}: {} stay dark", reach->last,
                                last, fmt::join(beyond, ", ")));
  }
  if (!before.empty()) {
    lines.push_back(fmt::format("the image asks for samples from {:.0f} on, before the A-scan begins: {} stay dark", reach->first,
                                fmt::join(before, ", ")));
  }
  return lines;
}

std::optional<std::string> half_summed_warning(const ImagingPlan& plan) {
  if (tells_directions(plan.acquisition)) return std::nullopt;
  std::string why;
  if (!plan.apodization.symmetric() && !plan.apodization.trivial()) {
    why = "[apodization] sides weighs transmitters and receivers differently";
  } else if (weighs_adaptively(plan)) {
    why = "[imaging] adaptive tells receivers apart";
  } else {
    std::vector<std::string> views;
    for (const DelayLaw& law : plan.laws) {
      if (!law.reciprocal()) views.push_back(law.view);
    }
    if (views.empty()) return std::nullopt;
    why = fmt::format("{} {} other ways out than back", fmt::join(views, ", "), views.size() == 1 ? "takes" : "take");
  }
  return fmt::format("the data holds s_ij + s_ji alone (half_summed), and {}: the image is exact only as far as s_ij = s_ji",
                     why);
}

std::optional<std::string> unweighed_warning(const ImagingPlan& plan) {
  const bool transmit_alone = plan.apodization.sides == ApodizationSides::transmit && !plan.apodization.trivial();
  if (!transmit_alone || !launches_waves(plan.acquisition)) return std::nullopt;
  return "[apodization] sides = \"transmit\" weighs elements that fire one by one, and several fire in these events: nothing is "
         "weighed; event_window weighs events, sides = \"receive\" the elements that record";
}

std::vector<std::string> plan_warnings(const ImagingPlan& plan) {
  std::vector<std::string> lines = unsampled_warnings(plan);
  if (auto line = half_summed_warning(plan)) lines.push_back(std::move(*line));
  if (auto line = unweighed_warning(plan)) lines.push_back(std::move(*line));
  return lines;
}

}  // namespace echoform
