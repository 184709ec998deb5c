#include "delay_laws/event_leg.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "acquisition/firing_shape.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/fitted_wave.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "delay_laws/grid_places.hpp"
#include "delay_laws/over_sources.hpp"
#include "delay_laws/revolution.hpp"
#include "delay_laws/wave_fronts.hpp"

namespace echoform {
namespace {

/// The velocity of a leg whose waves travel straight from the elements' centres to every pixel; nothing for other legs.
std::optional<MetresPerSecond> straight_velocity(const Leg& elements) {
  const auto form = elements.sources() > 0 ? elements.point_source(0) : std::nullopt;
  return form ? std::optional(form->velocity) : std::nullopt;
}

/// The front of an event. Where the event's elements and the direction of emission lie in one plane, `wave` gives the time at
/// which the front passes the points of that plane.
struct EventFront {
  WaveFront wave = ElementsFront{};
  std::optional<Revolution> plane{};      ///< plane of a row or a curve of elements, if `wave` does not give all times
  std::optional<ElementsFront> beside{};  ///< for points beside the plane; without it they are rotated into its half plane

  [[nodiscard]] bool says_all() const { return !plane.has_value(); }
  /// Whether `wave` gives the time at which the front passes every pixel of the grid.
  [[nodiscard]] bool says_all(const Grid& grid) const {
    return says_all() || (beside ? plane->in_plane(grid) : plane->in_half_plane(grid));
  }
};

/// Makes the front of each form of event.
class FrontMaker {
 public:
  FrontMaker(const Acquisition& acquisition, const Leg& elements, const std::optional<CouplantWay>& couplant)
      : acquisition_(acquisition),
        leg_(elements),
        couplant_(couplant),
        frame_(frame_of(acquisition.probe)),
        straight_(straight_velocity(elements)) {
    const double frequency = acquisition.probe.centre_frequency.value;
    if (frequency > 0.0) period_ = 1.0 / frequency;
  }

  [[nodiscard]] EventFront operator()(std::size_t event) {
    firings_ = living_firings(acquisition_, event);
    if (firings_.empty()) return {};
    const TransmitForm& form = acquisition_.events[event].form;
    places_ = places_of_firings(acquisition_.probe, frame_, firings_);
    EventFront front{std::visit([this](const auto& stated) { return front_of(stated); }, form)};
    if (!std::holds_alternative<ElementEvent>(form)) complete(front);
    return front;
  }

 private:
  /// Adds the front that is sent beside the elements' plane.
  void complete(EventFront& front) const {
    if (places_.shape == FiringShape::array || std::holds_alternative<ElementsFront>(front.wave)) return;
    front.plane = Revolution{places_.frame};
    // Delays along a line in a straight medium are the same all around it. In the other cases the elements determine them.
    if (places_.shape == FiringShape::row && straight_) return;
    const bool converges =
        std::holds_alternative<ConvergingFront>(front.wave) || std::holds_alternative<RefractedFront>(front.wave);
    front.beside = converges ? crossing_front(elements(), period_) : ElementsFront{firings_};
  }

  [[nodiscard]] FiringElements elements() const { return {acquisition_.probe, places_, firings_}; }

  [[nodiscard]] WaveFront front_of(const ElementEvent& event) const {
    if (const auto form = leg_.point_source(event.element)) return *form;
    return ElementsFront{firings_};
  }

  [[nodiscard]] WaveFront front_of(const PlaneWaveEvent& event) const {
    if (!straight_ || !plane_at(*straight_, event)) return by_elements();
    if (auto front = straight_plane(event)) return *front;
    return ElementsFront{};
  }

