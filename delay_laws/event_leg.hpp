// Transmit legs of events in which several elements fire: waves with fronts of their own, made of the leg of single elements.
//
// Straight from the probe to the pixels, at the velocity c of the leg, with o the probe's origin and all of its frame's axes:
//   plane wave       tau(p) = tau_0 + n . (p - o) / c, n of the event's slownesses times c along the frame's x and y; none where
//                    those are above 1: nothing propagates
//   virtual source   tau(p) = tau_0 + (|p - v| - |v - o|) / c
// This holds for arrays in two directions, and in the plane of elements on a curve (a convex array). Delays of a curved array
// make a plane wave at the velocity that the event states alone; elsewhere the elements say what they make, as below. Elements on
// one line send fronts that are alike all around it: p is first turned about the line, into the half plane ahead of the elements
// (revolution.hpp). Virtual sources and foci are turned into that plane too. Of a plane wave only the slowness s along the line
// counts: tau(p) = tau_0 + s x + sqrt(1 / c^2 - s^2) rho, x along the line and rho the distance from it. Proof: the minimum over
// e on the line of d_e + |p - e| / c depends on p through x and rho alone. Everywhere else, surfaces and other modes included,
// from the elements e that fire, by their delays d_e and times t_e:
//   converging       where d_e + t_e(f) are alike at some f to a tenth of the probe's period: tau(p) = their mean + s |p - f| /
//   c,
//                    s = sign((p - f) . way), way the mean direction of the waves at f, c the velocity there. Outside of the
//                    outermost rays through f, widened to lambda times the distance over the aperture, nothing arrives. Where f
//                    lies in the couplant, |p - f| / c is the time of the ray from f to p, and rays of the beam are told by the
//                    angle at which they leave f.
//   crossing         where elements in the middle arrive later somewhere than outer ones let expect, without such a focus, as a
//                    surface blurs it or a wall has it behind itself: the time at which most neighbouring elements arrive within
//                    a quarter of a period: their first arrival before the waves cross, their last one behind.
//   otherwise        tau(p) = the least of d_e + t_e(p): the front, by Huygens' principle. (Beyond a focus the least would be
//                    up to 0.9 periods early: there edge waves come first.)
// Beside the plane of elements that stand on a curve, and of such on a line where rays are bent, a front with a focus is what
// crossing waves have, and one about a virtual source the least of d_e + t_e(p).
// Dead elements do not fire. Weights within an event do not move its front.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "delay_laws/delay_law.hpp"

namespace echoform {

/// The couplant that waves cross before they enter the part, and in which they may meet.
struct CouplantWay {
  MetresPerSecond velocity;
  std::shared_ptr<const Leg> elements;       ///< straight from each element, at that velocity
  std::function<bool(const Point&)> within;  ///< whether a place lies in the couplant
  /// The leg from places in the couplant to the pixels, along the path of the elements' leg.
  std::function<std::shared_ptr<const Leg>(const std::vector<Point>&)> leg_from;
};

/// Makes a leg whose source k is event k of `acquisition`, which is validated and lists its events. `elements` is the leg of
/// its single elements (sources() == acquisition.elements()) along the same path. `couplant` is what that path begins with,
/// if it does not begin in the part. With `chosen` events the others reach no pixel. If all events are firings of single
/// elements, use select_sources() instead. Throws what legs throw.
[[nodiscard]] std::shared_ptr<const Leg> make_event_leg(const Acquisition& acquisition, std::shared_ptr<const Leg> elements,
                                                        const std::optional<CouplantWay>& couplant = std::nullopt,
                                                        std::span<const std::uint32_t> chosen = {});

}  // namespace echoform
