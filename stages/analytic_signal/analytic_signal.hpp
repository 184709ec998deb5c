// A-scans to analytic signals, s + i H{s}, by the periodic DFT of exactly the M samples of a row: no padding that would
// change the values, DC weighted 1, Nyquist once.
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28.
// Output  planar complex64 [rows, samples]: of row r, I at 2 r * row_stride and Q at (2 r + 1) * row_stride. row_stride is
//         samples + 64 rounded up to a multiple of 16, and everything between samples and row_stride is zero in every frame,
//         so window loads may run over the end of a row. I is s itself, bit for bit; Q is exact to single rounding (about
//         2e-7 of the row's norm), whether the length is smooth or goes through a longer transform (analytic_signal_math.hpp).
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "stages/stage.hpp"

namespace echoform {

/// For queues of at most `members` threads.
[[nodiscard]] std::unique_ptr<Stage> make_analytic_signal_cpu(std::size_t members, SimdLevel level = simd_level());

/// For the registry; neither the plan nor `view` matters. The queue must come from `backend`.
[[nodiscard]] std::unique_ptr<Stage> make_analytic_signal_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend);

/// Distance of the I and Q rows for A-scans of `samples`.
[[nodiscard]] constexpr std::size_t analytic_row_stride(std::size_t samples) {
  return (samples + 64 + 15) / 16 * 16;
}

}  // namespace echoform
