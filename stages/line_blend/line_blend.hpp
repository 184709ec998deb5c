// Lines that several transmit events formed at one place become one line: neighbouring events are blended.
//
// Input   float32 or complex64 [rows, ranges], any row stride: a line of one event each.
// Output  the same type [lines, ranges], rows padded with zeros to a multiple of 16: line l is the sum of its terms,
//
//     out[l][k] = sum over the terms t of l of weights[t.weights][k] in[t.row][k]
//
//         in the order of the terms, in single precision. Complex numbers have the same weight for both parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct BlendTerm {
  std::uint32_t row = 0;      ///< of the input
  std::uint32_t weights = 0;  ///< table of LineBlendTable::weights

  constexpr auto operator<=>(const BlendTerm&) const = default;
};

struct LineBlendTable {
  std::size_t ranges = 0;
  std::vector<std::vector<BlendTerm>> lines;  ///< the terms of each, at least one
  std::vector<float> weights;                 ///< [table, range], finite; terms share tables

  auto operator<=>(const LineBlendTable&) const = default;
};

struct LineBlendOptions {
  std::shared_ptr<const LineBlendTable> table;

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const LineBlendOptions& a, const LineBlendOptions& b) {
    return a.table == b.table || (a.table && b.table && *a.table == *b.table);
  }
};

/// The kind of the stage "line-blend", whose options are LineBlendOptions. On CUDA it holds the table, else nothing beside
/// its options.
extern const StageKind line_blend_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_line_blend_cpu(LineBlendOptions options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_line_blend_cuda(LineBlendOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec line_blend_output(const LineBlendOptions& options, const BlockSpec& input);

}  // namespace echoform
