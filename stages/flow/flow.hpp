// Images of flow from autocorrelations: velocity, power, or the variance of velocities.
//
// Input   float32 [lines * 3, ranges], any row stride, as stages/autocorrelation/ makes it: R0, Re R1 and Im R1 of each line.
// Output  float32 [lines, ranges], rows without gaps:
//
//   velocity   v = v_N arg(R1) / pi, positive towards the probe. An echo of frequency f0 at the velocity v_N = c PRF / (4 f0)
//              changes its phase by pi between two samples of an ensemble. Faster flow is aliased.
//   power      R0
//   variance   (v_N / pi)^2 2 (1 - |R1| / R0), at least 0, in m^2/s^2: the spectrum's second moment about its mean where that is
//              narrow beside the PRF
//
//         (C. Kasai et al., IEEE Trans. Sonics Ultrason. 32(3), 458, 1985, with 4 pi f0 / c radians a metre of range.) Velocity
//         and variance are 0 where R0 is less than `threshold` times the frame's greatest, is 0 or is NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class FlowKind : std::uint8_t { velocity, power, variance };

struct FlowOptions {
  FlowKind kind = FlowKind::velocity;
  MetresPerSecond nyquist;  ///< v_N, > 0
  double threshold = 0.0;   ///< of the power, 0 .. 1

  [[nodiscard]] friend bool operator==(const FlowOptions&, const FlowOptions&) = default;
};

/// The kind of the stage "flow", whose options are FlowOptions. The threshold may change while the stage runs.
extern const StageKind flow_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_flow_cpu(const FlowOptions& options);

/// The stage runs on the GPU. Powers have the same bits as on the CPU; velocities use another arc tangent. `backend` is a
/// CUDA backend and must outlive the stage. Only builds with CUDA have this function. Throws InputError if an option is out
/// of its range.
[[nodiscard]] std::unique_ptr<Stage> make_flow_cuda(const FlowOptions& options, Backend& backend);

/// Rows of a line in the input.
inline constexpr std::size_t flow_planes = 3;
/// Sizes on CUDA: the number of parts of a frame whose greatest powers are kept, and the number of floats that together hold
/// all bits of the threshold.
inline constexpr std::size_t flow_parts = 128;
inline constexpr std::size_t flow_threshold_pieces = 3;
inline constexpr std::size_t flow_device_floats = flow_parts + flow_threshold_pieces;

struct FlowScale {
  float of_radian = 0.0F;     ///< v_N / pi
  float twice_square = 0.0F;  ///< 2 (v_N / pi)^2
};

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void check_flow(const FlowOptions& options);
[[nodiscard]] BlockSpec flow_output(const BlockSpec& input);
/// Whether `options` equal `before` except for the threshold.
[[nodiscard]] bool accepts_flow(const StageOptions& options, const FlowOptions& before);
/// Whether the threshold affects this kind.
[[nodiscard]] bool takes_threshold(FlowKind kind);
[[nodiscard]] FlowScale flow_scale(const FlowOptions& options);

}  // namespace echoform
