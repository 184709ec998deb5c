// STL files, binary and ASCII, and the part that their triangles make.
#include <cmath>
#include <limits>

#include "base/errors.hpp"
#include "rays/mesh_field.hpp"
#include "rays/stl_file.hpp"
#include "rays/triangle_mesh.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  try {
    const auto triangles = parse_stl(fuzz::Input(data, size).text(), "part.stl", 1e-3);
    const auto mesh = std::make_shared<const TriangleMesh>("part.stl", triangles);
    fuzz::require(mesh->size() <= triangles.size(), "no more triangles than there are");
    const Point source = point_of({1e-3, 2e-3, -20e-3});
    const RayPath path{{MetresPerSecond(1480.0), MetresPerSecond(5900.0)}, {{}}};
    for (const double depth : {-30e-3, 0.0, 0.4e-3, 10e-3}) {
      const Vector3 place{0.1e-3, 0.2e-3, depth};
      fuzz::require(std::isfinite(mesh->signed_distance(place)), "a distance");
      const Point point = point_of(place);
      double seconds = 0.0;
      make_mesh_field(path, {source}, mesh)->times(0, 1, {&point, 1}, {&seconds, 1});
      fuzz::require(std::isnan(seconds) || seconds * 5900.0 * (1.0 + 1e-9) >= length(place - vector_of(source)),
                    "no ray quicker than straight through steel");
    }
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
  return 0;
}
