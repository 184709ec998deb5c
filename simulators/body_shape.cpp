#include "simulators/body_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace echoform::simulated {
namespace {

/// Minimum number of cells for a face of the cube through which a small ball is seen, and number of cells about a cylinder or
/// along a round edge.
constexpr double least_face_cells = 8.0;
constexpr double small_ball = 3e-3;  // m
constexpr std::size_t round_cells = 48;
constexpr double least_clearance = 2e-3;  // m
constexpr double cells_a_clearance = 12.0;

/// For a cylinder z is the axis, for a flat body the normal; x is horizontal.
struct BodyAxes {
  Spot x;
  Spot y;
  Spot z;
};

BodyAxes axes_of(const Body& body) {
  const double turn = body.turn * degree;
  const double dip = body.dip * degree;
  const Spot level{std::sin(turn), std::cos(turn), 0.0};
  const Spot across{std::cos(turn), -std::sin(turn), 0.0};
  const Spot depth{0.0, 0.0, 1.0};
  if (body.kind == BodyKind::cylinder) {
    return {across, std::cos(dip) * depth - std::sin(dip) * level, std::cos(dip) * level + std::sin(dip) * depth};
  }
  return {level, std::cos(dip) * across + std::sin(dip) * depth, std::cos(dip) * depth - std::sin(dip) * across};
}

/// Half the extent of a cylinder along its axis, or of a flat body along x and y.
struct Halves {
  double x = 0.0;
  double y = 0.0;
};

Halves halves_of(const Body& body) {
  switch (body.kind) {
    case BodyKind::cylinder:
      return {0.5 * body.length.value, 0.0};
    case BodyKind::disc:
      return {body.radius.value, body.radius.value};
    case BodyKind::plate:
      return {0.5 * body.length.value, 0.5 * body.height.value};
    case BodyKind::sphere:
      break;
  }
  return {};
}

std::size_t cells_along(double length, double clearance) {
  const double most = std::max(clearance, least_clearance) / cells_a_clearance;
  return std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(length / most)));
}

/// Place `k` of `cells` cells from -half to half; one more place lies before the first.
double place_along(std::size_t k, std::size_t cells, double half) {
  return half * (2.0 * (static_cast<double>(k) - 1.0) / static_cast<double>(cells) - 1.0);
}

/// The number of cells along a face: the error of a quadratic grows with the radius and the cube of a cell's angle.
std::size_t face_cells_of(const Body& body) {
  return static_cast<std::size_t>(std::ceil(least_face_cells * std::max(1.0, std::cbrt(body.radius.value / small_ball))));
}

std::vector<BodyLattice> ball(const Body& body) {
  const std::size_t face_cells = face_cells_of(body);
  const Spot centre = spot_of(body.centre);
  std::vector<BodyLattice> faces;
  for (int face = 0; face < 6; ++face) {
    BodyLattice& lattice = faces.emplace_back();
    lattice.columns = face_cells + 3;
    for (std::size_t row = 0; row < face_cells + 3; ++row) {
      for (std::size_t column = 0; column < face_cells + 3; ++column) {
        const double u = std::tan(place_along(column, face_cells, 45.0 * degree));
        const double v = std::tan(place_along(row, face_cells, 45.0 * degree));
        const double out = face < 3 ? 1.0 : -1.0;
        const std::array<Spot, 3> ways{Spot{out, u, v}, Spot{v, out, u}, Spot{u, v, out}};
        const Spot& way = ways[static_cast<std::size_t>(face % 3)];
        const Spot normal = (1.0 / std::sqrt(inner(way, way))) * way;
        lattice.normals.push_back(normal);
        lattice.places.push_back(centre + body.radius.value * normal);
      }
    }
  }
  return faces;
}

BodyLattice side_of_cylinder(const Body& body, double clearance) {
  const BodyAxes axes = axes_of(body);
  const double half = halves_of(body).x;
  const std::size_t cells = cells_along(2.0 * half, clearance);
  BodyLattice lattice;
  lattice.columns = round_cells + 2;
  for (std::size_t row = 0; row < cells + 3; ++row) {
    const Spot middle = spot_of(body.centre) + place_along(row, cells, half) * axes.z;
    for (std::size_t column = 0; column < round_cells + 2; ++column) {
      const double angle = 360.0 * degree * (static_cast<double>(column) - 1.0) / static_cast<double>(round_cells);
      lattice.normals.push_back(std::cos(angle) * axes.x + std::sin(angle) * axes.y);
      lattice.places.push_back(middle + body.radius.value * lattice.normals.back());
    }
  }
  return lattice;
}

BodyLattice flat(const Body& body, double clearance) {
  const BodyAxes axes = axes_of(body);
  const Halves half = halves_of(body);
  const std::size_t columns = cells_along(2.0 * half.x, clearance);
  const std::size_t rows = cells_along(2.0 * half.y, clearance);
  BodyLattice lattice;
  lattice.columns = columns + 3;
  for (std::size_t row = 0; row < rows + 3; ++row) {
    for (std::size_t column = 0; column < columns + 3; ++column) {
      lattice.normals.push_back(axes.z);
      lattice.places.push_back(spot_of(body.centre) + place_along(column, columns, half.x) * axes.x +
                               place_along(row, rows, half.y) * axes.y);
    }
  }
  return lattice;
}