  /// Whether the delays make a plane wave in a medium of this velocity. Delays of a curved array are made for one velocity. An
  /// event that states no velocity is one of a flat array.
  [[nodiscard]] bool plane_at(MetresPerSecond velocity, const PlaneWaveEvent& event) const {
    // Relative rounding of single precision: across an array of 0.1 m it is less than 0.1 ns.
    constexpr double alike = 1e-6;
    if (event.slowness_z == 0.0 || places_.shape == FiringShape::row || is_flat(acquisition_.probe, frame_)) return true;
    const Direction stated = frame_.to_global(Direction{event.slowness_x, event.slowness_y, event.slowness_z});
    // The delays of a curve determine nothing beside its plane.
    const double across = places_.shape == FiringShape::curve ? 0.0 : dot(stated, places_.frame.y);
    const double slowness = length(Direction{dot(stated, places_.frame.x), across, dot(stated, places_.frame.z)});
    return std::abs(slowness * velocity.value - 1.0) <= alike;
  }

  /// The wave in a straight medium; nothing where it does not propagate.
  [[nodiscard]] std::optional<PlaneWaveForm> straight_plane(const PlaneWaveEvent& event) const {
    const Direction sent = sent_slowness(event, frame_, places_);
    const double across = sent.x * sent.x + sent.y * sent.y;
    const double rest = 1.0 / (straight_->value * straight_->value) - across;
    if (!(rest > 0.0)) return std::nullopt;
    PlaneWaveForm front{places_.frame.to_global(Direction{sent.x, sent.y, std::sqrt(rest)}), {}};
    const Point middle = frame_.to_probe(places_.frame.origin);
    const double delay = delay_at_origin(event, acquisition_.probe, frame_).value + event.slowness_x * middle.x.value +
                         event.slowness_y * middle.y.value + event.slowness_z * middle.z.value;
    front.offset = Seconds(delay - front.time_to(places_.frame.origin));
    return front;
  }

  [[nodiscard]] WaveFront front_of(const PointWaveEvent& event) const {
    const bool ahead = event.point.z.value > 0.0;
    const Point stated = frame_.to_global(event.point);
    // Elements on a curve do not focus on a point beside their plane, neither at that point nor in the plane.
    if (places_.shape == FiringShape::curve && !Revolution{places_.frame}.in_plane(stated)) return by_elements();
    const Point point = in_plane(stated, ahead);
    if (ahead) return from_elements(&point, event.velocity);
    if (straight_ != event.velocity) return from_elements();
    const double at_origin = delay_at_origin(event, acquisition_.probe, frame_).value;
    const Point& v = event.point;
    const double away = std::sqrt(v.x.value * v.x.value + v.y.value * v.y.value + v.z.value * v.z.value);
    return PointSourceForm{point, event.velocity, Seconds(at_origin - away / event.velocity.value)};
  }

  /// A virtual source or a focus of a row, moved into the row's plane, where it has the same effect: the delays of a row depend
  /// on the point's distance from the line, not on its direction.
  [[nodiscard]] Point in_plane(const Point& point, bool ahead) const {
    if (places_.shape != FiringShape::row) return point;
    const Revolution about{places_.frame};
    const Point own = places_.frame.to_probe(point);
    if (about.in_plane(point) && ahead == (own.z.value > 0.0)) return point;
    const Metres away(std::hypot(own.y.value, own.z.value));
    return places_.frame.to_global(Point{own.x, Metres(0.0), ahead ? away : -away});
  }

  [[nodiscard]] WaveFront front_of(const LawEvent& /*event*/) const {
    if (!straight_) return from_elements();
    const std::optional<Point> focus = fitted_focus(*straight_);
    return from_elements(focus ? &*focus : nullptr, *straight_);
  }
  [[nodiscard]] WaveFront front_of(const CodeEvent& /*event*/) const { return ElementsFront{firings_}; }
  // Methods that image echoes refuse such events.
  [[nodiscard]] WaveFront front_of(const PassiveEvent& /*event*/) const { return ElementsFront{}; }

