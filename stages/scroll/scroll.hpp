// Images that scroll: some rows of each frame follow those of earlier frames.
//
// Input   float32 [rows, columns], any row stride.
// Output  float32 [kept, columns], rows without gaps: the last `kept` of the rows first ... first + count - 1 of all frames
//         so far, the newest last; 0 where there have been fewer. restart() forgets all rows. A changed `first` applies from the
//         frame for which it is set: rows that are kept stay as they are.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct ScrollOptions {
  static constexpr std::size_t most_kept = 8192;

  std::size_t first = 0;  ///< row of the input
  std::size_t count = 1;  ///< rows of a frame, at least 1
  std::size_t kept = 2;   ///< count ... most_kept

  [[nodiscard]] friend bool operator==(const ScrollOptions&, const ScrollOptions&) = default;
};

/// The kind of the stage "scroll", whose options are ScrollOptions. It holds the rows that it keeps.
extern const StageKind scroll_stage;

[[nodiscard]] std::unique_ptr<Stage> make_scroll_cpu(const ScrollOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_scroll_cuda(const ScrollOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec scroll_output(const ScrollOptions& options, const BlockSpec& input);
/// Whether `options`, which are for `input`, equal `before` except for `first`. Throws InputError if `first` is out of its
/// range.
[[nodiscard]] bool accepts_scroll(const StageOptions& options, const ScrollOptions& before, const BlockSpec& input);

/// Bytes on CUDA in addition to the rows: the first row as a float, and the place in the ring of the next row.
inline constexpr std::size_t scroll_number_bytes = 8;

}  // namespace echoform
