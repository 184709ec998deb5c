#include "simulators/space_search.hpp"

#include <algorithm>
#include <limits>

#include "simulators/earliest_way.hpp"

namespace echoform::simulated {
namespace {

constexpr std::size_t places_a_square = 9;
constexpr std::size_t middle_of_square = places_a_square / 2;
constexpr int space_halvings = 12;
/// Steps that do not halve move on towards earlier times; from a sample near by only a few are needed.
constexpr int most_space_steps = 1000;

/// Places on a shape: their parameters, the places, and the least time to each, with the place on the previous shape that gives
/// it.
struct Square {
  /// The middle one comes first, so that it is kept if the others are no earlier.
  static constexpr std::array<std::size_t, places_a_square> in_turn{middle_of_square, 0, 1, 2, 3, 5, 6, 7, 8};

  std::array<Parameters2, places_a_square> parameters{};
  std::array<Spot, places_a_square> at{};
  std::array<double, places_a_square> time{};
  std::array<std::size_t, places_a_square> before{};
};

using Squares = std::array<Square, most_shapes>;

void spread(const SpacePolyline& way, const SpaceParameters& at, const SpaceParameters& step, Squares& squares) {
  for (std::size_t k = 0; k < way.shapes.size(); ++k) {
    const SampledShape& shape = *way.shapes[k];
    Square& here = squares[k];
    for (std::size_t j = 0; j < places_a_square; ++j) {
      here.parameters[j] = {
          std::clamp(at[k].u + (static_cast<double>(j % 3) - 1.0) * step[k].u, shape.us().front(), shape.us().back()),
          std::clamp(at[k].v + (static_cast<double>(j / 3) - 1.0) * step[k].v, shape.vs().front(), shape.vs().back())};
      here.at[j] = shape.at(here.parameters[j]);
      here.time[j] = k == 0 ? distance(way.from, here.at[j]) * way.slowness[0]
                            : earliest(squares[k - 1], here.at[j], way.slowness[k], here.before[j]);
    }
  }
}

}  // namespace

double narrow_down(const SpacePolyline& way, SpaceParameters& at, const SpaceParameters& width) {
  const std::size_t count = way.shapes.size();
  SpaceParameters step = width;
  Squares squares;
  int halved = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int steps = 0; steps < most_space_steps && halved <= space_halvings; ++steps) {
    spread(way, at, step, squares);
    std::size_t chosen = middle_of_square;
    least = earliest(squares[count - 1], way.to, way.slowness[count], chosen);
    bool at_rest = true;
    for (std::size_t k = count; k-- > 0;) {
      // Where the shape ends, a place next to the middle may be the middle itself.
      const Parameters2 next = squares[k].parameters[chosen];
      at_rest = at_rest && next.u == at[k].u && next.v == at[k].v;
      at[k] = next;
      chosen = squares[k].before[chosen];
    }
    if (!at_rest) continue;
    for (Parameters2& one : step) one = {0.5 * one.u, 0.5 * one.v};
    ++halved;
  }
  return halved > space_halvings ? least : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace echoform::simulated
