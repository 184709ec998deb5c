// Beamforming: image(p) = scale * sum over pairs of w_tx(event, p) * w_rx(receiver, p) * s(tau_tx(event, p) +
// tau_rx(receiver, p)), for any delay law. beamform_options.hpp defines the terms.
//
// Input   planar_complex64 A-scans [rows, samples], rows of at least samples + 64 floats with zeros after the samples, as the
//         analytic-signal stage makes them; options.pairs states what each row is, and which rows serve both (i, j) and (j, i).
//         On CUDA: complex64, or complex_half_slope with its factor in the trailer, with 256 zero elements before the first
//         row and at least as many behind the samples of each (lead, row_stride).
// Output  complex64 image [z, x] ([z, y, x]: rows = z * y).
// Sampling follows the interpolation exactly as the conventions state: linear for 0 <= u < M - 1, nearest floor(u + 0.5) in
// 0 .. M - 1; outside, a pair adds nothing.
#pragma once

#include <memory>
#include <optional>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform {

/// How the CPU looks samples up. `automatic` uses windows where they fit. `gather` always works and exists for comparison.
enum class BeamformLookup : unsigned char { automatic, gather };

/// The kind of the stage "beamform", whose options are BeamformOptions. The size of some tables is known only once the law
/// was evaluated. So the stated memory is a lower bound: it leaves out the weights of laws that leave pixels out, and on
/// CUDA it assumes the tiles that share most.
extern const StageKind beamform_stage;

/// The block of an image on `grid`: complex64 [z * y, x] without padding.
[[nodiscard]] BlockSpec beamform_output(const Grid& grid);

/// The stage uses the kernels of `level`. The backend must outlive the stage. Throws InputError if the options contradict
/// each other.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cpu(BeamformOptions options, Backend& backend, SimdLevel level = simd_level(),
                                                       BeamformLookup lookup = BeamformLookup::automatic);

/// The stage runs on CUDA, in single or half precision by the type of the input. `kind` forces one kind of tiles, for tests
/// and benchmarks; prepare() throws InputError if its windows cannot hold the samples that the law reaches.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cuda(BeamformOptions options, Backend& backend,
                                                        std::optional<beamform::TileKind> kind = std::nullopt);

}  // namespace echoform
