#include "delay_laws/wave_fronts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr double never = std::numeric_limits<double>::quiet_NaN();
// The period of 10 MHz, used where a probe's frequency is not known. Most probes have longer periods, so a tenth of this one is
// a smaller part of theirs.
constexpr double unknown_period = 1e-7;

/// Whether a beam contains a ray that leaves the focus at `slope` for a place `distance` metres away. The beam's outermost rays
/// have the slopes given, and `half_width` is half its width at the focus.
bool beam_holds(double least_slope, double greatest_slope, double half_width, double slope, double distance) {
  const double half = std::max(0.5 * (greatest_slope - least_slope), half_width / std::max(distance, 1e-12));
  return std::abs(slope - 0.5 * (least_slope + greatest_slope)) <= half;
}

/// Searches a point at which all firings of an event arrive together.
class FocusSearch {
 public:
  FocusSearch(const Leg& leg, const FiringElements& elements, const std::function<bool(const Point&)>& within)
      : leg_(leg),
        frame_(elements.places.frame),
        firings_(elements.firings),
        within_(within),
        spatial_(in_two_directions(elements)) {
    for (const Firing& firing : firings_) {
      const double x = elements.place(firing).x.value;
      least_ = std::min(least_, x);
      greatest_ = std::max(greatest_, x);
      places_.push_back(x);
    }
    aperture_ = std::max(greatest_ - least_, 1e-4);
    choose_some();
  }

  /// The point of smallest spread, searched from a fan of places that reaches `deepest` apertures deep; nothing where spreads
  /// exceed `tolerance`. A few elements show where there is none, because more elements never make a spread smaller.
  [[nodiscard]] std::optional<Point> find(double tolerance) const {
    std::vector<Vertex> starts = fan();
    std::ranges::sort(starts, {}, &Vertex::spread);
    Vertex best{0.0, 0.0, std::numeric_limits<double>::infinity()};
    for (std::size_t k = 0; k < most_refined; ++k) {
      if (!std::isfinite(starts[k].spread)) break;
      const Vertex found = refined(starts[k], some_);
      if (found.spread < best.spread) best = found;
    }
    if (!(best.spread < tolerance)) return std::nullopt;
    if (some_.size() < firings_.size()) best = refined(with_spread(best, firings_), firings_);
    if (!(best.spread < tolerance)) return std::nullopt;
    return global(best);
  }

  /// Difference of the latest and the earliest arrival, in seconds; infinite where some element does not reach.
  [[nodiscard]] double spread_at(const Point& point) const {
    return within(point) ? spread_at(point, firings_) : std::numeric_limits<double>::infinity();
  }

  /// The front at `focus`; nothing where the elements' waves have no common direction, as at a focus among them.
  [[nodiscard]] std::optional<ConvergingFront> front_at(const Point& focus, double period) const {
    ConvergingFront front;
    front.focus = focus;
    front.spread = spread_at(focus);
    // Slownesses of the elements' waves, from differences over a step that is large against the rounding of times.
    const double step = 1e-5;
    std::vector<Direction> slownesses;
    Direction sum{0.0, 0.0, 0.0};
    double speed = 0.0;
    for (const Firing& firing : firings_) {
      front.at_focus += (firing.delay + time_of(firing.element, focus)) / static_cast<double>(firings_.size());
      const auto along = [&](const Direction& axis) {
        const Point ahead{focus.x + Metres(step * axis.x), focus.y + Metres(step * axis.y), focus.z + Metres(step * axis.z)};
        const Point back{focus.x - Metres(step * axis.x), focus.y - Metres(step * axis.y), focus.z - Metres(step * axis.z)};
        return (time_of(firing.element, ahead) - time_of(firing.element, back)) / (2.0 * step);
      };
      const double x = along(frame_.x);
      const double z = along(frame_.z);
      const double y = spatial_ ? along(frame_.y) : 0.0;
      const Direction slowness = frame_.to_global(Direction{x, y, z});
      if (!std::isfinite(length(slowness)) || !(length(slowness) > 0.0)) continue;
      slownesses.push_back(slowness);
      speed += length(slowness);
      sum = {sum.x + slowness.x / length(slowness), sum.y + slowness.y / length(slowness), sum.z + slowness.z / length(slowness)};
    }
    if (!(length(sum) > 1e-6)) return std::nullopt;
    front.velocity = static_cast<double>(slownesses.size()) / speed;
    front.way = scaled(sum, 1.0 / length(sum));
    const Direction& n = front.way;
    // The vector lies in the plane of the frame's x and z.
    const double nx = dot(n, frame_.x);
    const double nz = dot(n, frame_.z);
    front.across = frame_.to_global(Direction{nz, 0.0, -nx});
    if (spatial_) front.across = unit(front.across);
    const auto outermost = [&](const Direction& axis, double& least, double& greatest, double& half_width) {
      least = std::numeric_limits<double>::infinity();
      greatest = -least;
      for (const Direction& slowness : slownesses) {
        const double slope = dot(slowness, axis) / dot(slowness, front.way);
        least = std::min(least, slope);
        greatest = std::max(greatest, slope);
      }
      half_width = 0.5 * period * front.velocity / std::max(greatest - least, 1e-6);
    };
    outermost(front.across, front.least_slope, front.greatest_slope, front.half_width);
    if (spatial_) {
      ConvergingFront::Over over{cross(front.way, front.across)};
      outermost(over.axis, over.least_slope, over.greatest_slope, over.half_width);
      front.over = over;
    }
    return front;
  }

