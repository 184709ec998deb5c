#include "delay_laws/immersion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "delay_laws/law_of_view.hpp"
#include "delay_laws/ray_leg.hpp"

namespace echoform {

DelayLaw make_immersion_law(const DelayLawRequest& request) {
  const Scene& scene = request.scene;
  if (!(scene.couplant.value > 0.0) || !std::isfinite(scene.couplant.value)) {
    throw InputError("[couplant] velocity",
                     scene.couplant.value == 0.0 ? "no value" : fmt::format("{} m/s", scene.couplant.value),
                     "a velocity in m/s above 0, which delay_law = \"immersion\" needs");
  }
  const std::shared_ptr<const Surface> front = front_surface(scene);
  return law_of_view(request, [&](const std::string& modes) {
    RayPath path = path_in_part(modes, request.material, scene);
    path.velocities.insert(path.velocities.begin(), scene.couplant);
    path.interfaces.insert(path.interfaces.begin(), {front, false, false, scene.spatial_surface});
    // Beyond the backwall a direct view shows mirror images, which inspectors read; a skip shows nothing real there.
    return make_ray_leg(request.acquisition.probe, std::move(path),
                        {front, modes.size() > 1 ? scene.backwall : nullptr, scene.spatial_surface,
                         modes.size() > 1 ? scene.spatial_backwall : nullptr});
  });
}

}  // namespace echoform
