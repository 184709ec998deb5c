#include "delay_laws/ray_leg.hpp"

#include <algorithm>
#include <limits>

#include "base/errors.hpp"
#include "delay_laws/law_of_view.hpp"
#include "delay_laws/over_sources.hpp"
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
    std::vector<std::uint8_t> inside(pixels.size());
    bounds_.holds(pixels, inside);
    std::vector<Point> asked;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (inside[k] != 0) asked.push_back(pixels[k]);
    }
    std::vector<double> found(asked.size());
    RaySolver(path_, origins_[source]).times_to(asked, found);
    std::size_t next = 0;
    for (std::size_t k = 0; k < pixels.size(); ++k) seconds[k] = inside[k] != 0 ? found[next++] : none;
  }

  [[nodiscard]] std::shared_ptr<const Leg> tabulated(const Grid& grid, std::size_t threads, Seconds tolerance = Seconds(0.0),
                                                     bool with_departures = false) const override {
    const std::vector<Point> points = grid.points();
    std::vector<std::uint8_t> inside(points.size());
    constexpr std::size_t at_once = 1024;
    over_sources((points.size() + at_once - 1) / at_once, threads, [&](std::size_t k) {
      const std::size_t count = std::min(at_once, points.size() - k * at_once);
      bounds_.holds(std::span(points).subspan(k * at_once, count), std::span(inside).subspan(k * at_once, count));
    });
    std::unique_ptr<const Departures> departures;
    if (with_departures) departures = departures_.tabulated(grid, inside, threads, level_);
    return tabulate(shared_from_this(), grid, {make_ray_field(path_, origins_, level_), std::move(inside)}, threads, tolerance,
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
