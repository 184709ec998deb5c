// The part of a setup's report about the pitch and the grating lobes that follow from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

#include "base/errors.hpp"
#include "delay_laws/view.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/grating_lobes.hpp"
#include "methods/tfm/report_parts.hpp"
#include "methods/tfm/setup_figures.hpp"

namespace echoform {
namespace {

/// Maximum number of lobes of a path that are listed individually.
constexpr std::size_t most_named = 4;

/// One side of the pairs: its elements, whether alive or dead, and those of them that are alive.
struct ArraySide {
  std::vector<bool> elements;
  std::vector<bool> living;
  ArrayShape shape;
};

ArraySide side_of(const Probe& probe, const std::vector<bool>& elements, const std::vector<bool>& living) {
  return {elements, living, array_shape(subarray(probe, elements))};
}

/// A leg of a view, with the name of its modes if it has one, and the pixel at which it is examined.
struct NamedLeg {
  std::string name;
  const Leg* leg;
  const ArraySide* side;
  Point pixel;
};

/// The legs to report. A leg that serves as transmit and receive path is listed once if the same elements stand on both sides.
/// `transmit` is null where waves of several elements are sent, whose lobes are not the array's.
std::vector<NamedLeg> legs_of(const ImagingPlan& plan, const ArraySide* transmit, const ArraySide& receive,
                              const std::vector<ViewReach>& reach) {
  std::vector<NamedLeg> legs;
  std::set<std::pair<const Leg*, const ArraySide*>> known;
  const bool alike = transmit == &receive;
  for (std::size_t k = 0; k < plan.laws.size(); ++k) {
    if (!reach[k].middle) continue;
    const DelayLaw& law = plan.laws[k];
    View view{law.view + " out", law.view + " back"};
    try {
      view = parse_view(law.view);
      if (!alike) view = {view.transmit + " out", view.receive + " back"};
    } catch (const InputError&) {
      // The view has a name of its own, or is another program's.
    }
    for (const auto& [name, leg, side] :
         {std::tuple{view.transmit, law.transmit.get(), transmit}, std::tuple{view.receive, law.receive.get(), &receive}}) {
      if (side != nullptr && known.emplace(leg, side).second) legs.push_back({name, leg, side, *reach[k].middle});
    }
  }
  return legs;
}

/// "L 0.515 wavelengths (grating lobes beyond 70 degrees)", for all modes. Adds the values of each mode under `key`.
std::string contact_lobes(SetupReport& report, const char* key, const std::string& what, Metres pitch,
                          const std::vector<ReportedMode>& modes, Hertz frequency) {
  return for_modes(modes, [&](const ReportedMode& mode) {
    const Metres wavelength = wavelength_of(mode.velocity, frequency);
    const auto lobe = grating_lobe(pitch, wavelength);
    report.values[key][std::string(1, mode.letter)] = pitch / wavelength;
    if (lobe && lobe->straight_ahead && mode.used) {
      report.warnings.push_back(
          fmt::format("{} of {} is above a wavelength of mode {}, {}: grating lobes, at {:.0f} degrees for a beam straight ahead",
                      what, mm(pitch), mode.letter, mm(wavelength), lobe->degrees));
    }
    const std::string text = fmt::format("{:.3g} wavelengths", pitch / wavelength);
    if (!lobe) return text + " (no grating lobes)";
    if (lobe->straight_ahead) return text + " (a grating lobe at every angle)";
    return text + fmt::format(" (grating lobes beyond {:.0f} degrees)", lobe->degrees);
  });
}

void report_couplant(SetupReport& report, const ImagingPlan& plan, Metres pitch, const std::vector<NamedLeg>& legs,
                     const std::string& firing, const std::vector<ReportedMode>& modes) {
  const Probe& probe = plan.acquisition.probe;
  const Metres wavelength = wavelength_of(plan.scene.couplant, probe.centre_frequency);
  report.values["pitch_per_wavelength"]["couplant"] = pitch / wavelength;
  nlohmann::json& values = report.values["grating_lobes"] = nlohmann::json::array();
  std::vector<std::string> texts;
  bool warns = false;
  for (const NamedLeg& leg : legs) {
    const auto steered = departure_sine(*leg.leg, probe, leg.side->living, leg.pixel, plan.scene.couplant);
    if (!steered || std::abs(*steered) > 1.0) continue;
    const double degrees = std::asin(*steered) * 180.0 / std::numbers::pi;
    std::vector<std::string> lobes;
    std::size_t more = 0;
    for (const EnteringLobe& lobe :
         entering_lobes(probe, leg.side->elements, plan.scene, plan.material, *steered, probe.centre_frequency)) {
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
        fmt::format("grating lobes enter the part, {}: the pitch of {} is {:.3g} wavelengths of the couplant{}{}",
                    fmt::join(texts, ", "), mm(pitch), pitch / wavelength, firing.empty() ? "" : "; ", firing));
  }
}

/// Text about the arrangement of the firing elements, if not all recording elements fire.
std::string firing_text(const ImagingPlan& plan, const ArraySide& transmit) {
  const auto count = std::count(transmit.elements.begin(), transmit.elements.end(), true);
  const std::string text = fmt::format("{} of {} elements fire{}", count, plan.acquisition.elements(), count == 1 ? "s" : "");
  const ArrayShape& shape = transmit.shape;
  if (count == 1) return text + ": the way out has no grating lobes";
  if (!shape.even || !(shape.pitch.value > 0.0)) {
    return text + ", at irregular distances: the way out has no grating lobes to tell";
  }
  return fmt::format("{}, {} apart", text, mm(shape.pitch));
}

}  // namespace

void report_lobes(SetupReport& report, const ImagingPlan& plan, const std::vector<ReportedMode>& modes,
                  const std::vector<ViewReach>& reach) {
  const Probe& probe = plan.acquisition.probe;
  const ElementRoles roles = element_roles(plan.acquisition, plan.events);
  const ElementRoles living = living_roles(plan.acquisition, plan.events);
  const ArraySide receive = side_of(probe, roles.receive, living.receive);
  const bool all_the_same = roles.alike() || roles.waves;
  const ArraySide transmit = all_the_same ? receive : side_of(probe, roles.transmit, living.transmit);
  const ArrayShape& shape = receive.shape;
  const Metres pitch = shape.pitch;
  std::string text = all_the_same ? "" : firing_text(plan, transmit);
  const bool spatial = plan.scene.spatial_surface != nullptr;
  const bool wet = plan.scene.couplant.value > 0.0 && (plan.scene.surface != nullptr || spatial);
  if (!(pitch.value > 0.0)) {
    if (!shape.line) report.row("pitch", "none: elements stand irregularly, and have no grating lobes to tell");
  } else if (wet && spatial) {
    // The angles at which lobes enter the part are reported only for curved surfaces.
    const double waves = pitch / wavelength_of(plan.scene.couplant, probe.centre_frequency);
    report.values["pitch_per_wavelength"]["couplant"] = waves;
    report.row("pitch", fmt::format("{}, {:.3g} wavelengths of the couplant", mm(pitch), waves));
  } else if (wet) {
    const std::vector<NamedLeg> legs = legs_of(plan,
                                               roles.waves     ? nullptr
                                               : roles.alike() ? &receive
                                                               : &transmit,
                                               receive, reach);
    report_couplant(report, plan, pitch, legs, text, modes);
  } else {
    std::string along =
        mm(pitch) + ": " + contact_lobes(report, "pitch_per_wavelength", "the pitch", pitch, modes, probe.centre_frequency);
    if (plan.grid.y.count > 1 && shape.pitch_across.value > 0.0) {
      along += fmt::format("; across, {}: {}", mm(shape.pitch_across),
                           contact_lobes(report, "pitch_across_per_wavelength", "the pitch across", shape.pitch_across, modes,
                                         probe.centre_frequency));
    }
    report.row("pitch", along);
  }
  if (all_the_same) return;
  const Metres apart = transmit.shape.pitch;
  report.values["firing"] = std::count(roles.transmit.begin(), roles.transmit.end(), true);
  if (transmit.shape.even && apart.value > 0.0) {
    report.values["firing_pitch"] = apart.value;
    if (wet) {
      const double waves = apart / wavelength_of(plan.scene.couplant, probe.centre_frequency);
      report.values["firing_pitch_per_wavelength"]["couplant"] = waves;
      text += fmt::format(", {:.3g} wavelengths of the couplant", waves);
    } else {
      text += ": " + contact_lobes(report, "firing_pitch_per_wavelength", "the way out alone: the distance of elements that fire",
                                   apart, modes, probe.centre_frequency);
    }
  }
  report.row("firing", text);
}

}  // namespace echoform
