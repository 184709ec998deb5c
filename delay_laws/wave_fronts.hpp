// Forms of the fronts that events make: the time at which a front passes a point.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "acquisition/firing_shape.hpp"
#include "acquisition/firings.hpp"
#include "base/geometry.hpp"
#include "delay_laws/delay_law.hpp"

namespace echoform {

/// Rays that meet at a focus and diverge again: t = at_focus -+ |p - focus| / velocity before and behind it.
struct ConvergingFront {
  /// How far a beam of an array in two directions reaches along its second axis.
  struct Over {
    Direction axis;  ///< unit vector across both `way` and `across`
    double least_slope = 0.0;
    double greatest_slope = 0.0;
    double half_width = 0.0;
  };

  Point focus;
  Direction way;             ///< unit vector, mean direction of the waves at the focus
  Direction across;          ///< unit vector in the plane of the rays, across `way`; of arrays in two directions without y
  double least_slope = 0.0;  ///< of the outermost rays: metres along `across` for a metre along `way`
  double greatest_slope = 0.0;
  double half_width = 0.0;   ///< of the beam at its focus, in metres
  double at_focus = 0.0;     ///< seconds
  double velocity = 0.0;     ///< at the focus
  double spread = 0.0;       ///< seconds between the first and the last arrival there
  std::optional<Over> over;  ///< of arrays in two directions; rays of others are in a plane

  /// Whether a beam of this focus takes in what leaves it at `slope` (metres along `across` for one along `way`) for a place that
  /// is `distance` metres away.
  [[nodiscard]] bool holds(double slope, double distance) const;
  /// The front's time at `p`; NaN outside the beam.
  [[nodiscard]] double time_to(const Point& p) const;
};

/// Rays that meet in the couplant and enter the part from there: t = beam.at_focus + that from the focus to the pixel.
struct RefractedFront {
  /// Offset along `across` of places beside the focus, whose times give the angle at which rays leave the focus.
  static constexpr double step = 1e-5;

  ConvergingFront beam;
  std::size_t source = 0;  ///< of a leg from foci to pixels: the focus, then the place ahead of it along `across` and that behind

  [[nodiscard]] std::array<Point, 3> places() const;
  /// Writes the times of `pixels`, computed with the leg `foci`; NaN outside the beam.
  void times(const Leg& foci, std::span<const Point> pixels, std::span<double> seconds) const;
};

/// A front of waves of several elements: the wave of each arrives after the element's delay plus its travel time.
struct ElementsFront {
  std::vector<Firing> firings;  ///< of living elements; empty: nothing arrives
  /// 0: the first arrival is the front. Else, in seconds, of waves that cross each other: the front is where most neighbours,
  /// which then follow each other in `firings`, arrive within that.
  double together = 0.0;

  /// The front's time at a place from those of each firing, by order; NaN where none arrives.
  [[nodiscard]] double front_of(std::span<const double> arrivals) const;
};

/// Elements that fire; `places` is places_of_firings().
struct FiringElements {
  const Probe& probe;
  const FiringPlaces& places;
  const std::vector<Firing>& firings;

  /// The place of the firing's element, in the frame of `places`.
  [[nodiscard]] Point place(const Firing& firing) const { return places.frame.to_probe(probe.elements[firing.element].centre); }
};

/// The front of elements whose waves cross without meeting in one point.
[[nodiscard]] ElementsFront crossing_front(const FiringElements& elements, double period);

/// Whether elements are an array, and stand beside each other along both x and y of its frame.
[[nodiscard]] bool in_two_directions(const FiringElements& elements);

/// Whether the elements in the middle fire later than the delays of the outermost ones suggest; otherwise no wave converges.
/// For arrays in two directions the criterion is that the delays, minus their best-fitting plane, fall with the square of
/// the distance from the middle.
[[nodiscard]] bool bends_inwards(const FiringElements& elements);

using WaveFront = std::variant<PlaneWaveForm, PointSourceForm, ConvergingFront, RefractedFront, ElementsFront>;

/// The front where d_e + t_e(f) are alike to a tenth of `period` at some point f in front of the probe, up to 25 apertures deep;
/// nothing where they are at none. `leg` has the times t_e of single elements. `period` of the probe, in seconds; 0 where
/// unknown. `known`: the focus, where the event states it. `within`: where it may lie, everywhere if empty.
[[nodiscard]] std::optional<ConvergingFront> converging_front(const Leg& leg, const FiringElements& elements, double period,
                                                              const std::optional<Point>& known,
                                                              const std::function<bool(const Point&)>& within = {});

}  // namespace echoform