  /// The focus of the firings' delays for `velocity`, if an array in two directions sends a converging wave.
  [[nodiscard]] std::optional<Point> fitted_focus(MetresPerSecond velocity) const {
    if (!in_two_directions(elements())) return std::nullopt;
    std::vector<Point> places;
    Point centre{};
    const double share = 1.0 / static_cast<double>(firings_.size());
    for (const Firing& firing : firings_) {
      places.push_back(frame_.to_probe(acquisition_.probe.elements[firing.element].centre));
      centre = {centre.x + share * places.back().x, centre.y + share * places.back().y, centre.z + share * places.back().z};
    }
    std::vector<DelayedPlace> delayed;
    double aperture = 0.0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      delayed.push_back({between(centre, places[k]), firings_[k].delay});
      aperture = std::max(aperture, 2.0 * length(delayed.back().from_centre));
    }
    const std::optional<FittedWave> wave = fit_wave(delayed, velocity);
    // This is the range in which other arrays' foci are searched. Beyond it waves hardly bend and count as plane.
    if (!wave || !(wave->curvature * 25.0 * aperture > 1.0)) return std::nullopt;
    const Metres ahead(1.0 / wave->curvature);
    const Direction& n = wave->direction;
    return frame_.to_global(Point{centre.x + ahead * n.x, centre.y + ahead * n.y, centre.z + ahead * n.z});
  }

  /// `focus` is the focus of the event by delays for `velocity`, if the event states one.
  [[nodiscard]] WaveFront from_elements(const Point* focus = nullptr, MetresPerSecond velocity = {}) const {
    const auto known = [&](const std::optional<MetresPerSecond>& medium) {
      return focus != nullptr && medium == velocity ? std::optional(*focus) : std::nullopt;
    };
    std::optional<ConvergingFront> before;
    if (couplant_) {
      before = converging_front(*couplant_->elements, elements(), period_, known(couplant_->velocity), couplant_->within);
      if (before && known(couplant_->velocity) == before->focus) return RefractedFront{*before};
    }
    const auto inside = converging_front(leg_, elements(), period_, known(straight_));
    if (before && !(inside && inside->spread <= before->spread)) return RefractedFront{*before};
    if (inside) return *inside;
    return by_elements();
  }

  [[nodiscard]] ElementsFront by_elements() const {
    if (crosses()) return crossing_front(elements(), period_);
    return ElementsFront{firings_};
  }

  /// Whether waves cross each other somewhere in front of the probe, because of their delays or of a surface that focuses them,
  /// such as that of a bore. Behind the crossing, middle elements arrive later than the outermost ones suggest.
  [[nodiscard]] bool crosses() const {
    if (bends_inwards(elements())) return true;
    if (straight_ || firings_.size() < 3) return false;
    double aperture = 0.0;
    double middle = 0.0;
    const double first = elements().place(firings_.front()).x.value;
    for (const Firing& firing : firings_) {
      const double x = elements().place(firing).x.value;
      aperture = std::max(aperture, 2.0 * std::abs(x - first));
      middle += x / static_cast<double>(firings_.size());
    }
    for (const double depth : {0.5, 1.0, 2.0, 4.0, 8.0}) {
      for (const double tangent : {-0.5, 0.0, 0.5}) {
        const double z = depth * aperture;
        const Point place = places_.frame.to_global(Point{Metres(middle + tangent * z), Metres(0.0), Metres(z)});
        std::vector<Firing> arrivals = firings_;
        for (Firing& arrival : arrivals) {
          double time = 0.0;
          leg_.travel_times(arrival.element, {&place, 1}, {&time, 1});
          arrival.delay += time;
        }
        // Arrivals are NaN where some element does not reach; comparisons with NaN are false.
        if (bends_inwards({acquisition_.probe, places_, arrivals})) return true;
      }
    }
    return false;
  }

