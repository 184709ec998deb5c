#include "delay_laws/law_of_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/errors.hpp"

namespace echoform {

DelayLaw law_of_view(const DelayLawRequest& request, const LegMaker& make) {
  const View view = parse_view(request.view);
  DelayLaw law;
  law.view = request.view;
  law.transmit = request.legs->get(view.transmit, make);
  law.receive = request.legs->get(view.receive, make);
  return law;
}

MetresPerSecond velocity_of_mode(char mode, const Material& material) {
  const bool longitudinal = mode == 'L';
  const MetresPerSecond velocity = longitudinal ? material.longitudinal_velocity : material.shear_velocity;
  if (!(velocity.value > 0.0) || !std::isfinite(velocity.value)) {
    throw InputError(longitudinal ? "[material] longitudinal_velocity" : "[material] shear_velocity",
                     fmt::format("{} m/s", velocity.value), "a positive velocity, which the view needs");
  }
  return velocity;
}

}  // namespace echoform
