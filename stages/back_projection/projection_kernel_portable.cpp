// Plain C++: one voxel at a time.
#include <cmath>

#include "stages/back_projection/projection_loop.hpp"

namespace echoform::projection {
namespace {

struct OneLane {
  static constexpr std::size_t lanes = 1;
  using Real = float;

  static Real all(float v) { return v; }
  static Real load(const float* p) { return *p; }
  static void store(float* p, Real v) { *p = v; }
  static Real add(Real a, Real b) { return a + b; }
  static Real subtract(Real a, Real b) { return a - b; }
  static Real multiply(Real a, Real b) { return a * b; }
  static Real multiply_add(Real a, Real b, Real c) { return a * b + c; }
  static Real greater(Real a, Real b) { return a > b ? a : b; }
  static Real inverse_root(Real v) { return 1.0F / std::sqrt(v); }
  static Real where_at_least(Real value, Real least, Real kept) { return value >= least ? kept : 0.0F; }
  static Real inside(Real ee, Real se, float ss) { return part_inside(ee, se, ss); }

  struct Lookup {
    float last;
    explicit Lookup(const Call& call) : last(call.last) {}
  };
  struct Nearest {
    explicit Nearest(Real /*along*/) {}
  };
  template <int>
  static Real sample(const float* row, Real u, const Lookup& lookup, const Nearest& /*nearest*/) {
    if (!(u >= 0.0F && u < lookup.last)) return 0.0F;
    const auto n = static_cast<std::size_t>(u);
    const float f = u - static_cast<float>(n);
    return row[n] + f * (row[n + 1] - row[n]);
  }
};

}  // namespace

void project_portable(const Call& call, Tile& tile) {
  call.plain() ? project_by_law<OneLane, true, 0>(call, tile) : project_by_law<OneLane, false, 0>(call, tile);
}

}  // namespace echoform::projection
