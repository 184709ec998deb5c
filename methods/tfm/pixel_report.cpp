// The part of a setup's report about the pixels: how much of a point between them an image shows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/filter_settings.hpp"
#include "methods/point_spread.hpp"
#include "methods/tfm/report_parts.hpp"

namespace echoform {
namespace {

constexpr double most_loss = 2.0;  // dB
/// A small tolerance for sizes that are meant to fit exactly.
constexpr double rounding = 1e-3;  // dB
/// Maximum number of rays that are summed: so many give a point's spread as well as all rays of a large array.
constexpr std::size_t most_rays = 512;

/// Keeps every k-th ray, with k odd. Rows of an array mostly have an even number of elements, and all columns shall remain.
void thin(std::vector<SpotRay>& rays) {
  const std::size_t step = rays.size() / most_rays + 1;
  if (step == 1) return;
  const std::size_t odd = step | 1U;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < rays.size(); k += odd) rays[kept++] = rays[k];
  rays.resize(kept);
}

struct At {
  std::string view;
  Point place;
};

/// "0.32 mm (lambda / 3.9) in LL at (0, 5) mm".
std::string edge_text(Metres edge, Metres wavelength, const At& at) {
  return fmt::format("{} (lambda / {:.2g}) in {} at {}", mm(edge), wavelength / edge, at.view, place_text(at.place));
}

}  // namespace

void report_pixels(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach) {
  const Probe& probe = plan.acquisition.probe;
  const bool known = probe.bandwidth.value > 0.0;
  const Hertz bandwidth = known ? probe.bandwidth : usual_bandwidth * probe.centre_frequency;
  const auto spectrum = pulse_spectrum(probe.centre_frequency, bandwidth, response_of(plan.filter));
  if (spectrum.empty()) return;
  const RaySpace space = space_of(plan);
  const bool volume = space == RaySpace::volume;
  const Metres x = plan.grid.x.spacing();
  const Metres y = volume ? plan.grid.y.spacing() : Metres();
  const Metres z = plan.grid.z.spacing();
  CoarsestPixel coarsest{Metres(std::numeric_limits<double>::infinity()), Metres(std::numeric_limits<double>::infinity())};
  At envelope_at;
  At oscillating_at;
  Metres envelope_wavelength;
  Metres oscillating_wavelength;
  double loss = 0.0;
  At loss_at;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    for (const Point& place : reach[view].places) {
      auto rays = rays_at(plan, view, place);
      if (!rays) continue;
      thin(rays->transmit);
      thin(rays->receive);
      const Meeting meeting = rays->meeting(spectrum);
      const Metres wavelength(1.0 / (rays->slowest * probe.centre_frequency.value));
      const At at{plan.laws[view].view, place};
      const CoarsestPixel found = coarsest_pixel(meeting, most_loss, space);
      if (found.envelope < coarsest.envelope) {
        coarsest.envelope = found.envelope;
        envelope_wavelength = wavelength;
        envelope_at = at;
      }
      if (found.oscillating < coarsest.oscillating) {
        coarsest.oscillating = found.oscillating;
        oscillating_wavelength = wavelength;
        oscillating_at = at;
      }
      const double here = pixel_loss(meeting, {x, y, z}).envelope;
      if (here > loss) {
        loss = here;
        loss_at = at;
      }
    }
  }
  if (!std::isfinite(coarsest.envelope.value) || !std::isfinite(coarsest.oscillating.value)) return;
  report.row("coarsest", fmt::format("pixels of {} for envelopes within {:g} dB, of {} for oscillating images{}",
                                     edge_text(coarsest.envelope, envelope_wavelength, envelope_at), most_loss,
                                     edge_text(coarsest.oscillating, oscillating_wavelength, oscillating_at),
                                     known ? "" : "; for a bandwidth of 60 %, since none is stated"));
  report.values["coarsest_pixel"] = {{"envelope", coarsest.envelope.value},
                                     {"oscillating", coarsest.oscillating.value},
                                     {"view", envelope_at.view},
                                     {"at", {envelope_at.place.x.value, envelope_at.place.z.value}}};
  report.values["pixel"] = {{"x", x.value}, {"z", z.value}};
  if (volume) report.values["pixel"]["y"] = y.value;
  report.values["pixel_loss_db"] = std::isfinite(loss) ? nlohmann::json(loss) : nlohmann::json(nullptr);
  if (loss <= most_loss + rounding) return;
  const auto wanted = [&](const Axis& axis) {
    if (axis.spacing() <= coarsest.envelope) return axis.count;
    return 2 + static_cast<std::size_t>((axis.last - axis.first) / coarsest.envelope);
  };
  report.warnings.push_back(
      fmt::format("pixels of {}{} by {} are too coarse: an echo between them can lose {} in {} at {}; {}{} x {} "
                  "pixels lose at most {:g} dB",
                  mm(x), volume ? " by " + mm(y) : "", mm(z), loss < 100.0 ? fmt::format("{:.1f} dB", loss) : std::string("all"),
                  loss_at.view, place_text(loss_at.place), wanted(plan.grid.x),
                  volume ? fmt::format(" x {}", wanted(plan.grid.y)) : "", wanted(plan.grid.z), most_loss));
}

}  // namespace echoform