  const Acquisition& acquisition_;
  const Leg& leg_;
  const std::optional<CouplantWay>& couplant_;
  ProbeFrame frame_;
  std::optional<MetresPerSecond> straight_;
  double period_ = 0.0;
  std::vector<Firing> firings_;  // of the current event
  FiringPlaces places_;          // of the current event
};

/// Whether computing the times to the grid's pixels is expensive enough for a table.
bool is_costly(const EventFront& front, const Grid& grid) {
  if (std::holds_alternative<RefractedFront>(front.wave)) return true;
  if (front.beside && !front.says_all(grid)) return true;
  const auto* const elements = std::get_if<ElementsFront>(&front.wave);
  return elements != nullptr && !elements->firings.empty();
}

/// Times of a front that elements make; `elements` gives their travel times.
void elements_times(const ElementsFront& front, const Leg& elements, std::span<const Point> pixels, std::span<double> seconds) {
  constexpr std::size_t at_once = 256;
  const std::size_t count = front.firings.size();
  std::vector<double> times(at_once);
  std::vector<double> arrivals(at_once * count);  // [pixel, firing]
  for (std::size_t first = 0; first < pixels.size(); first += at_once) {
    const std::size_t some = std::min(at_once, pixels.size() - first);
    for (std::size_t k = 0; k < count; ++k) {
      elements.travel_times(front.firings[k].element, pixels.subspan(first, some), std::span(times).first(some));
      for (std::size_t pixel = 0; pixel < some; ++pixel) arrivals[pixel * count + k] = front.firings[k].delay + times[pixel];
    }
    for (std::size_t pixel = 0; pixel < some; ++pixel) {
      seconds[first + pixel] = front.front_of(std::span(arrivals).subspan(pixel * count, count));
    }
  }
}

class EventLeg final : public Leg {
 public:
  /// `foci` is the leg of the sources of refracted fronts.
  EventLeg(std::shared_ptr<const Leg> elements, std::shared_ptr<const Leg> foci, std::vector<EventFront> fronts)
      : elements_(std::move(elements)), foci_(std::move(foci)), fronts_(std::move(fronts)) {}

  [[nodiscard]] std::size_t sources() const noexcept override { return fronts_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    times_by(source, *elements_, pixels, seconds);
  }
  /// `elements` is of_elements() or its table.
  void times_by(std::size_t source, const Leg& elements, std::span<const Point> pixels, std::span<double> seconds) const {
    const EventFront& front = fronts_[source];
    if (front.says_all()) {
      wave_times(front.wave, elements, pixels, seconds);
    } else if (!front.beside) {
      std::vector<Point> turned(pixels.size());
      std::ranges::transform(pixels, turned.begin(), [&](const Point& pixel) { return front.plane->turned(pixel); });
      wave_times(front.wave, elements, turned, seconds);
    } else {
      times_on_both_sides(front, elements, pixels, seconds);
    }
  }