 private:
  struct Vertex {
    double x;  // in the probe's frame
    double z;
    double spread;
  };
  static constexpr int depths = 24;
  static constexpr int sides = 8;
  static constexpr double deepest = 20.0;  // apertures; beyond, waves that hardly bend are as good as plane
  static constexpr double widest = 1.2;    // radians to the sides
  static constexpr std::size_t most_refined = 4;
  static constexpr std::size_t few = 9;

  /// Chooses some firings from end to end of the aperture.
  void choose_some() {
    std::vector<std::size_t> order(firings_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t k) { return places_[k]; });
    const std::size_t count = std::min(few, order.size());
    for (std::size_t k = 0; k < count; ++k) {
      some_.push_back(firings_[order[count > 1 ? k * (order.size() - 1) / (count - 1) : 0]]);
    }
  }

  /// The fan of places, with the spreads of some of the elements.
  [[nodiscard]] std::vector<Vertex> fan() const {
    std::vector<Vertex> starts;
    std::vector<Point> points;
    for (int depth = 0; depth < depths; ++depth) {
      const double z = aperture_ * 0.2 * std::pow(5.0 * deepest, static_cast<double>(depth) / (depths - 1));
      for (int side = -sides; side <= sides; ++side) {
        starts.push_back({centre() + z * std::tan(side * widest / sides), z, 0.0});
        points.push_back(global(starts.back()));
      }
    }
    std::vector<double> earliest(points.size(), std::numeric_limits<double>::infinity());
    std::vector<double> latest(points.size(), -std::numeric_limits<double>::infinity());
    std::vector<double> times(points.size());
    for (const Firing& firing : some_) {
      leg_.travel_times(firing.element, points, times);
      for (std::size_t k = 0; k < points.size(); ++k) {
        // Where one element does not reach, the spread is infinite.
        const double time = std::isnan(times[k]) ? std::numeric_limits<double>::infinity() : firing.delay + times[k];
        earliest[k] = std::min(earliest[k], time);
        latest[k] = std::max(latest[k], time);
      }
    }
    for (std::size_t k = 0; k < points.size(); ++k) {
      starts[k].spread =
          std::isinf(latest[k]) || !within(points[k]) ? std::numeric_limits<double>::infinity() : latest[k] - earliest[k];
    }
    return starts;
  }

  [[nodiscard]] bool within(const Point& point) const { return !within_ || within_(point); }
  [[nodiscard]] double centre() const { return 0.5 * (least_ + greatest_); }
  [[nodiscard]] Point global(const Vertex& v) const { return frame_.to_global(Point{Metres(v.x), Metres(0.0), Metres(v.z)}); }
  /// The spread is infinite outside of the fan: far away, rounding would make any times equal.
  [[nodiscard]] Vertex with_spread(Vertex v, const std::vector<Firing>& firings) const {
    const bool inside = v.z > 0.0 && v.z < 1.25 * deepest * aperture_ && std::abs(v.x - centre()) < aperture_ + 3.0 * v.z;
    v.spread = inside && within(global(v)) ? spread_at(global(v), firings) : std::numeric_limits<double>::infinity();
    return v;
  }
  [[nodiscard]] double spread_at(const Point& point, const std::vector<Firing>& firings) const {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (const Firing& firing : firings) {
      const double time = firing.delay + time_of(firing.element, point);
      if (std::isnan(time)) return std::numeric_limits<double>::infinity();
      least = std::min(least, time);
      greatest = std::max(greatest, time);
    }
    return greatest - least;
  }
  [[nodiscard]] double time_of(std::size_t element, const Point& point) const {
    double time = 0.0;
    leg_.travel_times(element, {&point, 1}, {&time, 1});
    return time;
  }

  /// Refines by the simplex of Nelder and Mead (The Computer Journal 7, 1965, 308-313) until it is a micrometre small.
  [[nodiscard]] Vertex refined(const Vertex& start, const std::vector<Firing>& firings) const {
    const double size = 0.1 * start.z;
    const auto at = [&](double x, double z) { return with_spread({x, z, 0.0}, firings); };
    std::array<Vertex, 3> simplex{start, at(start.x + size, start.z), at(start.x, start.z + size)};
    for (int round = 0; round < 200; ++round) {
      std::ranges::sort(simplex, {}, &Vertex::spread);
      const auto [best, middle, worst] = simplex;
      if (std::hypot(worst.x - best.x, worst.z - best.z) < 1e-6) break;
      const double x = 0.5 * (best.x + middle.x);
      const double z = 0.5 * (best.z + middle.z);
      const auto along = [&, from = worst](double by) { return at(x + by * (x - from.x), z + by * (z - from.z)); };
      Vertex next = along(1.0);
      if (next.spread < best.spread) {
        const Vertex farther = along(2.0);
        if (farther.spread < next.spread) next = farther;
      } else if (!(next.spread < middle.spread)) {
        next = next.spread < worst.spread ? along(0.5) : along(-0.5);
        if (!(next.spread < worst.spread)) {
          const Vertex nearer = at(0.5 * (best.x + middle.x), 0.5 * (best.z + middle.z));
          simplex[2] = at(0.5 * (best.x + worst.x), 0.5 * (best.z + worst.z));
          simplex[1] = nearer;
          continue;
        }
      }
      simplex[2] = next;
    }
    return *std::ranges::min_element(simplex, {}, &Vertex::spread);
  }

  const Leg& leg_;
  ProbeFrame frame_;
  const std::vector<Firing>& firings_;
  const std::function<bool(const Point&)>& within_;
  bool spatial_;                // elements in two directions
  std::vector<double> places_;  // [firing], along the frame's x
  std::vector<Firing> some_;
  double aperture_ = 0.0;
  double least_ = std::numeric_limits<double>::infinity();
  double greatest_ = -std::numeric_limits<double>::infinity();
};

