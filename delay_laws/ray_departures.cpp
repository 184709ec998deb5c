#include "delay_laws/ray_departures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "delay_laws/grid_places.hpp"
#include "delay_laws/over_sources.hpp"
#include "rays/ray_field.hpp"

namespace echoform {
namespace {

constexpr double unreached = std::numeric_limits<double>::quiet_NaN();

/// How far sources are moved, metres: a tenth of a wavelength of water at 5 MHz and less. Rounding of 1e-12 s (ray fields) then
/// makes 6e-5 of a cosine in metal, and the third derivative of T less than 1e-4 where legs are longer than 2 mm.
constexpr double longest_step = 5e-5;
constexpr double shortest_step = 1e-6;

/// From the times of the sources behind, in its place and ahead.
double cosine_of(double back, double here, double ahead, double step, double velocity) {
  if (std::isnan(here)) return unreached;
  const double both = velocity * (back - ahead) / (2.0 * step);
  if (!std::isnan(both)) return both;
  const double behind = velocity * (back - here) / step;
  return std::isnan(behind) ? velocity * (here - ahead) / step : behind;
}

class DepartureTable final : public Departures {
 public:
  DepartureTable(std::unique_ptr<const Departures> otherwise, const Grid& grid, std::size_t sources)
      : otherwise_(std::move(otherwise)),
        places_(grid),
        pixels_(grid.pixels()),
        table_(sources * pixels_, std::numeric_limits<float>::quiet_NaN()) {}

  [[nodiscard]] MetresPerSecond velocity() const noexcept override { return otherwise_->velocity(); }

  void cosines(std::size_t source, std::span<const Point> pixels, std::span<double> cosines) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::size_t place = places_.find(pixels[k]);
      if (place == GridPlaces::nowhere) {
        otherwise_->cosines(source, pixels.subspan(k, 1), cosines.subspan(k, 1));
      } else {
        cosines[k] = static_cast<double>(table_[source * pixels_ + place]);
      }
    }
  }

  [[nodiscard]] std::span<float> row(std::size_t source) { return std::span(table_).subspan(source * pixels_, pixels_); }

 private:
  std::unique_ptr<const Departures> otherwise_;
  GridPlaces places_;
  std::size_t pixels_;
  std::vector<float> table_;  // [source, pixel]
};

}  // namespace

RayDepartures::RayDepartures(const Probe& probe, const RayPath& path, const PartBounds& bounds) : path_(path), bounds_(bounds) {
  for (const Element& element : probe.elements) {
    Source source;
    source.centre = source.back = source.ahead = element.centre;
    // Never as far as the surface that the wave is on its way to.
    const double room =
        path.interfaces.empty()
            ? longest_step
            : std::abs(path.interfaces.front().surface->signed_distance({element.centre.x.value, element.centre.z.value}));
    source.step = std::clamp(0.25 * room, shortest_step, longest_step);
    const Direction& n = element.normal;
    const double scale = source.step / std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    const auto move = [&](Point& place, double by) {
      place.x += Metres(by * n.x);
      place.y += Metres(by * n.y);
      place.z += Metres(by * n.z);
    };
    move(source.back, -scale);
    move(source.ahead, scale);
    sources_.push_back(source);
  }
}

void RayDepartures::cosines(std::size_t source, std::span<const Point> pixels, std::span<double> cosines) const {
  std::vector<std::uint8_t> inside(pixels.size());
  bounds_.holds(pixels, inside);
  const Source& from = sources_[source];
  RaySolver back(path_, from.back);
  RaySolver here(path_, from.centre);
  RaySolver ahead(path_, from.ahead);
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    cosines[k] = inside[k] == 0 ? unreached
                                : cosine_of(back.time_to(pixels[k]), here.time_to(pixels[k]), ahead.time_to(pixels[k]), from.step,
                                            velocity().value);
  }
}

std::unique_ptr<const Departures> RayDepartures::tabulated(const Grid& grid, std::span<const std::uint8_t> inside,
                                                           std::size_t threads, SimdLevel level) const {
  auto table = std::make_unique<DepartureTable>(std::make_unique<RayDepartures>(*this), grid, sources_.size());
  std::array<std::vector<Point>, 3> places;
  for (const Source& source : sources_) {
    places[0].push_back(source.back);
    places[1].push_back(source.centre);
    places[2].push_back(source.ahead);
  }
  std::array<std::unique_ptr<RayField>, 3> fields;
  for (std::size_t k = 0; k < fields.size(); ++k) fields[k] = make_ray_field(path_, std::move(places[k]), level);

  std::vector<std::size_t> place;
  std::vector<Point> imaged;
  for (std::size_t k = 0; k < inside.size(); ++k) {
    if (inside[k] == 0) continue;
    place.push_back(k);
    imaged.push_back(grid.at(k));
  }
  const RayField::Portion at_once = fields[1]->portion();
  const std::size_t groups = (sources_.size() + at_once.sources - 1) / at_once.sources;
  const std::size_t parts = (imaged.size() + at_once.points - 1) / at_once.points;
  over_sources(groups * parts, threads, [&](std::size_t portion) {
    const std::size_t first = portion / parts * at_once.sources;
    const std::size_t last = std::min(first + at_once.sources, sources_.size());
    const std::size_t from = portion % parts * at_once.points;
    const auto points = std::span(imaged).subspan(from, std::min(at_once.points, imaged.size() - from));
    std::array<std::vector<double>, 3> seconds;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      seconds[k].resize((last - first) * points.size());
      fields[k]->times(first, last, points, seconds[k]);
    }
    for (std::size_t source = first; source < last; ++source) {
      const std::span<float> row = table->row(source);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const std::size_t at = (source - first) * points.size() + k;
        row[place[from + k]] = static_cast<float>(
            cosine_of(seconds[0][at], seconds[1][at], seconds[2][at], sources_[source].step, velocity().value));
      }
    }
  });
  return table;
}

}  // namespace echoform
