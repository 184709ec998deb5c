// Multiplies A-scans by a gain that depends on time. It compensates attenuation before any filter.
//
// Input   float32 [rows, samples], any row stride.
// Output  float32 [rows, samples], rows padded to a multiple of 16 samples (the padding is not written): each sample times the
//         gain at its place.
#pragma once

#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct TimeGainOptions {
  std::shared_ptr<const std::vector<float>> gain;  ///< by sample, finite

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const TimeGainOptions& a, const TimeGainOptions& b) {
    return a.gain == b.gain || (a.gain && b.gain && *a.gain == *b.gain);
  }
};

/// The kind of the stage "time-gain", whose options are TimeGainOptions. It holds the gains on CUDA, else nothing.
extern const StageKind time_gain_stage;

/// Throws InputError if a gain is not finite.
[[nodiscard]] std::unique_ptr<Stage> make_time_gain_cpu(TimeGainOptions options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_time_gain_cuda(TimeGainOptions options, Backend& backend);

/// The checks of the input that every implementation makes, the resulting output, and whether a stage can change to other
/// options with `samples` gains. Both functions throw InputError.
[[nodiscard]] BlockSpec time_gain_output(const TimeGainOptions& options, const BlockSpec& input);
[[nodiscard]] bool accepts_time_gain(const StageOptions& options, std::size_t samples);

/// Throws InputError, naming `stage`, unless there is a gain for each of `samples`, all finite.
void require_gain(const std::vector<float>& gain, std::size_t samples, const char* stage);

}  // namespace echoform