/// Neighbouring elements whose waves arrive within a short time.
struct Neighbours {
  std::size_t count = 0;
  double least = never;
  double greatest = never;
  bool latest_in_the_middle = false;

  /// More elements are better, then elements closer together in time. Of single elements the earlier one is better.
  [[nodiscard]] bool better_than(const Neighbours& other) const {
    if (count != other.count) return count > other.count;
    return count == 1 ? least < other.least : greatest - least < other.greatest - other.least;
  }
};

/// The part of bends_inwards() for arrays in two directions.
bool bends_inwards_in_space(const FiringElements& elements) {
  const double share = 1.0 / static_cast<double>(elements.firings.size());
  struct Place {
    double x;
    double y;
    double delay;
  };
  std::vector<Place> places;
  Place mean{0.0, 0.0, 0.0};
  for (const Firing& firing : elements.firings) {
    const Point at = elements.place(firing);
    places.push_back({at.x.value, at.y.value, firing.delay});
    mean = {mean.x + share * at.x.value, mean.y + share * at.y.value, mean.delay + share * firing.delay};
  }
  double xx = 0.0;
  double xy = 0.0;
  double yy = 0.0;
  double xd = 0.0;
  double yd = 0.0;
  double square = 0.0;  // mean square distance from the middle
  for (Place& place : places) {
    place = {place.x - mean.x, place.y - mean.y, place.delay - mean.delay};
    xx += place.x * place.x;
    xy += place.x * place.y;
    yy += place.y * place.y;
    xd += place.x * place.delay;
    yd += place.y * place.delay;
    square += share * (place.x * place.x + place.y * place.y);
  }
  const double determinant = xx * yy - xy * xy;
  // Elements along an oblique line determine no plane.
  if (!(determinant > 1e-9 * xx * yy)) return false;
  const double along_x = (xd * yy - yd * xy) / determinant;
  const double along_y = (yd * xx - xd * xy) / determinant;
  double later = 0.0;
  for (const Place& place : places) {
    const double distance = place.x * place.x + place.y * place.y;
    later -= (place.delay - along_x * place.x - along_y * place.y) * (distance - square);
  }
  return later > 1e-10 * square / share;
}

}  // namespace

double ElementsFront::front_of(std::span<const double> arrivals) const {
  if (!(together > 0.0)) {
    double first = std::numeric_limits<double>::infinity();
    for (const double arrival : arrivals) first = arrival < first ? arrival : first;
    return std::isinf(first) ? never : first;
  }
  Neighbours best;
  for (std::size_t first = 0; first < arrivals.size(); ++first) {
    Neighbours run{0, arrivals[first], arrivals[first], false};
    std::size_t end = first;
    for (; end < arrivals.size() && !std::isnan(arrivals[end]); ++end) {
      const double least = std::min(run.least, arrivals[end]);
      const double greatest = std::max(run.greatest, arrivals[end]);
      if (greatest - least > together) break;
      run.least = least;
      run.greatest = greatest;
    }
    run.count = end - first;
    if (run.count == 0 || !run.better_than(best)) continue;
    best = run;
    best.latest_in_the_middle = run.count > 2 && arrivals[first + run.count / 2] > 0.5 * (arrivals[first] + arrivals[end - 1]);
    // No later run can have more elements.
    if (end == arrivals.size()) break;
  }
  // Where a wave has crossed itself, its front is the last of the neighbours, not the first.
  return best.latest_in_the_middle ? best.greatest : best.least;
}

