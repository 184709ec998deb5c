// The angles at which the rays of a leg leave their elements.
//
// By Hamilton's equations the time T to a pixel changes with the source's place by -d / c, d the unit vector in which the
// ray leaves and c the velocity there. Along the element's normal n this derivative gives the cosine: d . n = -c dT/dn,
// computed here by the difference of the times from two sources that are shifted along the normal, to either side. Only the
// times of rays are needed, so that the fast fields of rays suffice. Fields that state where their rays meet the first
// surface give d from that place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/vector3.hpp"
#include "cpu/cpu_backend.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/part_bounds.hpp"
#include "rays/ray_path.hpp"

namespace echoform {

class RayDepartures final : public Departures {
 public:
  /// Makes one source per element, whose rays go along `path` to pixels within `bounds`. The path must be valid (RaySolver).
  RayDepartures(const Probe& probe, const RayPath& path, const PartBounds& bounds);

  [[nodiscard]] MetresPerSecond velocity() const noexcept override { return path_.velocities.front(); }
  /// The cosine for a pixel in the source's plane of constant y comes from the place where the ray meets the first
  /// interface. For other pixels, and through surfaces in three dimensions, it comes from differences of times, to 1e-3, or
  /// from that place where the field of rays provides it.
  void cosines(std::size_t source, std::span<const Point> pixels, std::span<double> cosines) const override;

  /// The same for the pixels of a grid, computed ahead on `threads` threads (0: as many as processors) and kept in single
  /// precision: 4 bytes a source and pixel. `pixels` are those of `grid`. By differences, to 1e-4 where legs are longer than 2
  /// mm; where the moved sources' rays are not those of the source, beside corners, shadows and kinks of T, as cosines(): rays
  /// whose angles differ by less than 0.02 in the cosine may be taken for one. Other places are asked of a copy of this.
  [[nodiscard]] std::unique_ptr<const Departures> tabulated(const Grid& grid, const PartPixels& pixels, std::size_t threads,
                                                            SimdLevel level) const;

 private:
  struct Source {
    Point centre;
    Point back;   ///< moved against the normal
    Point ahead;  ///< along it
    double step = 0.0;
    Vector3 normal;  ///< unit
  };

  static double along_ray(const Source& from, const RayTrace& ray);
  [[nodiscard]] double by_differences(const Source& from, const Point& pixel) const;
  /// The cosine of a ray that meets its first surface at `place`.
  [[nodiscard]] double to_place(const Source& from, Vector3 place, const Point& pixel) const;

  std::vector<Source> sources_;
  RayPath path_;
  PartBounds bounds_;
};

}  // namespace echoform