  [[nodiscard]] std::optional<PointSourceForm> point_source(std::size_t source) const override {
    return fronts_[source].says_all() ? form_of<PointSourceForm>(source) : std::nullopt;
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave(std::size_t source) const override {
    return fronts_[source].says_all() ? form_of<PlaneWaveForm>(source) : std::nullopt;
  }
  [[nodiscard]] std::optional<PointSourceForm> point_source_on(std::size_t source, const Grid& grid) const override {
    return fronts_[source].says_all(grid) ? form_of<PointSourceForm>(source) : std::nullopt;
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave_on(std::size_t source, const Grid& grid) const override {
    return fronts_[source].says_all(grid) ? form_of<PlaneWaveForm>(source) : std::nullopt;
  }
  [[nodiscard]] std::optional<RevolvedForm> revolved(std::size_t source) const override {
    const EventFront& front = fronts_[source];
    if (front.says_all() || front.beside) return std::nullopt;
    if (const auto point = form_of<PointSourceForm>(source)) return RevolvedForm{*front.plane, *point};
    if (const auto plane = form_of<PlaneWaveForm>(source)) return RevolvedForm{*front.plane, *plane};
    return std::nullopt;
  }
  [[nodiscard]] bool reaches_nothing(std::size_t source) const override {
    const auto* const elements = std::get_if<ElementsFront>(&fronts_[source].wave);
    return elements != nullptr && elements->firings.empty();
  }

  [[nodiscard]] std::shared_ptr<const Leg> of_elements() const override { return elements_; }

  [[nodiscard]] std::shared_ptr<const Leg> tabulated(const Grid& grid, std::size_t threads, Seconds tolerance,
                                                     bool with_departures) const override;
  [[nodiscard]] std::shared_ptr<const Leg> tabulated_over(const Leg& elements, const Grid& grid,
                                                          std::size_t threads) const override;

  [[nodiscard]] std::size_t table_bytes(const Grid& grid, bool /*with_departures*/) const override {
    const auto costly = std::ranges::count_if(fronts_, [&](const EventFront& front) { return is_costly(front, grid); });
    return static_cast<std::size_t>(costly) * grid.pixels() * sizeof(float);
  }

  [[nodiscard]] const std::vector<EventFront>& fronts() const { return fronts_; }

 private:
  template <class Form>
  [[nodiscard]] std::optional<Form> form_of(std::size_t source) const {
    const auto* const form = std::get_if<Form>(&fronts_[source].wave);
    return form != nullptr ? std::optional(*form) : std::nullopt;
  }

  void wave_times(const WaveFront& wave, const Leg& elements, std::span<const Point> pixels, std::span<double> seconds) const {
    if (const auto* const plane = std::get_if<PlaneWaveForm>(&wave)) {
      for (std::size_t k = 0; k < pixels.size(); ++k) seconds[k] = plane->time_to(pixels[k]);
    } else if (const auto* const converging = std::get_if<ConvergingFront>(&wave)) {
      for (std::size_t k = 0; k < pixels.size(); ++k) seconds[k] = converging->time_to(pixels[k]);
    } else if (const auto* const point = std::get_if<PointSourceForm>(&wave)) {
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const double dx = (pixels[k].x - point->origin.x).value;
        const double dy = (pixels[k].y - point->origin.y).value;
        const double dz = (pixels[k].z - point->origin.z).value;
        seconds[k] = std::sqrt(dx * dx + dy * dy + dz * dz) / point->velocity.value + point->offset.value;
      }
    } else if (const auto* const refracted = std::get_if<RefractedFront>(&wave)) {
      refracted->times(*foci_, pixels, seconds);
    } else {
      elements_times(std::get<ElementsFront>(wave), elements, pixels, seconds);
    }
  }

  /// Times of a front that its elements make beside their plane.
  void times_on_both_sides(const EventFront& front, const Leg& elements, std::span<const Point> pixels,
                           std::span<double> seconds) const {
    for (const bool in_plane : {true, false}) {
      std::vector<std::size_t> places;
      std::vector<Point> some;
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        if (front.plane->in_plane(pixels[k]) != in_plane) continue;
        places.push_back(k);
        some.push_back(pixels[k]);
      }
      std::vector<double> times(some.size());
      wave_times(in_plane ? front.wave : WaveFront(*front.beside), elements, some, times);
      for (std::size_t k = 0; k < places.size(); ++k) seconds[places[k]] = times[k];
    }
  }

  std::shared_ptr<const Leg> elements_;
  std::shared_ptr<const Leg> foci_;
  std::vector<EventFront> fronts_;
};

/// An event leg whose times of fronts made by elements are computed ahead for a grid. The table holds them in single precision
/// relative to the middle of each event's times.
class TabulatedEventLeg final : public Leg {
 public:
  TabulatedEventLeg(const EventLeg& leg, const Leg& elements, const Grid& grid, std::size_t threads)
      : leg_(leg), places_(grid), pixels_(grid.pixels()), rows_(leg.sources(), no_row), middle_(leg.sources()) {
    std::size_t rows = 0;
    for (std::size_t source = 0; source < rows_.size(); ++source) {
      if (is_costly(leg.fronts()[source], grid)) rows_[source] = rows++;
    }
    table_.resize(rows * pixels_);
    const std::vector<Point> points = grid.points();
    over_sources(rows_.size(), threads, [&](std::size_t source) {
      if (rows_[source] == no_row) return;
      std::vector<double> times(points.size());
      leg.times_by(source, elements, points, times);
      double least = std::numeric_limits<double>::infinity();
      double greatest = -least;
      for (const double time : times) {
        if (std::isnan(time)) continue;
        least = std::min(least, time);
        greatest = std::max(greatest, time);
      }
      middle_[source] = least <= greatest ? 0.5 * (least + greatest) : 0.0;
      float* const row = table_.data() + rows_[source] * pixels_;
      for (std::size_t k = 0; k < times.size(); ++k) row[k] = static_cast<float>(times[k] - middle_[source]);  // NaN stays
    });
  }

