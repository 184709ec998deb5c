// Spatial compounding: parallel lines of several steering angles become one image, the mean at each place over the angles that
// cover it. Speckle of directions that share nothing is independent, and its variance falls as their number; what reflects
// into all directions stays. S. K. Jespersen, J. E. Wilhjelm and H. Sillesen, Ultrason. Imaging 20(2), 81 (1998).
//
// Input   float32 [lines of all sets, ranges], any row stride: linear envelopes, before any logarithm.
// Output  float32 [lines of the set `image`, ranges], rows without gaps. At the place p of a line and a range of that set
//
//     mean over the sets that cover p of the envelope of that set at p
//
//         each interpolated linearly in line and range. A set covers what lies between its outermost lines and between its
//         first and last range; the set `image` covers all of it. Without `all` the envelopes of the set `image` as they are.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/line_compound/line_compound_math.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// Lines of one angle: line l begins at (x + l * pitch, z) and runs along (sin angle, cos angle).
struct SteeredLines {
  std::size_t first_row = 0;  ///< of the input
  std::size_t lines = 0;      ///< at least 2
  Metres x;
  Metres z;
  Metres pitch;        ///< > 0
  double angle = 0.0;  ///< radians from +z towards +x, -pi / 2 to pi / 2 without the ends

  constexpr auto operator<=>(const SteeredLines&) const = default;
};

struct LineCompoundOptions {
  std::vector<SteeredLines> sets;
  std::size_t image = 0;  ///< the set whose lines the output has
  LineRanges ranges;      ///< of every set
  bool all = true;        ///< may change while frames run

  [[nodiscard]] friend bool operator==(const LineCompoundOptions&, const LineCompoundOptions&) = default;
};

/// The kind of the stage "line-compound", whose options are LineCompoundOptions. It holds its tables, on CUDA in device
/// memory with a number beside them.
extern const StageKind line_compound_stage;

/// prepare() throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_line_compound_cpu(LineCompoundOptions options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_line_compound_cuda(LineCompoundOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec line_compound_output(const LineCompoundOptions& options, const BlockSpec& input);
/// Whether `options` equal `before` except for LineCompoundOptions::all.
[[nodiscard]] bool accepts_line_compound(const StageOptions& options, const LineCompoundOptions& before);

/// Position of the image among the lines of each set. The options must be valid.
struct LineCompoundTables {
  std::vector<CompoundSet> sets;
  std::vector<RangePlace> places;  ///< [set, range]
};
[[nodiscard]] LineCompoundTables line_compound_tables(const LineCompoundOptions& options);
[[nodiscard]] std::size_t line_compound_table_bytes(const LineCompoundOptions& options);

}  // namespace echoform
