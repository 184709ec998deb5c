#include "simulators/body_echoes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace echoform {
namespace {

using simulated::BodyEdge;
using simulated::BodyLattice;
using simulated::Spot;

/// The minimum of the quadratic through three by three values about a place, [row, column]; nothing if there is none near by.
struct Vertex {
  double column = 0.0;
  double row = 0.0;
  double value = 0.0;
};

template <class Value>
std::optional<Vertex> vertex_of(const Value& at) {
  const double middle = at(0, 0);
  const double du = 0.5 * (at(0, 1) - at(0, -1));
  const double dv = 0.5 * (at(1, 0) - at(-1, 0));
  const double uu = at(0, 1) - 2.0 * middle + at(0, -1);
  const double vv = at(1, 0) - 2.0 * middle + at(-1, 0);
  const double uv = 0.25 * (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1));
  const double whole = uu * vv - uv * uv;
  // NaN values also fail this test.
  if (!(uu > 0.0 && whole > 0.0)) return std::nullopt;
  const Vertex vertex{(uv * dv - vv * du) / whole, (uv * du - uu * dv) / whole, 0.0};
  if (!(std::abs(vertex.column) <= 1.0 && std::abs(vertex.row) <= 1.0)) return std::nullopt;
  return Vertex{vertex.column, vertex.row, middle + 0.5 * (du * vertex.column + dv * vertex.row)};
}

double cosine(const Spot& normal, const Spot& at, const Spot& from) {
  const Spot way = from - at;
  return inner(normal, way) / std::sqrt(inner(normal, normal) * inner(way, way));
}

}  // namespace

BodyEchoes::BodyEchoes(const Body& body, double clearance, std::size_t elements, const std::vector<std::string>& sides,
                       const WayTo& way)
    : body_(body), places_(simulated::places_of(body, clearance)), elements_(elements), sides_(sides.size()) {
  ways_.reserve(sides.size() * elements * places_.count());
  for (const std::string& modes : sides) {
    for (std::size_t element = 0; element < elements; ++element) {
      const auto reach = [&](const std::vector<Spot>& places) {
        for (const Spot& place : places) ways_.push_back(way(element, modes, place));
      };
      for (const BodyLattice& lattice : places_.lattices) reach(lattice.places);
      for (const BodyEdge& edge : places_.edges) reach(edge.places);
    }
  }
}

std::size_t BodyEchoes::bytes(const Body& body, double clearance, std::size_t elements, std::size_t sides) {
  return sizeof(Way) * elements * sides * simulated::place_count(body, clearance);
}

BodyEchoes::Pair BodyEchoes::pair(std::size_t side, std::size_t transmit, std::size_t side_back, std::size_t receive) const {
  const std::size_t count = places_.count();
  return {ways_.data() + (side * elements_ + transmit) * count, ways_.data() + (side_back * elements_ + receive) * count};
}

void BodyEchoes::add_face(const Pair& pair, std::vector<Echo>& echoes) const {
  // The earliest place among those that have neighbours on all sides.
  const BodyLattice* lattice = nullptr;
  std::size_t base = 0;
  std::size_t best = 0;
  std::size_t first = 0;
  for (const BodyLattice& one : places_.lattices) {
    for (std::size_t row = 1; row + 1 < one.rows(); ++row) {
      for (std::size_t column = 1; column + 1 < one.columns; ++column) {
        const std::size_t k = row * one.columns + column;
        const double time = pair.time(first + k);
        if (std::isnan(time) || (lattice != nullptr && !(time < pair.time(base + best)))) continue;
        lattice = &one;
        base = first;
        best = k;
      }
    }
    first += one.places.size();
  }
  if (lattice == nullptr) return;
  const auto beside = [&](int row, int column) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(best) + row * static_cast<std::ptrdiff_t>(lattice->columns) +
                                    column);
  };
  const auto vertex = vertex_of([&](int row, int column) { return pair.time(base + beside(row, column)); });
  if (!vertex) return;
  const auto between = [&](const std::vector<Spot>& spots) {
    return spots[best] + (0.5 * vertex->column) * (spots[beside(0, 1)] - spots[beside(0, -1)]) +
           (0.5 * vertex->row) * (spots[beside(1, 0)] - spots[beside(-1, 0)]);
  };
  const Spot at = between(lattice->places);
  if (!holds(body_, at)) return;
  const simulated::Spot normal = between(lattice->normals);
  const Way* const out = pair.out + base;
  const Way* const back = pair.back + base;
  double there = cosine(normal, at, out[best].last);
  double here = cosine(normal, at, back[best].last);
  if (!places_.edges.empty() && there < 0.0) {  // the other face of a flat body
    there = -there;
    here = -here;
  }
  if (!(there > 0.0 && here > 0.0)) return;
  const auto factor = [&](const Way* way) {
    return std::max(0.0, way[best].factor + 0.5 * vertex->column * (way[beside(0, 1)].factor - way[beside(0, -1)].factor) +
                             0.5 * vertex->row * (way[beside(1, 0)].factor - way[beside(-1, 0)].factor));
  };
  const double amplitude = body_.reflectivity * std::sqrt(std::sqrt(there * here)) * factor(out) * factor(back);
  if (amplitude != 0.0) echoes.push_back({vertex->value, amplitude});
}

void BodyEchoes::add_edge(const Pair& pair, const BodyEdge& edge, std::vector<Echo>& echoes) const {
  const std::size_t count = edge.places.size();
  // The edge sends an echo from the place that is reached first; a round edge also from the one that is reached last.
  for (const double sign : {1.0, -1.0}) {
    if (sign < 0.0 && !edge.closed) continue;
    const std::size_t first = edge.closed ? 0 : 1;
    const std::size_t last = edge.closed ? count - 1 : count - 2;
    std::size_t best = count;
    for (std::size_t k = first; k <= last; ++k) {
      const double time = pair.time(k);
      if (std::isnan(time) || (best < count && !(sign * time < sign * pair.time(best)))) continue;
      best = k;
    }
    if (best == count) continue;
    const double before = pair.time((best + count - 1) % count);
    const double after = pair.time((best + 1) % count);
    const double bend = before - 2.0 * pair.time(best) + after;
    if (!(sign * bend > 0.0)) continue;
    const double offset = 0.5 * (before - after) / bend;
    // Beyond a corner there is no edge.
    const double place = static_cast<double>(best) + offset;
    if (!edge.closed && (place < static_cast<double>(first) || place > static_cast<double>(last))) continue;
    const double amplitude = edge_share * body_.reflectivity * pair.out[best].factor * pair.back[best].factor;
    if (amplitude != 0.0) echoes.push_back({pair.time(best) - 0.25 * (before - after) * offset, amplitude});
  }
}

void BodyEchoes::add(std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const {
  std::size_t edges = 0;
  for (const BodyLattice& lattice : places_.lattices) edges += lattice.places.size();
  for (std::size_t a = 0; a < sides_; ++a) {
    for (std::size_t b = 0; b < sides_; ++b) {
      const Pair both = pair(a, transmit, b, receive);
      add_face(both, echoes);
      std::size_t first = edges;
      for (const BodyEdge& edge : places_.edges) {
        add_edge({both.out + first, both.back + first}, edge, echoes);
        first += edge.places.size();
      }
    }
  }
}

}  // namespace echoform
