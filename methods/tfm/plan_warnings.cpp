#include "methods/tfm/plan_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "acquisition/firing_shape.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/gate.hpp"
#include "stages/beamform/apodization.hpp"

namespace echoform {
namespace {

/// Numbers that give as many pixels of a volume as of an image: each pixel costs a ray from every element.
constexpr std::size_t most_along_an_axis = 64;
constexpr std::size_t most_along_an_axis_of_volumes = 16;

/// Up to `most` of `count` indices, evenly spaced, including both ends.
std::vector<std::size_t> some_of(std::size_t count, std::size_t most) {
  const std::size_t some = std::min(count, most);
  std::vector<std::size_t> found(some);
  for (std::size_t k = 0; k < some; ++k) found[k] = some > 1 ? k * (count - 1) / (some - 1) : 0;
  return found;
}

/// Range of the times to each pixel over those sources; empty where no source reaches it.
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

/// "12 % of the pixels of LT", if any pixel is dark.
void add_share(std::vector<std::string>& texts, const std::string& view, std::size_t dark, std::size_t pixels) {
  if (dark == 0) return;
  const double percent = 100.0 * static_cast<double>(dark) / static_cast<double>(pixels);
  texts.push_back(
      fmt::format("{} of the pixels of {}", percent < 1.0 ? "less than 1 %" : fmt::format("{:.0f} %", percent), view));
}

}  // namespace

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

std::vector<std::string> unsampled_warnings(const ImagingPlan& plan) {
  // If every pixel is sampled from some position, none stays dark. Otherwise the first position's share is reported for all.
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

std::optional<std::string> unsent_warning(const ImagingPlan& plan) {
  constexpr double counts = 1e-9;  // s/m; over an aperture of 0.1 m it is a tenth of a nanosecond
  const Acquisition& acquisition = plan.acquisition;
  if (!launches_waves(acquisition)) return std::nullopt;
  const ProbeFrame frame = frame_of(acquisition.probe);
  for (const std::uint32_t event : chosen_or_all_events(acquisition, plan.events)) {
    const auto* const plane = std::get_if<PlaneWaveEvent>(&acquisition.events[event].form);
    if (plane == nullptr) continue;
    const FiringPlaces places = places_of_firings(acquisition.probe, frame, living_firings(acquisition, event));
    const Direction sent = sent_slowness(*plane, frame, places);
    const double stated = std::hypot(plane->slowness_x, plane->slowness_y);
    const double all = std::hypot(sent.x, sent.y);
    if (!(stated - all > counts)) continue;
    return fmt::format(
        "transmit event {} states a plane wave of {:.4g} s/m whose elements stand in one row, and their delays make {:.4g} s/m "
        "along "
        "it alone: it is imaged as that",
        event, stated, all);
  }
  return std::nullopt;
}

std::optional<std::string> near_field_warning(const ImagingPlan& plan) {
  constexpr double worth_saying = 0.01;
  // Each position's own plan has the places of its elements. One position is enough for a warning.
  if (!plan.positions.empty()) return near_field_warning(*plan.positions.front().plan);
  const Acquisition& acquisition = plan.acquisition;
  const double frequency = acquisition.probe.centre_frequency.value;
  if (!plan.apodization.directivity || !(frequency > 0.0)) return std::nullopt;
  double size = 0.0;
  for (const Element& element : acquisition.probe.elements) {
    if (element.dead) continue;
    size = std::max(size, element.width.value);
    // In the plane of a linear array no direction is inclined along the elements' lengths.
    if (plan.grid.y.count > 1) size = std::max(size, element.length.value);
  }
  const std::vector<Point> points = some_pixels(plan.grid);
  for (const DelayLaw& law : plan.laws) {
    const Aperture aperture{.probe = acquisition.probe,
                            .firing = {},
                            .event_weights = {},
                            .longitudinal_velocity = plan.material.longitudinal_velocity,
                            .apodization = plan.apodization};
    const double wavelength = beamform::directivity_velocity(aperture, *law.receive, 0).value / frequency;
    const double begins = size * size / (4.0 * wavelength);
    const auto lies_nearer = [&](const Point& point) {
      return std::ranges::any_of(acquisition.probe.elements, [&](const Element& element) {
        return !element.dead && length(between(element.centre, point)) < begins;
      });
    };
    const double share = static_cast<double>(std::ranges::count_if(points, lies_nearer)) / static_cast<double>(points.size());
    if (share < worth_saying) continue;
    return fmt::format(
        "[apodization] directivity is that of the far field, which begins {:.3g} mm before elements of {:.3g} mm at {:.3g} mm of "
        "wavelength: {:.0f} % of the pixels of {} lie nearer",
        1e3 * begins, 1e3 * size, 1e3 * wavelength, 100.0 * share, law.view);
  }
  return std::nullopt;
}

std::vector<std::string> plan_warnings(const ImagingPlan& plan) {
  std::vector<std::string> lines = unsampled_warnings(plan);
  if (auto line = half_summed_warning(plan)) lines.push_back(std::move(*line));
  if (auto line = unweighed_warning(plan)) lines.push_back(std::move(*line));
  if (auto line = unsent_warning(plan)) lines.push_back(std::move(*line));
  if (auto line = near_field_warning(plan)) lines.push_back(std::move(*line));
  return lines;
}

}  // namespace echoform
