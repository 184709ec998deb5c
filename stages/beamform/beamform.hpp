// Beamforming: image(p) = (1 / N^2) * sum over (tx, rx) of w_tx(tx, p) * w_rx(rx, p) * s_tx,rx(tau_tx(p) + tau_rx(p)),
// for any delay law.
//
// Input   planar_complex64 A-scans [rows, samples], rows of at least samples + 64 floats with zeros after the samples, as the
//         analytic-signal stage makes them; `matrix` full, half_summed (reciprocal laws: one lookup a pair) or half (any
//         law: each off-diagonal pair is looked up at tau_tx(i) + tau_rx(j) and tau_tx(j) + tau_rx(i), by reciprocity).
//         On CUDA: complex64, or complex_half_slope with its factor in the trailer, with 256 zero elements before the first
//         row and at least as many behind the samples of each (lead, row_stride).
// Output  complex64 image [z, x] ([z, y, x]: rows = z * y).
// Sampling by the plan's interpolation, exactly as the conventions say: linear for 0 <= u < M - 1, nearest floor(u + 0.5) in
// 0 .. M - 1; outside, a pair adds nothing and still counts in N^2.
#pragma once

#include <memory>
#include <optional>

#include "cpu/cpu_backend.hpp"
#include "pipeline/imaging_plan.hpp"
#include "pipeline/stage.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform {

/// How the CPU looks samples up. `automatic` takes windows where they fit; `gather` is always right and here to be compared.
enum class BeamformLookup : unsigned char { automatic, gather };

/// A-scans of the input.
[[nodiscard]] std::size_t beamform_input_rows(MatrixKind matrix, std::size_t elements);
/// The block of an image on `grid`: complex64 [z * y, x] without padding.
[[nodiscard]] BlockSpec beamform_output(const Grid& grid);

/// For view `view` of the plan, with the kernels of `level`.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend,
                                                       SimdLevel level, BeamformLookup lookup = BeamformLookup::automatic);
/// For the registry: the best kernels of this processor.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend);

/// On CUDA, single or half precision by the type of the input. `kind` forces a way of cutting the image into tiles, for tests
/// and benchmarks; InputError from prepare() if it cannot hold what the law reaches.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cuda(const ImagingPlan& plan, std::size_t view, Backend& backend,
                                                        std::optional<beamform::TileKind> kind);
/// For the registry: the best tiles for the plan.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_cuda(const ImagingPlan& plan, std::size_t view, Backend& backend);

/// Bytes of delay tables that the stage above will allocate.
[[nodiscard]] std::size_t beamform_cpu_bytes(const ImagingPlan& plan, std::size_t view);

}  // namespace echoform