  [[nodiscard]] std::size_t sources() const noexcept override { return leg_.sources(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    if (rows_[source] == no_row) {
      leg_.travel_times(source, pixels, seconds);
      return;
    }
    const float* const row = table_.data() + rows_[source] * pixels_;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::size_t place = places_.find(pixels[k]);
      if (place == GridPlaces::nowhere) {
        leg_.travel_times(source, pixels.subspan(k, 1), seconds.subspan(k, 1));
      } else {
        seconds[k] = middle_[source] + static_cast<double>(row[place]);
      }
    }
  }

  [[nodiscard]] std::optional<PointSourceForm> point_source(std::size_t source) const override {
    return leg_.point_source(source);
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave(std::size_t source) const override { return leg_.plane_wave(source); }
  [[nodiscard]] std::optional<PointSourceForm> point_source_on(std::size_t source, const Grid& grid) const override {
    return leg_.point_source_on(source, grid);
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave_on(std::size_t source, const Grid& grid) const override {
    return leg_.plane_wave_on(source, grid);
  }
  [[nodiscard]] std::optional<RevolvedForm> revolved(std::size_t source) const override { return leg_.revolved(source); }
  [[nodiscard]] bool reaches_nothing(std::size_t source) const override { return leg_.reaches_nothing(source); }
  [[nodiscard]] std::size_t table_bytes(const Grid& /*grid*/, bool /*with_departures*/) const override {
    return table_.size() * sizeof(float);
  }

 private:
  static constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

  EventLeg leg_;  // with the elements' own leg: their table may be freed before this one
  GridPlaces places_;
  std::size_t pixels_;
  std::vector<std::size_t> rows_;  // [source], row of the table
  std::vector<double> middle_;
  std::vector<float> table_;  // [row, pixel]
};

std::shared_ptr<const Leg> EventLeg::tabulated(const Grid& grid, std::size_t threads, Seconds tolerance,
                                               bool with_departures) const {
  static_cast<void>(with_departures);  // only single elements have departures
  const auto elements = elements_->tabulated(grid, threads, tolerance);
  return tabulated_over(elements ? *elements : *elements_, grid, threads);
}

std::shared_ptr<const Leg> EventLeg::tabulated_over(const Leg& elements, const Grid& grid, std::size_t threads) const {
  if (table_bytes(grid, false) == 0) return nullptr;
  return std::make_shared<TabulatedEventLeg>(*this, elements, grid, threads);
}

}  // namespace

std::shared_ptr<const Leg> make_event_leg(const Acquisition& acquisition, std::shared_ptr<const Leg> elements,
                                          const std::optional<CouplantWay>& couplant, std::span<const std::uint32_t> chosen) {
  std::vector<EventFront> fronts(acquisition.event_count());
  const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, chosen);
  // Foci are searched for, which takes long through surfaces.
  over_sources(events.size(), 0,
               [&](std::size_t k) { fronts[events[k]] = FrontMaker(acquisition, *elements, couplant)(events[k]); });
  std::vector<Point> foci;
  for (EventFront& front : fronts) {
    if (auto* const refracted = std::get_if<RefractedFront>(&front.wave)) {
      refracted->source = foci.size();
      std::ranges::copy(refracted->places(), std::back_inserter(foci));
    }
  }
  auto from_foci = foci.empty() ? nullptr : couplant->leg_from(foci);
  return std::make_shared<EventLeg>(std::move(elements), std::move(from_foci), std::move(fronts));
}

}  // namespace echoform
