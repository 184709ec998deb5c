#include "methods/tfm/standing_check.hpp"

#include <fmt/format.h>

#include <tuple>

#include "base/errors.hpp"
#include "config/probe_positions.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/view_kind.hpp"
#include "methods/display_settings.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/section.hpp"

namespace echoform {
namespace {

void check_axis(const ImagingSettings& settings, std::string_view key, const std::optional<std::array<Metres, 2>>& ends,
                std::size_t pixels) {
  if (!ends) return;
  const auto [first, last] = *ends;
  if (pixels == 1 ? first == last : first < last) return;
  throw InputError(fmt::format("{}: {}", settings.name(), key), fmt::format("[{}, {}]", first.value, last.value),
                   pixels == 1 ? "equal ends for one pixel" : "first < last");
}

/// Any acquisition would do: laws check names and velocities for every probe.
Acquisition nominal_acquisition() {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(16, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(50e6);
  return acquisition;
}

void check_laws(const ImagingSettings& settings, Material material) {
  if (settings.material.longitudinal_velocity) material.longitudinal_velocity = *settings.material.longitudinal_velocity;
  if (settings.material.shear_velocity) material.shear_velocity = *settings.material.shear_velocity;
  static_cast<void>(make_laws(settings, nominal_acquisition(), material, make_scene(settings)));
}

}  // namespace

void check_velocities(const ImagingSettings& settings, const Material& stated) {
  const double longitudinal = settings.material.longitudinal_velocity.value_or(stated.longitudinal_velocity).value;
  const double shear = settings.material.shear_velocity.value_or(stated.shear_velocity).value;
  bool named = false;
  for (const std::string& view : tfm(settings).views) {
    if (find_view_kind(view) != nullptr) {
      named = true;
      continue;
    }
    for (const auto& [mode, velocity, key] :
         {std::tuple{'L', longitudinal, "longitudinal_velocity"}, std::tuple{'T', shear, "shear_velocity"}}) {
      if (view.find(mode) == std::string::npos || velocity > 0.0) continue;
      throw InputError(fmt::format("{}: [material] {}", settings.name(), key), "no value",
                       fmt::format("a velocity in m/s, which view \"{}\" needs and senders do not state", view));
    }
  }
  // A view with a name of its own states the velocities that it needs when it is made.
  if (named) check_laws(settings, stated);
}

void check_without_data(const ImagingSettings& settings, const Material& stated) {
  check_velocities(settings, stated);
  check_laws(settings, stated);
  static_cast<void>(stated_positions(settings));
  const auto& pixels = settings.grid.pixels;
  check_axis(settings, "[grid] x", settings.grid.x, pixels.x);
  check_axis(settings, "[grid] z", settings.grid.z, pixels.z);
  check_axis(settings, "[grid] y", settings.grid.y, pixels.y);
  const auto& display = section<DisplaySection>(settings);
  check_axis(settings, "[display] x", display.x, display.pixels ? (*display.pixels)[0] : pixels.x);
  check_axis(settings, "[display] z", display.z, display.pixels ? (*display.pixels)[1] : pixels.z);
}

}  // namespace echoform
