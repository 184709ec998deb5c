// What of a setup's report concerns the pitch and the grating lobes that follow from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "apps/setup_report_parts.hpp"
#include "base/errors.hpp"
#include "delay_laws/view.hpp"
#include "methods/tfm/grating_lobes.hpp"

namespace echoform {
namespace {

/// Lobes of a way that are named one by one.
constexpr std::size_t most_named = 4;

/// A leg of a view, under its modes' name where it has one, and the pixel at which it is looked at.
struct NamedLeg {
  std::string name;
  const Leg* leg;
  Point pixel;
};

std::vector<NamedLeg> legs_of(const ImagingPlan& plan, const std::vector<ViewReach>& reach) {
  std::vector<NamedLeg> legs;
  std::set<const Leg*> known;
  for (std::size_t k = 0; k < plan.laws.size(); ++k) {
    if (!reach[k].middle) continue;
    const DelayLaw& law = plan.laws[k];
    View view{law.view + " out", law.view + " back"};
    try {
      view = parse_view(law.view);
    } catch (const InputError&) {
      // A view with a name of its own, or another program's.
    }
    for (const auto& [name, leg] : {std::pair{view.transmit, law.transmit}, std::pair{view.receive, law.receive}}) {
      if (known.insert(leg.get()).second) legs.push_back({name, leg.get(), *reach[k].middle});
    }
  }
  return legs;
}

void report_contact(SetupReport& report, Metres pitch, const std::vector<ReportedMode>& modes, Hertz frequency) {
  report.row("pitch", mm(pitch) + ": " + for_modes(modes, [&](const ReportedMode& mode) {
                        const Metres wavelength = wavelength_of(mode.velocity, frequency);
                        const auto lobe = grating_lobe(pitch, wavelength);
                        report.values["pitch_per_wavelength"][std::string(1, mode.letter)] = pitch / wavelength;
                        if (lobe && lobe->straight_ahead && mode.used) {
                          report.warnings.push_back(
                              fmt::format("the pitch of {} is above a wavelength of mode {}, {}: grating lobes, at "
                                          "{:.0f} degrees for a beam straight ahead",
                                          mm(pitch), mode.letter, mm(wavelength), lobe->degrees));
                        }
                        const std::string text = fmt::format("{:.3g} wavelengths", pitch / wavelength);
                        if (!lobe) return text + " (no grating lobes)";
                        if (lobe->straight_ahead) return text + " (a grating lobe at every angle)";
                        return text + fmt::format(" (grating lobes beyond {:.0f} degrees)", lobe->degrees);
                      }));
}

void report_couplant(SetupReport& report, const ImagingPlan& plan, const Scene& scene, Metres pitch,
                     const std::vector<ReportedMode>& modes, const std::vector<ViewReach>& reach) {
  const Probe& probe = plan.acquisition.probe;
  const Metres wavelength = wavelength_of(scene.couplant, probe.centre_frequency);
  report.values["pitch_per_wavelength"]["couplant"] = pitch / wavelength;
  nlohmann::json& values = report.values["grating_lobes"] = nlohmann::json::array();
  std::vector<std::string> texts;
  bool warns = false;
  for (const NamedLeg& leg : legs_of(plan, reach)) {
    const auto steered = departure_sine(*leg.leg, probe, leg.pixel, scene.couplant);
    if (!steered || std::abs(*steered) > 1.0) continue;
    const double degrees = std::asin(*steered) * 180.0 / std::numbers::pi;
    std::vector<std::string> lobes;
    std::size_t more = 0;
    for (const EnteringLobe& lobe : entering_lobes(probe, scene, plan.material, *steered, probe.centre_frequency)) {
      if (lobes.size() < most_named) {
        lobes.push_back(fmt::format("{} at {:.0f}", lobe.mode, lobe.part_degrees));
      } else {
        ++more;
      }
      values.push_back({{"way", leg.name},
                        {"steered_degrees", degrees},
                        {"couplant_degrees", lobe.couplant_degrees},
                        {"mode", std::string(1, lobe.mode)},
                        {"part_degrees", lobe.part_degrees}});
      warns = warns || std::any_of(modes.begin(), modes.end(),
                                   [&](const ReportedMode& mode) { return mode.used && mode.letter == lobe.mode; });
    }
    if (lobes.empty()) continue;
    texts.push_back(fmt::format("of {} as {} degrees{}", leg.name, fmt::join(lobes, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : std::string()));
  }
  report.row("pitch", fmt::format("{}, {:.3g} wavelengths of the couplant; grating lobes that enter the part: {}", mm(pitch),
                                  pitch / wavelength,
                                  texts.empty() ? "none" : fmt::format("{} from z towards x", fmt::join(texts, ", "))));
  if (warns) {
    report.warnings.push_back(
        fmt::format("grating lobes enter the part, {}: the pitch of {} is {:.3g} wavelengths of the couplant",
                    fmt::join(texts, ", "), mm(pitch), pitch / wavelength));
  }
}

}  // namespace

void report_lobes(SetupReport& report, const ImagingPlan& plan, const Scene& scene, const std::vector<ReportedMode>& modes,
                  const std::vector<ViewReach>& reach) {
  const ArrayShape shape = array_shape(plan.acquisition.probe);
  const Metres pitch = shape.pitch;
  if (!(pitch.value > 0.0)) {
    if (!shape.line) report.row("pitch", "none: elements stand irregularly, and have no grating lobes to tell");
    return;
  }
  if (scene.couplant.value > 0.0 && scene.surface != nullptr) {
    report_couplant(report, plan, scene, pitch, modes, reach);
  } else {
    report_contact(report, pitch, modes, plan.acquisition.probe.centre_frequency);
  }
}

}  // namespace echoform
