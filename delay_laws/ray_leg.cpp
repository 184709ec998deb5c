#include "delay_laws/ray_leg.hpp"

#include <algorithm>
#include <limits>

#include "base/errors.hpp"
#include "delay_laws/law_of_view.hpp"
#include "delay_laws/ray_departures.hpp"
#include "delay_laws/tabulated_leg.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
class RayLeg final : public Leg, public std::enable_shared_from_this<RayLeg> {
 public:
  RayLeg(const Probe& probe, RayPath path, PartBounds bounds, SimdLevel level)
      : path_(std::move(path)), bounds_(std::move(bounds)), departures_(probe, path_, bounds_), level_(level) {
    for (const Element& element : probe.elements) origins_.push_back(element.centre);
  }

  [[nodiscard]] std::size_t sources() const noexcept override { return origins_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const PointsInPart in_part(bounds_, pixels);
    std::vector<double> found(in_part.place.size());
    RaySolver(path_, origins_[source]).times_to(in_part.place, found);
    std::ranges::fill(seconds, none);
    for (std::size_t k = 0; k < found.size(); ++k) seconds[in_part.number[k]] = found[k];
  }

  [[nodiscard]] std::shared_ptr<const Leg> tabulated(const Grid& grid, std::size_t threads, Seconds tolerance = Seconds(0.0),
                                                     bool with_departures = false) const override {
    PartPixels pixels = pixels_in(bounds_, grid, threads);
    std::unique_ptr<const Departures> departures;
    if (with_departures) departures = departures_.tabulated(grid, pixels, threads, level_);
    return tabulate(shared_from_this(), grid, {make_ray_field(path_, origins_, level_), std::move(pixels)}, threads, tolerance,
                    std::move(departures));
  }

  [[nodiscard]] const Departures* departures() const override { return &departures_; }

  [[nodiscard]] std::size_t table_bytes(const Grid& grid, bool with_departures = false) const override {
    return (with_departures ? 2 : 1) * leg_table_bytes(sources(), grid);
  }

 private:
  std::vector<Point> origins_;
  RayPath path_;
  PartBounds bounds_;
  RayDepartures departures_;
  SimdLevel level_;
};

}  // namespace

std::shared_ptr<const Surface> front_surface(const Scene& scene) {
  if (scene.surface != nullptr || scene.spatial_surface != nullptr) return scene.surface;
  static const std::shared_ptr<const Surface> flat =
      make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}});
  return flat;
}

RayPath path_in_part(const std::string& modes, const Material& material, const Scene& scene) {
  RayPath path;
  for (std::size_t leg = 0; leg < modes.size(); ++leg) {
    path.velocities.push_back(velocity_of_mode(modes[leg], material));
    if (leg + 1 == modes.size()) break;
    if (!scene.has_backwall()) {
      throw InputError("[backwall] kind", "no backwall", "one for a view that skips: its rays are reflected there");
    }
    const bool at_backwall = leg % 2 == 0;
    path.interfaces.push_back({at_backwall ? scene.backwall : front_surface(scene), true, !at_backwall,
                               at_backwall ? scene.spatial_backwall : scene.spatial_surface});
  }
  return path;
}

std::shared_ptr<const Leg> make_ray_leg(const Probe& probe, RayPath path, PartBounds bounds, SimdLevel level) {
  return std::make_shared<RayLeg>(probe, std::move(path), std::move(bounds), level);
}

}  // namespace echoform
