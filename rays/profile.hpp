// Profiles as CSV files state them: points, and what leads from one to the next.
#pragma once

#include <string>
#include <vector>

#include "rays/curve.hpp"

namespace echoform {

struct ProfilePoint {
  Vector2 at;
  double radius = 0.0;  ///< of the arc that leads here, positive where it bulges upwards; 0: a line
};

/// x,z or x,z,radius a line, in metres, from left to right; `section` is for messages ("part.toml: [surface]"). Throws InputError
/// as read_csv_numbers(), and for fewer than two points, a length above 10 m, and points from right to left.
[[nodiscard]] std::vector<ProfilePoint> read_profile(const std::string& path, const std::string& section);

/// "lines" (and arcs) or "spline": a natural cubic one over the chord lengths. Throws InputError for arcs that their points do
/// not allow, the same point twice in a spline, and, naming `key`, for another word.
[[nodiscard]] std::vector<Segment> profile_segments(const std::vector<ProfilePoint>& points, const std::string& interpolation,
                                                    const std::string& name, const std::string& key);

}  // namespace echoform
