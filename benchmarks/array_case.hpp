// The imaging that figures are quoted for: a linear array, pitch 0.65 mm, 40 MHz, above a square of 75 mm x 75 mm of aluminium
// (6300 m/s; shear 3130 m/s); or a matrix array, pitch 0.65 mm both ways, above a cube of 40 mm.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform::benchmarks {

struct ArrayCase {
  std::size_t elements = 128;
  std::size_t samples = 4096;  ///< of an A-scan, int16
  std::size_t pixels = 256;    ///< along x and z
  MatrixKind matrix = MatrixKind::full;
  std::vector<std::string> views{"LL"};
  double accuracy = 1e-3;  ///< ImagingPlan::accuracy
  bool weighted = false;   ///< as weighted_plan()
  std::size_t waves = 0;   ///< plane waves from -20 to 20 degrees instead of element after element; 0: none
  std::size_t rows = 1;    ///< of `elements` each: more than one are a matrix array above a volume, `pixels` along y too

  [[nodiscard]] bool volume() const { return rows > 1; }
  [[nodiscard]] std::size_t element_count() const { return elements * rows; }
  /// "128", "8 x 8".
  [[nodiscard]] std::string array_text() const;
  /// "256 x 256", "128 x 128 x 128".
  [[nodiscard]] std::string grid_text() const;
};

[[nodiscard]] ImagingPlan array_plan(const ArrayCase& test);

/// The same with weights that vary over elements and image: a Hann window and the elements' directivity.
[[nodiscard]] ImagingPlan weighted_plan(ImagingPlan plan);

/// A-scans that a pixel looks up: N (N + 1) / 2 in each view whose pairs are looked up once, else one for every event and
/// element. Lookups outside the A-scan are among them.
[[nodiscard]] double pairs_of(const ImagingPlan& plan);

/// Whether every pair of the view costs one lookup: its legs and weights do not tell (i, j) from (j, i), and the matrix is half
/// or may be halved.
[[nodiscard]] bool looked_up_once(const ImagingPlan& plan, std::size_t view);

}  // namespace echoform::benchmarks
