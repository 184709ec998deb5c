#include "stages/analytic_signal/fused_rows.cuh"

namespace echoform::gpu {

void prepare_fused(std::size_t samples) {
  with_length<false>(
      samples, [](auto launch) { launch.prepare(); }, Lengths{});
}

void launch_fused(const AnalyticRows& rows, const hilbert::Complex* table, cudaStream_t stream) noexcept {
  with_length<false>(
      rows.samples, [&](auto launch) { launch.launch(rows, table, nullptr, stream); }, Lengths{});
  ECHOFORM_CUDA_LAUNCHED("fused_rows");
}

}  // namespace echoform::gpu
