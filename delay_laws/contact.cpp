#include "delay_laws/contact.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "delay_laws/law_of_view.hpp"
#include "delay_laws/ray_leg.hpp"

namespace echoform {
namespace {

class StraightLeg final : public Leg {
 public:
  StraightLeg(const Probe& probe, MetresPerSecond velocity) : velocity_(velocity) {
    for (const Element& element : probe.elements) origins_.push_back(element.centre);
  }

  [[nodiscard]] std::size_t sources() const noexcept override { return origins_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point origin = origins_[source];
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const double dx = (pixels[i].x - origin.x).value;
      const double dy = (pixels[i].y - origin.y).value;
      const double dz = (pixels[i].z - origin.z).value;
      seconds[i] = std::sqrt(dx * dx + dy * dy + dz * dz) / velocity_.value;
    }
  }

  [[nodiscard]] std::optional<PointSourceForm> point_source(std::size_t source) const override {
    return PointSourceForm{origins_[source], velocity_, Seconds(0.0)};
  }

 private:
  std::vector<Point> origins_;
  MetresPerSecond velocity_;
};

}  // namespace

DelayLaw make_contact_law(const DelayLawRequest& request) {
  if (request.scene.couplant.value > 0.0) {
    throw InputError("[couplant] velocity", fmt::format("{:g} m/s with delay_law = \"contact\"", request.scene.couplant.value),
                     "no couplant, or [imaging] delay_law = \"immersion\"");
  }
  const Probe& probe = request.acquisition.probe;
  return law_of_view(request, [&](const std::string& modes) -> std::shared_ptr<const Leg> {
    if (modes.size() == 1) return std::make_shared<StraightLeg>(probe, velocity_of_mode(modes.front(), request.material));
    return make_ray_leg(
        probe, path_in_part(modes, request.material, request.scene),
        {request.scene.surface, request.scene.backwall, request.scene.spatial_surface, request.scene.spatial_backwall});
  });
}

}  // namespace echoform
