// Paths of LeastTimes that are reflected at the backwall and then at the front surface from below.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulators/least_search.hpp"
#include "simulators/least_time.hpp"

namespace echoform::simulated {
namespace {

/// Every other sample of the backwall suffices to begin with: places are narrowed down on both surfaces together.
constexpr std::size_t backwall_stride = 2;

/// Share of the distance between samples within which one place counts as lying on the other: ten times the error of places.
constexpr double beside = 0.01;

/// The distance between samples near a parameter.
double spacing_at(const SampledCurve& curve, double parameter) {
  const auto& u = curve.parameters();
  const auto after = std::upper_bound(u.begin() + 1, u.end() - 1, parameter);
  return *after - *(after - 1);
}

double distance_of_samples(const SampledCurve& curve, double parameter) {
  return distance(curve.at(parameter), curve.at(parameter + spacing_at(curve, parameter)));
}

bool at_an_end(const SampledCurve& curve, double parameter) {
  const auto& u = curve.parameters();
  const double near = beside * spacing_at(curve, parameter);
  return parameter < u.front() + near || parameter > u.back() - near;
}

}  // namespace

void LeastTimes::reach_underside(char first, char second) {
  const std::vector<std::vector<double>>& down = table(first);
  const auto& under = underside_->samples();
  auto& rows = from_below_[{first, second}];
  rows.assign(elements_.size(), std::vector<double>(under.size(), std::numeric_limits<double>::infinity()));
  const double slowness = 1.0 / velocity(second);
  std::vector<double> between(under.size());
  for (std::size_t k = 0; k < backwall_->samples().size(); k += backwall_stride) {
    for (std::size_t v = 0; v < under.size(); ++v) between[v] = distance(backwall_->samples()[k], under[v]) * slowness;
    for (std::size_t element = 0; element < elements_.size(); ++element) {
      const double to_backwall = down[element][k];  // NaN if there is no path; comparisons with it are false
      double* least = rows[element].data();
      for (std::size_t v = 0; v < between.size(); ++v) {
        const double time = to_backwall + between[v];
        least[v] = time < least[v] ? time : least[v];
      }
    }
  }
}

std::size_t LeastTimes::turn_before(std::size_t element, const std::string& modes, Place at) const {
  const std::vector<double>& down = table(modes[0])[element];
  const double slowness = 1.0 / velocity(modes[1]);
  std::size_t turn = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < down.size(); k += backwall_stride) {
    const double time = down[k] + distance(backwall_->samples()[k], at) * slowness;
    if (!(time < least)) continue;
    least = time;
    turn = k;
  }
  return turn;
}

bool LeastTimes::blocked(Place from, Place to) const {
  if (!backwall_->straight() && backwall_->blocks(from, to)) return true;
  return !underside_->straight() && underside_->blocks(from, to);
}

Ray LeastTimes::over_both(std::size_t element, const std::string& modes, Place to, std::size_t back, std::size_t under) const {
  const Place from = elements_[element];
  std::array<const SampledCurve*, most_curves> curves{};
  std::array<double, most_curves + 1> slowness{};
  Parameters at{};
  std::size_t count = 0;
  const auto meet = [&](const SampledCurve& curve, double parameter, double velocity_before) {
    curves[count] = &curve;
    slowness[count] = 1.0 / velocity_before;
    at[count++] = parameter;
  };
  if (surface_ != nullptr) {
    const auto& entries = modes[0] == 'L' ? entries_longitudinal_ : entries_shear_;
    meet(*surface_, entries[element][back], scene_.couplant.value);
  }
  meet(*backwall_, backwall_->parameters()[back], velocity(modes[0]));
  meet(*underside_, underside_->parameters()[under], velocity(modes[1]));
  slowness[count] = 1.0 / velocity(modes[2]);
  Parameters width{};
  for (std::size_t k = 0; k < count; ++k) width[k] = spacing_at(*curves[k], at[k]);
  const double time = narrow_down({from, to, std::span(curves).first(count), std::span(slowness).first(count + 1)}, at, width);
  if (std::isnan(time)) return {};

  // The places in the order of travel, and whether each surface is met from its right side and left on its right side.
  Ray ray;
  std::array<Place, most_curves + 2> places{from};
  for (std::size_t k = 0; k < count; ++k) {
    if (at_an_end(*curves[k], at[k])) return {};
    places[k + 1] = curves[k]->at(at[k]);
  }
  places[count + 1] = to;
  // If the backwall meets the front surface at the part's edge, the path between them vanishes there: the time is a minimum, but
  // there is no ray.
  if (distance(places[count - 1], places[count]) < beside * distance_of_samples(*underside_, at[count - 1])) return {};
  for (std::size_t k = 1; k <= count; ++k) {
    const bool entry = curves[k - 1] == surface_.get();
    const bool below = curves[k - 1] == underside_.get();
    const Place normal = curves[k - 1]->normal(at[k - 1]);
    const double arrives = towards(normal, places[k - 1], places[k]);
    const double leaves = towards(normal, places[k], places[k + 1]);
    if (below ? arrives > 0.0 : arrives < 0.0) return {};
    if (entry || below ? leaves < 0.0 : leaves > 0.0) return {};
    const double along = slowness_along(normal, places[k - 1], places[k], 1.0 / slowness[k - 1]);
    if (entry) {
      ray.share *= front_waves_.transmission(modes[0], along);
    } else if (!below) {
      ray.share *= back_waves_.reflection(modes[0], modes[1], along);
    } else {
      ray.share *= surface_ != nullptr ? front_waves_.reflection_from_below(modes[1], modes[2], along)
                                       : back_waves_.reflection(modes[1], modes[2], along);
    }
  }
  for (std::size_t k = 0; k <= count; ++k) {
    const bool in_couplant = surface_ != nullptr && k == 0;
    const Place& a = places[k];
    const Place& b = places[k + 1];
    if (in_couplant ? !underside_->straight() && underside_->blocks(a, b) : blocked(a, b)) return {};
    ray.reach += distance(a, b) * slowness[0] / slowness[k];
  }
  ray.time = time;
  ray.first = places[1];
  ray.last = places[count];
  if (surface_ != nullptr) ray.entry = at[0];
  return ray;
}

Ray LeastTimes::double_skip(std::size_t element, const std::string& modes, Place to) const {
  const std::vector<double>& up = from_below_.at(modes.substr(0, 2))[element];
  const auto& under = underside_->samples();
  std::vector<double> times(up.size());
  const double slowness = 1.0 / velocity(modes[2]);
  for (std::size_t v = 0; v < times.size(); ++v) times[v] = up[v] + distance(under[v], to) * slowness;
  Ray best;
  for (const std::size_t v : local_minima(times)) {
    const Ray ray = over_both(element, modes, to, turn_before(element, modes, under[v]), v);
    if (ray.found() && !(best.time <= ray.time)) best = ray;
  }
  return best;
}

}  // namespace echoform::simulated
