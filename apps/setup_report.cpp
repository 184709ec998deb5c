#include "apps/setup_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/gate.hpp"
#include "delay_laws/view.hpp"
#include "pipeline/errors.hpp"
#include "pipeline/words.hpp"

namespace echoform {
namespace {

using nlohmann::json;

struct Mode {
  char letter;
  MetresPerSecond velocity;
  bool used;  // by a view
};

/// Modes at the pixel, of both sides, by view. A law of another program may call its views what it likes.
std::optional<std::pair<char, char>> modes_at_pixel(const std::string& name) {
  try {
    const View view = parse_view(name);
    return std::pair{view.transmit.back(), view.receive.back()};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool uses(const ImagingPlan& plan, char letter) {
  return std::any_of(plan.laws.begin(), plan.laws.end(), [&](const DelayLaw& law) {
    return law.view.find(letter) != std::string::npos || !modes_at_pixel(law.view);
  });
}

std::string mm(Metres length) {
  return fmt::format("{:.4g} mm", 1e3 * length.value);
}

/// One text for all modes: "L 1.264 mm, T 0.626 mm".
template <class Text>
std::string for_modes(const std::vector<Mode>& modes, Text&& text) {
  std::string all;
  for (const Mode& mode : modes) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", mode.letter, text(mode));
  return all;
}

struct Geometry {
  Metres aperture;
  Metres stand_off;  // of the aperture's centre above the part; 0 for contact
  Metres depth;      // of the grid's middle below the part's surface, or below the elements
};

Geometry geometry_of(const ImagingPlan& plan, const Scene& scene) {
  const auto& elements = plan.acquisition.probe.elements;
  const Point centre{0.5 * (elements.front().centre.x + elements.back().centre.x), Metres(),
                     0.5 * (elements.front().centre.z + elements.back().centre.z)};
  const Metres middle = 0.5 * (plan.grid.z.first + plan.grid.z.last);
  Geometry found{aperture_of(plan.acquisition.probe), Metres(), middle - centre.z};
  if (scene.couplant.value > 0.0 && scene.surface != nullptr) {
    found.stand_off = Metres(-scene.surface->signed_distance({centre.x.value, centre.z.value}));
    found.depth = Metres(scene.surface->signed_distance({centre.x.value, middle.value}));
  }
  return found;
}

void report_waves(SetupReport& report, const ImagingPlan& plan, const Scene& scene, const std::vector<Mode>& modes,
                  Hertz frequency) {
  const MetresPerSecond couplant = scene.couplant;
  std::string text = for_modes(modes, [&](const Mode& mode) { return mm(wavelength_of(mode.velocity, frequency)); });
  for (const Mode& mode : modes) {
    report.values["wavelength"][std::string(1, mode.letter)] = wavelength_of(mode.velocity, frequency).value;
  }
  if (couplant.value > 0.0) {
    text += fmt::format(", couplant {}", mm(wavelength_of(couplant, frequency)));
    report.values["wavelength"]["couplant"] = wavelength_of(couplant, frequency).value;
  }
  report.row("wavelength", text);

  const Geometry geometry = geometry_of(plan, scene);
  report.row("near field", for_modes(modes, [&](const Mode& mode) {
                             const Metres length = near_field_length(geometry.aperture, wavelength_of(mode.velocity, frequency));
                             report.values["near_field"][std::string(1, mode.letter)] = length.value;
                             return mm(length);
                           }) + "; D^2 / (4 lambda)");
  if (geometry.depth.value > 0.0) {
    report.row(
        "lateral",
        for_modes(modes, [&](const Mode& mode) {
          const Metres depth = apparent_depth(geometry.depth, geometry.stand_off, scene.couplant, mode.velocity);
          const Metres width = lateral_resolution(geometry.aperture, depth, wavelength_of(mode.velocity, frequency));
          report.values["lateral_resolution"][std::string(1, mode.letter)] = width.value;
          return mm(width);
        }) + fmt::format(" at -6 dB, {} deep, below the aperture's centre; 0.886 lambda / (2 sin theta)", mm(geometry.depth)));
  }
}

void report_axial(SetupReport& report, const ImagingPlan& plan, const std::vector<Mode>& modes) {
  const Hertz bandwidth = plan.acquisition.probe.bandwidth;
  if (!(bandwidth.value > 0.0)) {
    report.row("axial", "not known without the pulse's bandwidth ([probe] bandwidth)");
    return;
  }
  const auto velocity = [&](char letter) {
    return std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) { return mode.letter == letter; })->velocity;
  };
  std::string text;
  for (const DelayLaw& law : plan.laws) {
    const auto at_pixel = modes_at_pixel(law.view);
    if (!at_pixel) continue;
    const Metres width = axial_resolution(velocity(at_pixel->first), velocity(at_pixel->second), bandwidth);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", law.view, mm(width));
    report.values["axial_resolution"][law.view] = width.value;
  }
  if (!text.empty()) report.row("axial", text + " at -6 dB; 0.8825 / bandwidth / (1 / c_tx + 1 / c_rx)");
}

void report_lobes(SetupReport& report, const ImagingPlan& plan, const std::vector<Mode>& modes, Hertz frequency) {
  const Metres pitch = pitch_of(plan.acquisition.probe);
  if (!(pitch.value > 0.0)) return;
  report.row(
      "pitch",
      mm(pitch) + ": " + for_modes(modes, [&](const Mode& mode) {
        const Metres wavelength = wavelength_of(mode.velocity, frequency);
        const auto lobe = grating_lobe(pitch, wavelength);
        report.values["pitch_per_wavelength"][std::string(1, mode.letter)] = pitch / wavelength;
        if (lobe && lobe->straight_ahead && mode.used) {
          report.warnings.push_back(fmt::format(
              "the pitch of {} is above a wavelength of mode {}, {}: grating lobes, at {:.0f} degrees for a beam straight ahead",
              mm(pitch), mode.letter, mm(wavelength), lobe->degrees));
        }
        const std::string text = fmt::format("{:.3g} wavelengths", pitch / wavelength);
        if (!lobe) return text + " (no grating lobes)";
        if (lobe->straight_ahead) return text + " (a grating lobe at every angle)";
        return text + fmt::format(" (grating lobes beyond {:.0f} degrees)", lobe->degrees);
      }));
}

void report_pixels(SetupReport& report, const ImagingPlan& plan, const std::vector<Mode>& modes, Hertz frequency) {
  Metres shortest{};
  for (const Mode& mode : modes) {
    const Metres wavelength = wavelength_of(mode.velocity, frequency);
    if (mode.used && (shortest.value == 0.0 || wavelength < shortest)) shortest = wavelength;
  }
  if (shortest.value == 0.0) return;
  const Metres envelope = shortest / pixels_per_wavelength_envelope;
  const Metres oscillating = shortest / pixels_per_wavelength_oscillating;
  report.row("coarsest", fmt::format("{} (lambda / 3.3) for envelopes within 2 dB, {} (lambda / 10) for oscillating images",
                                     mm(envelope), mm(oscillating)));
  report.values["coarsest_pixel"] = {{"envelope", envelope.value}, {"oscillating", oscillating.value}};
  for (const auto& [name, axis] : {std::pair{"x", plan.grid.x}, std::pair{"z", plan.grid.z}}) {
    const Metres step = axis.count > 1 ? (axis.last - axis.first) / static_cast<double>(axis.count - 1) : Metres();
    report.values["pixel"][name] = step.value;
    // A hair's breadth for sizes that are meant to fit exactly.
    if (step <= 1.000001 * envelope) continue;
    const auto wanted = 2 + static_cast<std::size_t>((axis.last - axis.first) / envelope);
    report.warnings.push_back(
        fmt::format("pixels of {} along {} are coarser than {}: an echo between them can lose more than 2 dB; {} pixels would do",
                    mm(step), name, mm(envelope), wanted));
  }
}

void report_samples(SetupReport& report, const ImagingPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  const SampleGate imaged = plan.imaged_samples();
  const auto reach = samples_reached(plan);
  const double last = static_cast<double>(acquisition.samples) - 1.0;
  report.row("samples", fmt::format("{} to {} of {} are imaged ({:.4g} MHz)", imaged.first, imaged.first + imaged.count - 1,
                                    acquisition.samples, 1e-6 * acquisition.sample_rate.value) +
                            (reach ? fmt::format("; pixels look up {:.0f} to {:.0f}", reach->first, reach->last) : ""));
  report.values["samples"] = {{"count", acquisition.samples}, {"first", imaged.first}, {"imaged", imaged.count}};
  if (reach) {
    report.values["samples"]["reached"] = {reach->first, reach->last};
    if (reach->last > last) {
      report.warnings.push_back(fmt::format(
          "the image asks for samples up to {:.0f}, the A-scan ends with {:.0f}: what lies there stays dark", reach->last, last));
    }
    if (reach->first < 0.0) {
      report.warnings.push_back(fmt::format(
          "the image asks for samples from {:.0f} on, before the A-scan begins: what lies there stays dark", reach->first));
    }
  }
  const std::size_t bytes = acquisition.frame_bytes();
  report.row("frame", fmt::format("{:.4g} MB: {} A-scans of {} samples, {}", 1e-6 * static_cast<double>(bytes),
                                  acquisition.a_scans(), acquisition.samples, words::sample_encoding.of(acquisition.encoding)));
  report.values["frame_bytes"] = bytes;
}

}  // namespace

SetupReport report_setup(const ImagingPlan& plan, const Scene& scene) {
  SetupReport report;
  const Probe& probe = plan.acquisition.probe;
  std::vector<Mode> modes;
  for (const Mode mode : {Mode{'L', plan.material.longitudinal_velocity, uses(plan, 'L')},
                          Mode{'T', plan.material.shear_velocity, uses(plan, 'T')}}) {
    if (mode.velocity.value > 0.0) modes.push_back(mode);
  }
  const Metres aperture = aperture_of(probe);
  std::string text = fmt::format("{} elements, aperture {}", probe.elements.size(), mm(aperture));
  if (probe.centre_frequency.value > 0.0) text += fmt::format(", {:.4g} MHz", 1e-6 * probe.centre_frequency.value);
  if (probe.bandwidth.value > 0.0) text += fmt::format(", bandwidth {:.4g} MHz", 1e-6 * probe.bandwidth.value);
  report.row("probe", text);
  report.values["elements"] = probe.elements.size();
  report.values["aperture"] = aperture.value;

  const auto step = [](const Axis& axis) {
    return axis.count > 1 ? (axis.last - axis.first) / static_cast<double>(axis.count - 1) : Metres();
  };
  report.row("image",
             fmt::format("{} x {} pixels of {} by {}, {} view{}", plan.grid.x.count, plan.grid.z.count, mm(step(plan.grid.x)),
                         mm(step(plan.grid.z)), plan.laws.size(), plan.laws.size() == 1 ? "" : "s"));
  if (probe.centre_frequency.value > 0.0) {
    report_waves(report, plan, scene, modes, probe.centre_frequency);
    report_axial(report, plan, modes);
    report_lobes(report, plan, modes, probe.centre_frequency);
    report_pixels(report, plan, modes, probe.centre_frequency);
  } else {
    report.warnings.emplace_back(
        "the centre frequency is not known ([probe] centre_frequency): wavelengths and what follows from them are left out");
    report_axial(report, plan, modes);
  }
  report_samples(report, plan);
  return report;
}

}  // namespace echoform
