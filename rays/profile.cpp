// A profile of one's own, from a file: lines, arcs, a smooth spline through points, or the points alone.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_points = 4096;
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 20;
constexpr double longest = 10.0;  // m

struct ProfilePoint {
  Vector2 at;
  double radius = 0.0;  ///< of the arc that leads here, positive where it bulges upwards; 0: a line
};

double number_of(std::string_view text, const std::string& where) {
  // std::strtod takes hexadecimal numbers too.
  const bool plain = text.find_first_of(std::string_view("xXpP\0", 5)) == std::string_view::npos;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  while (end != nullptr && (*end == ' ' || *end == '\t' || *end == '\r')) ++end;
  if (!plain || end == copy.c_str() || *end != '\0' || !std::isfinite(value)) {
    throw InputError(where, fmt::format("\"{}\"", text.substr(0, 40)), "a number in m");
  }
  return value;
}

constexpr const char* a_profile = "a CSV file with lines of x,z in m";

void check_file(const std::string& path, const std::string& key) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw InputError(key, fmt::format("{}, which does not exist", path), a_profile);
  if (error) throw InputError(key, fmt::format("{}, which cannot be read", path), a_profile);
  // A device or a pipe would never end.
  if (status.type() != std::filesystem::file_type::regular)
    throw InputError(key, fmt::format("{}, which is no regular file", path), a_profile);
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw InputError(key, fmt::format("{}, which cannot be read", path), a_profile);
  if (bytes > largest_file) throw InputError(key, fmt::format("{}, a file of {} bytes", path, bytes), "at most 1 MiB");
}

/// Lines from left to right, no longer than parts are: else sides would be the wrong ones, or the numbers no metres.
void check_points(const std::vector<ProfilePoint>& points, const std::string& path) {
  if (points.size() < 2) throw InputError(path, fmt::format("{} points", points.size()), "at least two");
  double whole = 0.0;
  for (std::size_t k = 1; k < points.size(); ++k) whole += length(points[k].at - points[k - 1].at);
  if (whole > longest)
    throw InputError(path, fmt::format("a length of {:.4g} m", whole), fmt::format("metres, at most {:g} in all", longest));
  if (points.back().at.x < points.front().at.x) throw InputError(path, "points from right to left", "from left to right");
}

/// x,z or x,z,radius a line, in metres; a first line of words is a heading, # begins a remark.
std::vector<ProfilePoint> read_profile(const std::string& path, const std::string& section) {
  check_file(path, section + " file");
  std::ifstream file(path);
  if (!file) throw InputError(section + " file", fmt::format("{}, which cannot be read", path), a_profile);
  std::vector<ProfilePoint> points;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.size() > 1024)
      throw InputError(fmt::format("{}, line {}", path, number), "a line of more than 1024 bytes", "x,z in m");
    if (line.find('\0') != std::string::npos)
      throw InputError(fmt::format("{}, line {}", path, number), "a byte of 0", "text in ASCII or UTF-8: x,z in m");
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // UTF-8's byte order mark
    if (const std::size_t remark = line.find('#'); remark != std::string::npos) line.resize(remark);
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const char first = line[begin];
    if (points.empty() && ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'))) continue;
    const std::string where = fmt::format("{}, line {}", path, number);
    std::vector<std::string_view> fields;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t comma = std::min(line.find(',', from), line.size());
      fields.push_back(std::string_view(line).substr(from, comma - from));
      from = comma + 1;
    }
    if (fields.size() < 2 || fields.size() > 3) {
      throw InputError(where, fmt::format("{} values", fields.size()), "x,z or x,z,radius in m");
    }
    ProfilePoint point{{number_of(fields[0], where), number_of(fields[1], where)}, 0.0};
    if (fields.size() == 3) point.radius = number_of(fields[2], where);
    points.push_back(point);
    if (points.size() > most_points) throw InputError(where, "more points", fmt::format("at most {}", most_points));
  }
  check_points(points, path);
  return points;
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
  // Slopes m by length: tridiagonal, diagonally dominant.
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
  if (between == "lines") {
    std::vector<Segment> segments;
    for (std::size_t k = 1; k < points.size(); ++k)
      segments.push_back(segment_to(points[k - 1], points[k], fmt::format("{}, point {}", name, k)));
    return Surface(name, std::move(segments));
  }
  if (between == "spline") return Surface(name, spline(points, name));
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
