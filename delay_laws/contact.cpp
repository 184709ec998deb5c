#include "delay_laws/contact.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/errors.hpp"

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

MetresPerSecond velocity_of(char mode, const Material& material) {
  const bool longitudinal = mode == 'L';
  const MetresPerSecond velocity = longitudinal ? material.longitudinal_velocity : material.shear_velocity;
  if (!(velocity.value > 0.0) || !std::isfinite(velocity.value)) {
    throw InputError(longitudinal ? "[material] longitudinal_velocity" : "[material] shear_velocity",
                     fmt::format("{} m/s", velocity.value), "a positive velocity, which the view needs");
  }
  return velocity;
}

}  // namespace

DelayLaw make_contact_law(const DelayLawRequest& request) {
  std::string modes = request.view;
  if (modes.size() == 3 && modes[1] == '-') modes.erase(1, 1);
  if (modes.size() != 2 || modes.find_first_not_of("LT") != std::string::npos) {
    throw InputError("[imaging] views", fmt::format("\"{}\"", request.view), "LL, LT, TL or TT for the contact law");
  }
  DelayLaw law;
  law.view = request.view;
  law.transmit = std::make_shared<StraightLeg>(request.acquisition.probe, velocity_of(modes[0], request.material));
  law.receive = modes[0] == modes[1]
                    ? law.transmit
                    : std::make_shared<StraightLeg>(request.acquisition.probe, velocity_of(modes[1], request.material));
  return law;
}

}  // namespace echoform
