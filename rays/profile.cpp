// A user's profile from a file: lines, arcs, a smooth spline through points, or the points alone.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "rays/profile.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_points = 4096;
constexpr double longest = 10.0;  // m

/// Checks that the lines run from left to right and are no longer than parts are. Otherwise the sides would be swapped, or the
/// numbers are not metres.
void check_points(const std::vector<ProfilePoint>& points, const std::string& path) {
  if (points.size() < 2) throw InputError(path, fmt::format("{} points", points.size()), "at least two");
  double whole = 0.0;
  for (std::size_t k = 1; k < points.size(); ++k) whole += length(points[k].at - points[k - 1].at);
  if (whole > longest)
    throw InputError(path, fmt::format("a length of {:.4g} m", whole), fmt::format("metres, at most {:g} in all", longest));
  if (points.back().at.x < points.front().at.x) throw InputError(path, "points from right to left", "from left to right");
}

Segment segment_to(const ProfilePoint& from, const ProfilePoint& to, const std::string& where) {
  if (to.radius == 0.0) return line_segment(from.at, to.at);
  const Vector2 way = to.at - from.at;
  const double chord = length(way);
  const double radius = std::abs(to.radius);
  if (!(chord > 0.0) || chord > 2.0 * radius) {
    throw InputError(where, fmt::format("a radius of {:g} m over {:g} m", radius, chord),
                     "at least half of the points' distance");
  }
  const double half = std::asin(0.5 * chord / radius);
  const double up = to.radius > 0.0 ? 1.0 : -1.0;
  // The centre lies below an arc that bulges upwards.
  const Vector2 middle = 0.5 * (from.at + to.at);
  const Vector2 below = (up * radius * std::cos(half) / chord) * Vector2{-way.z, way.x};
  const Vector2 centre = middle + below;
  const Vector2 out = from.at - centre;
  return arc_segment(centre, radius, std::atan2(out.z, out.x), up * 2.0 * half);
}

/// Natural cubic spline through the points over their chord lengths: the second derivative is continuous, and 0 at the ends.
std::vector<Segment> spline(const std::vector<ProfilePoint>& points, const std::string& where) {
  const std::size_t n = points.size();
  std::vector<double> h(n - 1);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h[k] = length(points[k + 1].at - points[k].at);
    if (!(h[k] > 0.0))
      throw InputError(fmt::format("{}, point {}", where, k + 1), "the point before once more", "points that differ");
  }
  // The equations for the slopes m by length are tridiagonal and diagonally dominant.
  std::vector<double> diagonal(n), above(n), below(n);
  std::vector<Vector2> m(n);
  diagonal[0] = diagonal[n - 1] = 2.0;
  above[0] = below[n - 1] = 1.0;
  m[0] = (3.0 / h[0]) * (points[1].at - points[0].at);
  m[n - 1] = (3.0 / h[n - 2]) * (points[n - 1].at - points[n - 2].at);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    below[k] = h[k];
    diagonal[k] = 2.0 * (h[k - 1] + h[k]);
    above[k] = h[k - 1];
    m[k] = 3.0 * ((h[k] / h[k - 1]) * (points[k].at - points[k - 1].at) + (h[k - 1] / h[k]) * (points[k + 1].at - points[k].at));
  }
  for (std::size_t k = 1; k < n; ++k) {
    const double factor = below[k] / diagonal[k - 1];
    diagonal[k] -= factor * above[k - 1];
    m[k] = m[k] - factor * m[k - 1];
  }
  m[n - 1] = (1.0 / diagonal[n - 1]) * m[n - 1];
  for (std::size_t k = n - 1; k-- > 0;) m[k] = (1.0 / diagonal[k]) * (m[k] - above[k] * m[k + 1]);
  std::vector<Segment> segments;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    segments.push_back(cubic_segment(points[k].at, h[k] * m[k], points[k + 1].at, h[k] * m[k + 1]));
  }
  return segments;
}

}  // namespace

std::vector<ProfilePoint> read_profile(const std::string& path, const std::string& section) {
  constexpr CsvFormat format{.file = "a CSV file with lines of x,z in m",
                             .row = "x,z or x,z,radius in m",
                             .line = "x,z in m",
                             .number = "a number in m",
                             .rows = "points",
                             .least = 2,
                             .most = 3,
                             .most_rows = most_points};
  std::vector<ProfilePoint> points;
  for (const std::vector<double>& row : read_csv_numbers(path, section + " file", format)) {
    points.push_back({{row[0], row[1]}, row.size() == 3 ? row[2] : 0.0});
  }
  check_points(points, path);
  return points;
}

std::vector<Segment> profile_segments(const std::vector<ProfilePoint>& points, const std::string& interpolation,
                                      const std::string& name, const std::string& key) {
  if (interpolation == "spline") return spline(points, name);
  if (interpolation != "lines") throw InputError(key, fmt::format("\"{}\"", interpolation), "\"lines\" or \"spline\"");
  std::vector<Segment> segments;
  for (std::size_t k = 1; k < points.size(); ++k)
    segments.push_back(segment_to(points[k - 1], points[k], fmt::format("{}, point {}", name, k)));
  return segments;
}

namespace {

Surface make_profile(const SurfaceDescription& d) {
  const auto file = d.words.find("file");
  if (file == d.words.end()) {
    throw InputError(fmt::format("{} file", d.where), "no value",
                     "a file with lines of x,z in m, which kind = \"profile\" needs");
  }
  const auto stated = d.words.find("interpolation");
  const std::string between = stated == d.words.end() ? "lines" : stated->second;
  std::vector<ProfilePoint> points = read_profile(file->second, d.where);
  for (ProfilePoint& point : points) point.at = point.at + Vector2{d.numbers.at("x"), d.numbers.at("z")};
  const std::string name = fmt::format("{} {}", d.where, file->second);
  if (between == "lines" || between == "spline") return Surface(name, profile_segments(points, between, name, d.where));
  if (between == "points") {
    std::vector<Vector2> places;
    for (const ProfilePoint& point : points) places.push_back(point.at);
    return Surface::sampled(name, std::move(places));
  }
  throw InputError(fmt::format("{} interpolation", d.where), fmt::format("\"{}\"", between),
                   "\"lines\", \"spline\" or \"points\"");
}

}  // namespace

SurfaceKind profile_kind() {
  SurfaceKind kind;
  kind.name = "profile";
  kind.meaning = "A profile from a CSV file, points from left to right.";
  kind.parameters = {{"x", "m", "Added to the profile's x.", -10.0, 10.0, 0.0},
                     {"z", "m", "Added to the profile's z.", -10.0, 10.0, 0.0},
                     {"file",
                      "",
                      "CSV file: x,z in m a line, and a radius where an arc leads to the point (positive: it bulges upwards).",
                      0.0,
                      0.0,
                      {},
                      true,
                      true},
                     {"interpolation",
                      "",
                      "Between the points: \"lines\" (and arcs), \"spline\" (smooth), or \"points\" (rays go over points only).",
                      0.0,
                      0.0,
                      {},
                      true}};
  kind.make = make_profile;
  return kind;
}

}  // namespace echoform