ElementsFront crossing_front(const FiringElements& elements, double period) {
  std::vector<Firing> firings = elements.firings;
  std::ranges::stable_sort(firings, {}, [&](const Firing& firing) { return elements.place(firing).x.value; });
  return {std::move(firings), 0.25 * (period > 0.0 ? period : unknown_period)};
}

bool in_two_directions(const FiringElements& elements) {
  if (elements.places.shape != FiringShape::array) return false;
  const auto spans = [&](Metres Point::*axis) {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (const Firing& firing : elements.firings) {
      const double at = (elements.place(firing).*axis).value;
      least = std::min(least, at);
      greatest = std::max(greatest, at);
    }
    return greatest - least > flat_array_tolerance.value;
  };
  return spans(&Point::x) && spans(&Point::y);
}

bool bends_inwards(const FiringElements& elements) {
  const std::vector<Firing>& firings = elements.firings;
  if (firings.size() < 3) return false;
  if (in_two_directions(elements)) return bends_inwards_in_space(elements);
  std::vector<double> places;
  for (const Firing& firing : firings) places.push_back(elements.place(firing).x.value);
  const auto first = static_cast<std::size_t>(std::ranges::min_element(places) - places.begin());
  const auto last = static_cast<std::size_t>(std::ranges::max_element(places) - places.begin());
  double later = 0.0;
  for (std::size_t k = 0; k < firings.size(); ++k) {
    const double share = (places[k] - places[first]) / std::max(places[last] - places[first], 1e-12);
    later += firings[k].delay - ((1.0 - share) * firings[first].delay + share * firings[last].delay);
  }
  return later > 1e-10 * static_cast<double>(firings.size());
}

bool ConvergingFront::holds(double slope, double distance) const {
  return beam_holds(least_slope, greatest_slope, half_width, slope, distance);
}

double ConvergingFront::time_to(const Point& p) const {
  const Direction from = between(focus, p);
  const double along = dot(from, way);
  const double aside = dot(from, across);
  // At the focus itself there is no slope: a beam as wide as half_width holds.
  const double distance = std::max(std::abs(along), 1e-12);
  if (!holds(aside / std::copysign(distance, along), distance)) return never;
  if (over && !beam_holds(over->least_slope, over->greatest_slope, over->half_width,
                          dot(from, over->axis) / std::copysign(distance, along), distance)) {
    return never;
  }
  return at_focus + std::copysign(length(from), along) / velocity;
}

std::array<Point, 3> RefractedFront::places() const {
  const auto beside = [&](double by) {
    return Point{beam.focus.x + Metres(by * beam.across.x), beam.focus.y + Metres(by * beam.across.y),
                 beam.focus.z + Metres(by * beam.across.z)};
  };
  return {beam.focus, beside(step), beside(-step)};
}

void RefractedFront::times(const Leg& foci, std::span<const Point> pixels, std::span<double> seconds) const {
  std::vector<double> ahead(pixels.size());
  std::vector<double> behind(pixels.size());
  foci.travel_times(source, pixels, seconds);
  foci.travel_times(source + 1, pixels, ahead);
  foci.travel_times(source + 2, pixels, behind);
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    // A ray that leaves towards `across` is shorter when it begins farther in that direction. NaN is in no beam.
    const double sine = beam.velocity * (behind[k] - ahead[k]) / (2.0 * step);
    const double slope = sine / std::sqrt(1.0 - sine * sine);
    const bool arrives = beam.holds(slope, length(between(beam.focus, pixels[k])));
    seconds[k] = arrives ? beam.at_focus + seconds[k] : never;
  }
}

std::optional<ConvergingFront> converging_front(const Leg& leg, const FiringElements& elements, double period,
                                                const std::optional<Point>& known,
                                                const std::function<bool(const Point&)>& within) {
  if (!bends_inwards(elements)) return std::nullopt;
  const FocusSearch search(leg, elements, within);
  const double tolerance = 0.1 * (period > 0.0 ? period : unknown_period);
  if (known && search.spread_at(*known) <= tolerance) return search.front_at(*known, period);
  const auto found = search.find(tolerance);
  return found ? search.front_at(*found, period) : std::nullopt;
}

}  // namespace echoform
