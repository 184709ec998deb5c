// Images that fade: each pixel is a weighted mean of its previous value and its value in the frame.
//
// Input   float32 [rows, columns], any row stride: linear envelopes.
// Output  float32 [rows, columns], rows without gaps: y = p y' + (1 - p) x, y' the output of the frame before. The first frame
//         comes out as it is; another share counts from the frame on that it is set for. Pixels that are not finite come out as
//         they are and are not kept: the next frame's are mixed with what was before them. After restart() the next frame is
//         the first again.
#pragma once

#include <memory>

#include "base/interval.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct PersistenceOptions {
  static constexpr Interval shares{0.0, 0.99};

  double share = 0.0;  ///< p

  [[nodiscard]] friend bool operator==(const PersistenceOptions&, const PersistenceOptions&) = default;
};

/// The kind of the stage "persistence", whose options are PersistenceOptions. It holds one image.
extern const StageKind persistence_stage;

/// Throws InputError if the share is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_persistence_cpu(const PersistenceOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_persistence_cuda(const PersistenceOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const PersistenceOptions& options);
[[nodiscard]] BlockSpec persistence_output(const BlockSpec& input);

}  // namespace echoform