BodyEdge rim_of(const Body& body, double clearance) {
  const BodyAxes axes = axes_of(body);
  const double radius = body.radius.value;
  const std::size_t cells = std::max(round_cells, cells_along(2.0 * std::numbers::pi * radius, clearance));
  BodyEdge rim;
  rim.closed = true;
  for (std::size_t k = 0; k < cells; ++k) {
    const double angle = 360.0 * degree * static_cast<double>(k) / static_cast<double>(cells);
    rim.places.push_back(spot_of(body.centre) + (radius * std::cos(angle)) * axes.x + (radius * std::sin(angle)) * axes.y);
  }
  return rim;
}

std::vector<BodyEdge> sides_of_plate(const Body& body, double clearance) {
  const BodyAxes axes = axes_of(body);
  const Halves half = halves_of(body);
  std::vector<BodyEdge> sides;
  for (const double end : {-1.0, 1.0}) {
    for (const bool level : {true, false}) {
      const double own = level ? half.x : half.y;
      const Spot along = level ? axes.x : axes.y;
      const Spot middle = spot_of(body.centre) + (end * (level ? half.y : half.x)) * (level ? axes.y : axes.x);
      const std::size_t cells = cells_along(2.0 * own, clearance);
      BodyEdge& side = sides.emplace_back();
      for (std::size_t k = 0; k < cells + 3; ++k) side.places.push_back(middle + place_along(k, cells, own) * along);
    }
  }
  return sides;
}

}  // namespace

std::vector<BodyExtent> extents_of(const Body& body) {
  const Spot centre = spot_of(body.centre);
  const BodyAxes axes = axes_of(body);
  const Halves half = halves_of(body);
  std::vector<BodyExtent> extents;
  switch (body.kind) {
    case BodyKind::sphere:
      return {{centre, body.radius.value}};
    case BodyKind::cylinder:
      // The extents are points on its rims. A ball as wide as the cylinder would extend beyond its ends.
      for (const double end : {-1.0, 1.0}) {
        for (std::size_t k = 0; k < round_cells; ++k) {
          const double angle = 360.0 * degree * static_cast<double>(k) / static_cast<double>(round_cells);
          const Spot out = std::cos(angle) * axes.x + std::sin(angle) * axes.y;
          extents.push_back({centre + (end * half.x) * axes.z + body.radius.value * out, 0.0});
        }
      }
      return extents;
    case BodyKind::disc:
      for (const Spot& at : rim_of(body, least_clearance).places) extents.push_back({at, 0.0});
      return extents;
    case BodyKind::plate:
      for (const double x : {-half.x, half.x}) {
        for (const double y : {-half.y, half.y}) extents.push_back({centre + x * axes.x + y * axes.y, 0.0});
      }
      return extents;
  }
  return extents;
}

double distance_to(const Body& body, const Spot& place) {
  const BodyAxes axes = axes_of(body);
  const Halves half = halves_of(body);
  const Spot from = place - spot_of(body.centre);
  if (body.kind == BodyKind::sphere) return std::max(0.0, std::sqrt(inner(from, from)) - body.radius.value);
  const Spot own{inner(from, axes.x), inner(from, axes.y), inner(from, axes.z)};
  const auto beyond = [](double at, double end) { return std::max(0.0, std::abs(at) - end); };
  if (body.kind == BodyKind::cylinder) {
    return std::hypot(std::max(0.0, std::hypot(own.x, own.y) - body.radius.value), beyond(own.z, half.x));
  }
  return std::hypot(beyond(own.x, half.x), beyond(own.y, half.y), own.z);
}

std::size_t BodyPlaces::count() const {
  std::size_t places = 0;
  for (const BodyLattice& lattice : lattices) places += lattice.places.size();
  for (const BodyEdge& edge : edges) places += edge.places.size();
  return places;
}

BodyPlaces places_of(const Body& body, double clearance) {
  switch (body.kind) {
    case BodyKind::sphere:
      return {ball(body), {}};
    case BodyKind::cylinder:
      return {{side_of_cylinder(body, clearance)}, {}};
    case BodyKind::disc:
      return {{flat(body, clearance)}, {rim_of(body, clearance)}};
    case BodyKind::plate:
      return {{flat(body, clearance)}, sides_of_plate(body, clearance)};
  }
  return {};
}

std::size_t place_count(const Body& body, double clearance) {
  const Halves half = halves_of(body);
  const std::size_t x = cells_along(2.0 * half.x, clearance);
  const std::size_t y = cells_along(2.0 * half.y, clearance);
  switch (body.kind) {
    case BodyKind::sphere:
      return 6 * (face_cells_of(body) + 3) * (face_cells_of(body) + 3);
    case BodyKind::cylinder:
      return (x + 3) * (round_cells + 2);
    case BodyKind::disc:
      return (x + 3) * (y + 3) + std::max(round_cells, cells_along(2.0 * std::numbers::pi * half.x, clearance));
    case BodyKind::plate:
      return (x + 3) * (y + 3) + 2 * (x + 3) + 2 * (y + 3);
  }
  return 0;
}

bool holds(const Body& body, const Spot& place) {
  constexpr double rounding = 1e-9;  // m
  const BodyAxes axes = axes_of(body);
  const Halves half = halves_of(body);
  const Spot from = place - spot_of(body.centre);
  const double x = inner(from, axes.x);
  const double y = inner(from, axes.y);
  switch (body.kind) {
    case BodyKind::sphere:
      return true;
    case BodyKind::cylinder:
      return std::abs(inner(from, axes.z)) <= half.x + rounding;
    case BodyKind::disc:
      return std::hypot(x, y) <= body.radius.value + rounding;
    case BodyKind::plate:
      return std::abs(x) <= half.x + rounding && std::abs(y) <= half.y + rounding;
  }
  return false;
}

}  // namespace echoform::simulated
