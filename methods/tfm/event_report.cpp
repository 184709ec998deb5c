// The part of a setup's report about its transmit events: what they are, what a set of plane waves gives, and what they
// cost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <tuple>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "methods/tfm/report_parts.hpp"

namespace echoform {
namespace {

constexpr double radian_in_degrees = 180.0 / std::numbers::pi;

std::string chosen_text(const Acquisition& acquisition, std::span<const std::uint32_t> events) {
  if (acquisition.events.empty()) return fmt::format("{} events", events.size());
  std::vector<TransmitEvent> chosen;
  for (const std::uint32_t event : events) chosen.push_back(acquisition.events[event]);
  return forms_text(chosen) + (is_pulse_echo(chosen) ? ", pulse-echo" : "");
}

/// Slownesses along x of the imaged plane waves, in ascending order.
std::vector<double> plane_slownesses(const Acquisition& acquisition, std::span<const std::uint32_t> events) {
  std::vector<double> slownesses;
  for (const std::uint32_t event : events) {
    if (const auto* const plane = std::get_if<PlaneWaveEvent>(&acquisition.events[event].form)) {
      slownesses.push_back(plane->slowness_x);
    }
  }
  std::ranges::sort(slownesses);
  return slownesses;
}

std::string angles_text(double least, double greatest, const std::vector<std::pair<std::string, MetresPerSecond>>& media) {
  std::vector<std::string> texts;
  for (const auto& [name, velocity] : media) {
    const auto degrees = [c = velocity.value](double slowness) {
      const double sine = slowness * c;
      return std::abs(sine) < 1.0 ? fmt::format("{:.3g}", std::asin(sine) * radian_in_degrees) : std::string("beyond 90");
    };
    texts.push_back(least == greatest ? fmt::format("{} degrees as {}", degrees(least), name)
                                      : fmt::format("{} to {} degrees as {}", degrees(least), degrees(greatest), name));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Reports the lobes of an evenly spaced set: the sum of two neighbouring waves repeats where their times differ by a period.
void report_set(SetupReport& report, const ImagingPlan& plan, const std::vector<double>& slownesses) {
  const double frequency = plan.acquisition.probe.centre_frequency.value;
  const double range = slownesses.back() - slownesses.front();
  if (slownesses.size() < 2 || !(range > 0.0) || !(frequency > 0.0)) return;
  const double step = range / static_cast<double>(slownesses.size() - 1);
  double uneven = 0.0;
  for (std::size_t k = 1; k < slownesses.size(); ++k) {
    uneven = std::max(uneven, std::abs(slownesses[k] - slownesses[k - 1] - step) / step);
  }
  // Below a tenth of a step the steps count as even: at the distance of the first lobes this changes times by a tenth of a
  // period, which smears a lobe without removing it.
  const Metres lobe(1.0 / (frequency * step));
  const Metres width = plan.grid.x.last - plan.grid.x.first;
  // Number of waves that puts the first lobes of every reflector in the image outside of the image.
  const auto enough = static_cast<std::size_t>(std::ceil(range * frequency * width.value - 1e-9)) + 1;
  report.values["events"]["lobe_distance"] = lobe.value;
  report.values["events"]["enough"] = enough;
  report.row("angle set",
             fmt::format("{} lobes of a reflector, {} to its sides on the way out; {} over these angles put them outside "
                         "of the image's {}",
                         uneven < 0.1 ? "even steps:" : "uneven steps: smeared", mm(lobe), enough, mm(width)));
}

}  // namespace

void report_events(SetupReport& report, const ImagingPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  if (acquisition.events.empty() && plan.events.empty()) return;
  const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, plan.events);
  std::string text = chosen_text(acquisition, events);
  if (events.size() < acquisition.event_count()) text += fmt::format(" of {} events of a frame", acquisition.event_count());
  report.values["events"]["count"] = acquisition.event_count();
  report.values["events"]["imaged"] = events.size();
  const std::vector<double> slownesses =
      acquisition.events.empty() ? std::vector<double>() : plane_slownesses(acquisition, events);
  if (!slownesses.empty()) {
    std::vector<std::pair<std::string, MetresPerSecond>> media;
    if (plan.scene.couplant.value > 0.0) media.emplace_back("couplant", plan.scene.couplant);
    if (plan.material.longitudinal_velocity.value > 0.0) media.emplace_back("L", plan.material.longitudinal_velocity);
    if (plan.material.shear_velocity.value > 0.0) media.emplace_back("T", plan.material.shear_velocity);
    text += "; " + angles_text(slownesses.front(), slownesses.back(), media);
    report.values["events"]["slowness"] = {slownesses.front(), slownesses.back()};
  }
  report.row("events", text);
  if (!slownesses.empty()) report_set(report, plan, slownesses);

  // The sound of one event has to be recorded before the next one is sent.
  const double closes = (acquisition.start_time - acquisition.time_offset).value +
                        static_cast<double>(acquisition.samples) / acquisition.sample_rate.value;
  const double frames = closes > 0.0 ? 1.0 / (closes * static_cast<double>(acquisition.event_count())) : 0.0;
  const double megabytes = 1e-6 * static_cast<double>(acquisition.frame_bytes());
  report.values["events"]["frame_bytes"] = acquisition.frame_bytes();
  if (frames > 0.0) report.values["events"]["most_frames_per_second"] = frames;
  report.row("frames",
             fmt::format("{:.4g} MB each{}", megabytes,
                         frames > 0.0 ? fmt::format("; {} events of {:.4g} us allow at most {:.4g} a second, {:.4g} MB/s",
                                                    acquisition.event_count(), 1e6 * closes, frames, frames * megabytes)
                                      : std::string()));
}

}  // namespace echoform
