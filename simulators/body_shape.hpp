// Bodies in space as the simulated source samples them: lattices of places over their surfaces, and the edges of flat ones.
#pragma once

#include <cstddef>
#include <vector>

#include "simulators/phantom.hpp"
#include "simulators/sampled_shape.hpp"

namespace echoform::simulated {

/// A ball that holds some of a body; all of them hold the body's corners and ends.
struct BodyExtent {
  Spot at;
  double radius = 0.0;
};
[[nodiscard]] std::vector<BodyExtent> extents_of(const Body& body);

/// Upper bound of the distance in metres from a place to the body's surface; 0 within the body.
[[nodiscard]] double distance_to(const Body& body, const Spot& place);

/// Places in the order [row, column], one more to each side than the surface goes, so that all of it lies between places.
struct BodyLattice {
  std::size_t columns = 0;
  std::vector<Spot> places;
  std::vector<Spot> normals;  ///< of length 1

  [[nodiscard]] std::size_t rows() const { return places.size() / columns; }
};

/// Places along an edge, evenly apart; where it is closed the last is a neighbour of the first, else it goes on to either end by
/// one.
struct BodyEdge {
  std::vector<Spot> places;
  bool closed = false;
};

struct BodyPlaces {
  std::vector<BodyLattice> lattices;
  std::vector<BodyEdge> edges;

  [[nodiscard]] std::size_t count() const;
};

/// Curved ones every 11 degrees or less, straight ones every 1/12 of `clearance` or less: metres from the nearest element, of
/// which no less than 2 mm counts. A quadratic over three by three places of the time of a way so long is off by less than 2e-10
/// s in metals then, while radii stay below 20 mm.
[[nodiscard]] BodyPlaces places_of(const Body& body, double clearance);
/// The number of places of places_of().
[[nodiscard]] std::size_t place_count(const Body& body, double clearance);

/// Whether a place of a lattice or between its places belongs to the body.
[[nodiscard]] bool holds(const Body& body, const Spot& place);

}  // namespace echoform::simulated
