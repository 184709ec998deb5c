// A kind of surface that Echoform does not have: corrugated along x,
//   z(x) = z + height cos(2 pi x / period),
// deepest at x = 0. One function and one line of registration: the program then has all commands of `echoform`, [surface] and
// [backwall] take kind = "corrugated" with its keys, checked, live, and in the panel of the viewer page, and the simulated source
// sends echoes through it. corrugated.toml is a part with such a surface.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/program.hpp"
#include "base/errors.hpp"
#include "rays/surface_kind.hpp"

using namespace echoform;

namespace {

/// Cubics a period that join with one tangent: off the cosine by less than 7e-5 of its height.
constexpr int pieces = 16;

SurfaceKind corrugated_kind() {
  SurfaceKind kind;
  kind.name = "corrugated";
  kind.meaning = "A cosine along x, deepest at x = 0.";
  kind.parameters = {{"z", "m", "Mean depth.", -10.0, 10.0, 0.0},
                     {"period", "m", "Length of a period.", 1e-4, 1.0},
                     {"height", "m", "How far it rises and falls from its mean depth.", 0.0, 0.1},
                     {"width", "m", "How wide it is about x = 0, rounded up to whole periods on either side.", 1e-3, 1.0, 0.06}};
  kind.make = [](const SurfaceDescription& d) {
    const double z = d.numbers.at("z"), period = d.numbers.at("period"), height = d.numbers.at("height");
    const double k = 2.0 * std::numbers::pi / period;
    // What one key cannot tell alone; each by itself is within its bounds already.
    if (height * k > 1.0) {
      throw InputError(d.where + " height", fmt::format("{:g} m with a period of {:g} m", height, period),
                       "a slope of 45 degrees at most: height <= period / (2 pi)");
    }
    const auto at = [&](double x) { return Vector2{x, z + height * std::cos(k * x)}; };
    const double step = period / pieces;
    const auto tangent = [&](double x) { return Vector2{step, -step * k * height * std::sin(k * x)}; };
    const int each_side = pieces * static_cast<int>(std::ceil(0.5 * d.numbers.at("width") / period));
    std::vector<Segment> segments;
    for (int i = -each_side; i < each_side; ++i) {
      const double from = i * step, to = (i + 1) * step;
      segments.push_back(cubic_segment(at(from), tangent(from), at(to), tangent(to)));
    }
    return Surface(d.where, std::move(segments));
  };
  return kind;
}

}  // namespace

int main(int argc, char** argv) {
  add_surface_kind(corrugated_kind());
  return run_program(argc, argv);
}
