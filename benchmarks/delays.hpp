// How long the tables of delays through surfaces take to build, and against the general solver.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "cpu/cpu_backend.hpp"
#include "methods/tfm/plan.hpp"
#include "rays/surface.hpp"

namespace echoform::benchmarks {

/// One leg of an immersed linear probe, 0.5 mm pitch, 20 mm above the surface: water, surface, aluminium as L. Or of a matrix
/// array, above a volume.
struct DelaysCase {
  std::size_t elements = 128;
  std::size_t rows = 1;      ///< of `elements` each
  std::size_t pixels = 256;  ///< on each side, over 64 mm x 60 mm; of a volume a cube of 40 mm
  std::size_t rounds = 7;    ///< timed, after one that is not
  std::size_t threads = 0;   ///< 0: all that this process may use

  [[nodiscard]] bool volume() const { return rows > 1; }
  /// Entries of a table.
  [[nodiscard]] std::size_t rays() const { return elements * rows * pixels * pixels * (volume() ? pixels : 1); }
};

struct DelaysFigure {
  SimdLevel level = SimdLevel::portable;
  Spread seconds;                   ///< a whole table, with the masks of the part
  Spread ratio;                     ///< the general solver's time a ray over the table's, both on all threads, round by round
  double largest_difference = 0.0;  ///< s, of rays that both have
  std::size_t disagreements = 0;    ///< rays that one of both has
};

/// A table of interpolated times beside the one without, by the widest instruction set, taking turns.
struct DelaysInterpolated {
  Spread exact;                     ///< s
  Spread seconds;                   ///< s
  Spread ratio;                     ///< exact over interpolated, round by round
  std::size_t found = 0;            ///< rays of the table
  double largest_difference = 0.0;  ///< s, over all entries of both tables
  std::size_t disagreements = 0;    ///< entries with a time in one of both
};

struct DelaysSurface {
  std::string name;
  std::string field;                  ///< RayField::name
  std::size_t nodes = 0;              ///< of the surface
  double reached = 0.0;               ///< part of the rays that exist
  Spread general;                     ///< the general solver, s a ray and thread
  std::size_t general_rays = 0;       ///< on which it was timed, and compared with
  std::vector<DelaysFigure> figures;  ///< an instruction set each, the widest first
  DelaysInterpolated interpolated;
};

struct DelaysReport {
  std::size_t rays = 0;    ///< entries of a table
  double tolerance = 0.0;  ///< s, of interpolated times: half of a hundredth of the period
  std::size_t threads = 1;
  std::vector<DelaysSurface> surfaces;
};

/// The surfaces that are measured.
struct DelaysPart {
  std::string name;
  std::shared_ptr<const Surface> surface;
  std::shared_ptr<const Surface> backwall = nullptr;  ///< where there is one, rays are reflected there, as L
};
[[nodiscard]] std::vector<DelaysPart> delays_parts();
/// Those with a backwall, whose rays take the general solver.
[[nodiscard]] std::vector<DelaysPart> delays_skips();

/// The imaging whose only leg is the case's, from int16 A-scans of 4096 samples at 40 MHz.
[[nodiscard]] ImagingPlan delays_plan(const DelaysCase& test, const DelaysPart& part);

/// A table that the GPU makes where it is used, windows and whole-numbered delays of its tiles included.
struct DeviceDelays {
  std::string name;
  bool on_device = false;  ///< else the host makes it, and nothing is measured
  Spread seconds;          ///< from the call to the return, memory taken before
};
/// Measures each part; for volumes only planes and cylinders, since the host makes many rays of the other shapes one at a
/// time. Throws RuntimeFault without a GPU.
[[nodiscard]] std::vector<DeviceDelays> measure_device_delays(const DelaysCase& test);

/// Measures every surface; for volumes only a cylinder, whose table is made ray by ray.
[[nodiscard]] DelaysReport measure_delays(const DelaysCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
