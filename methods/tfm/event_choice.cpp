#include "methods/tfm/event_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "acquisition/firing_shape.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/errors.hpp"
#include "delay_laws/view.hpp"
#include "methods/tfm/event_window.hpp"
#include "methods/tfm/section.hpp"

namespace echoform {
namespace {

/// Sine of the angle of waves of `velocity`, from the slowness of their front along a line.
double sine_at(double slowness, MetresPerSecond velocity) {
  return slowness * velocity.value;
}

/// Tilt of a flat front surface against x, in radians; nothing where the front surface is not flat.
std::optional<double> flat_tilt(const SurfaceSection& section) {
  if (section.kind.empty()) return 0.0;
  if (section.kind != "plane") return std::nullopt;
  const auto angle = section.numbers.find("angle");
  return angle == section.numbers.end() ? 0.0 : angle->second * std::numbers::pi / 180.0;
}

/// The plane wave that the firing elements of an event send.
struct SentWave {
  ProbeFrame frame;
  Direction slowness;  ///< along x and y of `frame`, s/m

  SentWave(const PlaneWaveEvent& event, const Acquisition& acquisition, std::size_t number) {
    const ProbeFrame of_probe = frame_of(acquisition.probe);
    const FiringPlaces places = places_of_firings(acquisition.probe, of_probe, living_firings(acquisition, number));
    frame = places.frame;
    slowness = sent_slowness(event, of_probe, places);
  }
};

/// Whether waves of `velocity` continue where a plane wave in the couplant meets the flat surface.
bool enters(const SentWave& sent, const ImagingPlan& plan, double tilt, MetresPerSecond velocity) {
  const double across = sent.slowness.x * sent.slowness.x + sent.slowness.y * sent.slowness.y;
  const double rest = 1.0 / (plan.scene.couplant.value * plan.scene.couplant.value) - across;
  const Direction slowness = sent.frame.to_global(Direction{sent.slowness.x, sent.slowness.y, std::sqrt(rest)});
  return std::hypot(sine_at(slowness.x * std::cos(tilt) + slowness.z * std::sin(tilt), velocity), sine_at(slowness.y, velocity)) <
         1.0;
}

/// Velocity of a view's first leg in the part; nothing for a view that is not named by modes.
std::optional<MetresPerSecond> first_velocity(const ImagingPlan& plan, const DelayLaw& law) {
  try {
    const bool shear = parse_view(law.view).transmit.front() == 'T';
    return shear ? plan.material.shear_velocity : plan.material.longitudinal_velocity;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::uint32_t> spread_over(std::span<const std::uint32_t> events, std::size_t count) {
  if (count == 0 || count >= events.size()) return {events.begin(), events.end()};
  std::vector<std::uint32_t> spread;
  for (std::size_t k = 0; k < count; ++k) spread.push_back(events[(2 * k + 1) * events.size() / (2 * count)]);
  return spread;
}

std::vector<std::uint32_t> chosen_events(const ImagingSettings& settings, const Acquisition& acquisition) {
  const TfmSection& section = tfm(settings);
  const std::size_t count = acquisition.event_count();
  std::vector<std::uint32_t> events;
  for (const std::size_t event : section.events) {
    const auto refuse = [&](const std::string& found, const std::string& expected) {
      throw InputError(settings.place("[imaging] events"), found, expected);
    };
    if (event >= count) refuse(fmt::format("event {}", event), fmt::format("events 0 to {} of a frame", count - 1));
    events.push_back(static_cast<std::uint32_t>(event));
    if (std::ranges::count(section.events, event) > 1) refuse(fmt::format("event {} twice", event), "each event once");
  }
  std::ranges::sort(events);
  events = spread_over(chosen_or_all_events(acquisition, events), section.compounded);
  if (events.size() == count) return {};
  if (const auto bond = bond_of_events(acquisition)) {
    throw InputError(settings.place(section.events.empty() ? "[imaging] compounded" : "[imaging] events"),
                     fmt::format("{} of the {} events of {}", events.size(), count, *bond), "all of them");
  }
  return events;
}

std::vector<float> event_weights(const ImagingSettings& settings, const Acquisition& acquisition, const Material& material,
                                 std::span<const std::uint32_t> chosen) {
  const TfmSection& section = tfm(settings);
  if (section.event_window == ApodizationWindow::none) return {};
  if (!launches_waves(acquisition)) {
    throw InputError(settings.place("[apodization] event_window"), "a window over firings of single elements",
                     "[apodization] window, which is over the elements, or waves of several");
  }
  std::vector<MetresPerSecond> media{settings.couplant.velocity.value_or(MetresPerSecond{}), material.longitudinal_velocity,
                                     material.shear_velocity};
  std::erase_if(media, [](MetresPerSecond velocity) { return !(velocity.value > 0.0); });
  return window_over_events(acquisition, chosen_or_all_events(acquisition, chosen), media, section.event_window,
                            section.apodization.tukey_fraction);
}

void check_propagation(const ImagingSettings& settings, const ImagingPlan& plan, std::span<const std::uint32_t> of_frame) {
  if (!launches_waves(plan.acquisition)) return;
  const bool wet = plan.scene.couplant.value > 0.0;
  const auto tilt = flat_tilt(settings.surface);
  for (const std::uint32_t event : chosen_or_all_events(plan.acquisition, plan.events)) {
    const auto* const plane = std::get_if<PlaneWaveEvent>(&plan.acquisition.events[event].form);
    if (plane == nullptr) continue;
    const SentWave sent(*plane, plan.acquisition, event);
    const double slowness = std::hypot(sent.slowness.x, sent.slowness.y);
    const auto refuse = [&](MetresPerSecond velocity, double sine, std::string_view expected) {
      throw InputError(fmt::format("data: transmit event {}", of_frame.empty() ? event : of_frame[event]),
                       fmt::format("a plane wave of sin(angle) / velocity = {:.4g} s/m, a sine of {:.4g} at {:.5g} m/s", slowness,
                                   sine, velocity.value),
                       std::string(expected));
    };
    if (wet && !(sine_at(slowness, plan.scene.couplant) < 1.0)) {
      refuse(plan.scene.couplant, sine_at(slowness, plan.scene.couplant), "an angle below 90 degrees in the couplant");
    }
    std::optional<MetresPerSecond> slowest;
    const bool runs_on = std::ranges::any_of(plan.laws, [&](const DelayLaw& law) {
      const auto velocity = first_velocity(plan, law);
      if (!velocity) return true;
      if (!slowest || *velocity < *slowest) slowest = velocity;
      if (wet) return !tilt || enters(sent, plan, *tilt, *velocity);
      return sine_at(slowness, *velocity) < 1.0;
    });
    if (runs_on) continue;
    refuse(*slowest, sine_at(slowness, *slowest),
           wet ? "an angle below the critical one of some view's waves, or [imaging] events without this one"
               : "an angle below 90 degrees of some view's waves, or [imaging] events without this one");
  }
}

}  // namespace echoform
