#include "delay_laws/ray_departures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "delay_laws/field_portions.hpp"
#include "delay_laws/grid_places.hpp"
#include "rays/ray_field.hpp"

namespace echoform {
namespace {

constexpr double unreached = std::numeric_limits<double>::quiet_NaN();

/// Distance by which sources are moved, metres. With it, rounding of 1e-12 s (ray fields) makes an error of 6e-5 in a cosine in
/// metal. The third derivative of T adds less than 1e-4 where legs are longer than 2 mm.
constexpr double longest_step = 5e-5;
constexpr double shortest_step = 1e-6;
/// Cosines from the sources behind and ahead that differ by more than this do not belong to one ray. On one ray, a step changes
/// the cosine by about the step over the leg's length.
constexpr double same_ray = 0.02;

/// Cosine from the times of the sources behind, at and ahead of the source; nothing where these do not belong to one ray.
std::optional<double> cosine_of(double back, double here, double ahead, double step, double velocity) {
  if (std::isnan(here)) return unreached;
  const double behind = velocity * (back - here) / step;
  const double before = velocity * (here - ahead) / step;
  if (!(std::abs(behind - before) < same_ray)) return std::nullopt;
  return std::clamp(0.5 * (behind + before), -1.0, 1.0);
}

/// Cosine where no ray gives its place: that of the two sides which can be a cosine, and the smaller one where both can.
double nearest_cosine(double back, double here, double ahead, double step, double velocity) {
  double found = unreached;
  for (const double side : {velocity * (back - here) / step, velocity * (here - ahead) / step}) {
    if (std::abs(side) <= 1.0 && !(std::abs(side) >= std::abs(found))) found = side;
  }
  return found;
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

/// Distance from a source to the surface to which its waves travel, m.
double room_before(const RayPath& path, const Point& source) {
  if (path.interfaces.empty()) return longest_step;
  const RayInterface& first = path.interfaces.front();
  if (first.spatial != nullptr) return std::abs(first.spatial->signed_distance(vector_of(source)));
  return std::abs(first.surface->signed_distance({source.x.value, source.z.value}));
}

}  // namespace

RayDepartures::RayDepartures(const Probe& probe, const RayPath& path, const PartBounds& bounds) : path_(path), bounds_(bounds) {
  for (const Element& element : probe.elements) {
    Source source;
    source.centre = source.back = source.ahead = element.centre;
    // The step does not reach the surface to which the wave travels, if the distance permits a step.
    const double room = room_before(path, element.centre);
    source.step = std::clamp(0.25 * room, shortest_step, longest_step);
    const Direction& n = element.normal;
    const double size = length(vector_of(n));
    const double scale = source.step / size;
    source.normal = (1.0 / size) * vector_of(n);
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
  const PointsInPart in_part(bounds_, pixels);
  const std::vector<std::size_t>& asked = in_part.number;
  const std::vector<Point>& points = in_part.place;
  std::ranges::fill(cosines, unreached);
  const Source& from = sources_[source];
  if (path_.in_space()) {
    std::vector<Vector3> places(points.size());
    const bool told = make_ray_field(path_, {from.centre})->first_places(0, 1, points, places);
    for (std::size_t k = 0; k < points.size(); ++k)
      cosines[asked[k]] = told ? to_place(from, places[k], points[k]) : by_differences(from, points[k]);
    return;
  }
  RaySolver here(path_, from.centre);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool in_plane = points[k].y == from.centre.y;
    cosines[asked[k]] = in_plane ? along_ray(from, here.trace_to(points[k])) : by_differences(from, points[k]);
  }
}

double RayDepartures::by_differences(const Source& from, const Point& pixel) const {
  const double time = RaySolver(path_, from.centre).time_to(pixel);
  const double back = RaySolver(path_, from.back).time_to(pixel);
  const double ahead = RaySolver(path_, from.ahead).time_to(pixel);
  const auto cosine = cosine_of(back, time, ahead, from.step, velocity().value);
  return cosine ? *cosine : nearest_cosine(back, time, ahead, from.step, velocity().value);
}

double RayDepartures::to_place(const Source& from, Vector3 place, const Point& pixel) const {
  if (std::isnan(place.x)) return unreached;
  const Vector3 way = place - vector_of(from.centre);
  const double distance = length(way);
  // Places are accurate to 1e-9 m.
  if (distance < shortest_step) return by_differences(from, pixel);
  return std::clamp(dot(way, from.normal) / distance, -1.0, 1.0);
}

double RayDepartures::along_ray(const Source& from, const RayTrace& ray) {
  if (std::isnan(ray.seconds)) return unreached;
  const Vector2 way = ray.crossings.front().at - Vector2{from.centre.x.value, from.centre.z.value};
  const double distance = length(way);
  return distance > 0.0 ? std::clamp((way.x * from.normal.x + way.z * from.normal.z) / distance, -1.0, 1.0) : 1.0;
}

std::unique_ptr<const Departures> RayDepartures::tabulated(const Grid& grid, const PartPixels& pixels, std::size_t threads,
                                                           SimdLevel level) const {
  auto table = std::make_unique<DepartureTable>(std::make_unique<RayDepartures>(*this), grid, sources_.size());
  std::array<std::vector<Point>, 3> places;
  for (const Source& source : sources_) {
    places[0].push_back(source.back);
    places[1].push_back(source.centre);
    places[2].push_back(source.ahead);
  }
  std::array<std::unique_ptr<RayField>, 3> fields;
  for (std::size_t k = 0; k < fields.size(); ++k) fields[k] = make_ray_field(path_, std::move(places[k]), level);

  const bool tells_places = fields[1]->first_places(0, 0, {}, {});
  const ImagedPixels imaged(grid, pixels);
  over_portions_and_pixels(
      *fields[1], sources_.size(), threads, imaged.points.size(),
      [&](std::size_t first, std::size_t last, std::size_t from, std::size_t to) {
        const auto points = std::span(imaged.points).subspan(from, to - from);
        if (tells_places) {
          std::vector<Vector3> first_places((last - first) * points.size());
          fields[1]->first_places(first, last, points, first_places);
          for (std::size_t source = first; source < last; ++source) {
            const std::span<float> row = table->row(source);
            for (std::size_t k = 0; k < points.size(); ++k) {
              const Vector3 place = first_places[(source - first) * points.size() + k];
              row[imaged.place[from + k]] = static_cast<float>(to_place(sources_[source], place, points[k]));
            }
          }
          return;
        }
        std::array<std::vector<double>, 3> seconds;
        for (std::size_t k = 0; k < fields.size(); ++k) {
          seconds[k].resize((last - first) * points.size());
          fields[k]->times(first, last, points, seconds[k]);
        }
        std::vector<std::size_t> unsure;
        std::vector<Point> asked;
        std::vector<double> told;
        for (std::size_t source = first; source < last; ++source) {
          const std::span<float> row = table->row(source);
          unsure.clear();
          asked.clear();
          for (std::size_t k = 0; k < points.size(); ++k) {
            const std::size_t at = (source - first) * points.size() + k;
            const auto cosine =
                cosine_of(seconds[0][at], seconds[1][at], seconds[2][at], sources_[source].step, velocity().value);
            if (cosine) {
              row[imaged.place[from + k]] = static_cast<float>(*cosine);
            } else {
              unsure.push_back(k);
              asked.push_back(points[k]);
            }
          }
          if (unsure.empty()) continue;
          told.resize(unsure.size());
          cosines(source, asked, told);
          for (std::size_t k = 0; k < unsure.size(); ++k) {
            const std::size_t at = (source - first) * points.size() + unsure[k];
            // On the very edge of a shadow, a field and the solver may disagree on whether there is a ray.
            if (std::isnan(told[k]))
              told[k] = nearest_cosine(seconds[0][at], seconds[1][at], seconds[2][at], sources_[source].step, velocity().value);
            row[imaged.place[from + unsure[k]]] = static_cast<float>(told[k]);
          }
        }
      });
  return table;
}

}  // namespace echoform
