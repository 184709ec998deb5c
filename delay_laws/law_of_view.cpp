#include "delay_laws/law_of_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "delay_laws/view_kind.hpp"

namespace echoform {

DelayLaw law_of_view(const DelayLawRequest& request, const LegMaker& make) {
  const LegMaker shared = [&](const std::string& modes) { return request.legs->get(modes, make); };
  DelayLaw law;
  if (const ViewKind* kind = find_view_kind(request.view)) {
    law = kind->make(request, shared);
  } else {
    const View view = parse_view(request.view);
    law.transmit = shared(view.transmit);
    law.receive = shared(view.receive);
  }
  law.view = request.view;
  return law;
}

MetresPerSecond velocity_of_mode(char mode, const Material& material) {
  const bool longitudinal = mode == 'L';
  const MetresPerSecond velocity = longitudinal ? material.longitudinal_velocity : material.shear_velocity;
  if (!(velocity.value > 0.0) || !std::isfinite(velocity.value)) {
    throw InputError(longitudinal ? "[material] longitudinal_velocity" : "[material] shear_velocity",
                     velocity.value == 0.0 ? "none" : fmt::format("{} m/s", velocity.value),
                     "a positive velocity, which the view needs");
  }
  return velocity;
}

}  // namespace echoform
