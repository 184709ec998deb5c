// Beamforming: image(p) = scale * sum over pairs of w_tx(event, p) * w_rx(receiver, p) * s(tau_tx(event, p) + tau_rx(receiver,
// p)), for any delay law; beamform_options.hpp says of what.
//
// Input   planar_complex64 A-scans [rows, samples], rows of at least samples + 64 floats with zeros after the samples, as the
//         analytic-signal stage makes them; options.pairs says what each row is, and which are looked up both ways.
//         On CUDA: complex64, or complex_half_slope with its factor in the trailer, with 256 zero elements before the first
//         row and at least as many behind the samples of each (lead, row_stride).
// Output  complex64 image [z, x] ([z, y, x]: rows = z * y).
// Sampling by the interpolation, exactly as the conventions say: linear for 0 <= u < M - 1, nearest floor(u + 0.5) in
// 0 .. M - 1; outside, a pair adds nothing.
#pragma once

#include <memory>
#include <optional>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform {

/// How the CPU looks samples up. `automatic` takes windows where they fit; `gather` is always right and here to be compared.
enum class BeamformLookup : unsigned char { automatic, gather };

/// The kind of the stage "beamform", whose options are BeamformOptions. Memory of tables that are found when the law is
/// evaluated is not known before: weights of laws that leave pixels out are not stated, and of CUDA the tables of the tiles
/// that share most, so that less is stated than taken.
extern const StageKind beamform_stage;

/// The block of an image on `grid`: complex64 [z * y, x] without padding.
[[nodiscard]] BlockSpec beamform_output(const Grid& grid);

/// With the kernels of `level`. The backend outlives the stage. Throw InputError if the options contradict each other.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cpu(BeamformOptions options, Backend& backend, SimdLevel level = simd_level(),
                                                       BeamformLookup lookup = BeamformLookup::automatic);

/// On CUDA, single or half precision by the type of the input. `kind` forces a way of cutting the image into tiles, for tests
/// and benchmarks; InputError from prepare() if it cannot hold what the law reaches.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cuda(BeamformOptions options, Backend& backend,
                                                        std::optional<beamform::TileKind> kind = std::nullopt);

}  // namespace echoform
