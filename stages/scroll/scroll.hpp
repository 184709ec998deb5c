// Images that scroll: some rows of each frame, below those of the frames before.
//
// Input   float32 [rows, columns], any row stride.
// Output  float32 [kept, columns], rows without gaps: the last `kept` of the rows first ... first + count - 1 of all frames so
// far,
//         the newest last; 0 where there have not been as many. After restart() there have been none. Another `first` counts from
//         the frame on that it is set for: rows that are kept stay as they were.
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

/// The same bits on the GPU; `backend` is a CUDA backend and outlives the stage. Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_scroll_cuda(const ScrollOptions& options, Backend& backend);

/// What every implementation asks of its options and its input, and the output that comes of it. Throws InputError.
[[nodiscard]] BlockSpec scroll_output(const ScrollOptions& options, const BlockSpec& input);
/// Whether `options`, which are for `input`, are `before` but for `first`. Throws InputError if that is out of its range.
[[nodiscard]] bool accepts_scroll(const StageOptions& options, const ScrollOptions& before, const BlockSpec& input);

/// On CUDA beside the rows: the first row as a float and the place in the ring where the next one goes.
inline constexpr std::size_t scroll_number_bytes = 8;

}  // namespace echoform
