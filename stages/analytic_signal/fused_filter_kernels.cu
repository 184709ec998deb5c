#include "stages/analytic_signal/fused_rows.cuh"

namespace echoform::gpu {

void prepare_fused_filter(std::size_t samples) {
  with_length<true>(
      samples, [](auto launch) { launch.prepare(); }, Lengths{});
}

void launch_fused_filter(const AnalyticRows& rows, const hilbert::Complex* table, const hilbert::Complex* factors,
                         cudaStream_t stream) noexcept {
  with_length<true>(
      rows.samples, [&](auto launch) { launch.launch(rows, table, factors, stream); }, Lengths{});
  ECHOFORM_CUDA_LAUNCHED("fused_rows with a filter");
}

}  // namespace echoform::gpu
