#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "stages/demodulation/demodulation_launch.hpp"
#include "stages/demodulation/demodulation_math.hpp"
#include "stages/demodulation/demodulation_tiles.hpp"
#include "stages/raw_rows/raw_samples.cuh"

// A block copies the samples that its kept samples need into shared memory, by phase. Then each thread sums the taps of four kept
// samples, in the order of the CPU. So samples are read, unpacked and amplified once, except for a filter's length between tiles.
// Threads read neighbouring places of shared memory whatever the decimation, and a tap is read once for four sums.
namespace echoform {
namespace {

constexpr unsigned outputs = demodulation_outputs;

/// The source of the filter's samples where they are received samples.
template <class Samples>
struct Received {
  gpu::Seen seen;
  __device__ explicit Received(const DemodulationRows& work) : seen(Samples::nothing_seen(work.scale)) {}
  /// `counted` is false for a sample that is read only because a filter reaches it.
  __device__ __forceinline__ float read(const DemodulationRows& work, const std::byte* row, std::size_t n, bool counted) {
    gpu::Seen one{0, 0, seen.least_invalid};
    float value = Samples::read(row, n, work.scale, one);
    if (counted) seen.bad += one.bad;
    if (work.gain != nullptr) value *= __ldg(work.gain + n);
    return value;
  }
  __device__ void report(const DemodulationRows& work) const { gpu::report<Samples::encoding>(seen, work.places); }
};

/// The source of the filter's samples where a previous stage has made the rows.
struct Made {
  __device__ explicit Made(const DemodulationRows& /*work*/) {}
  __device__ __forceinline__ static float read(const DemodulationRows& /*work*/, const std::byte* row, std::size_t n,
                                               bool /*counted*/) {
    return __ldg(reinterpret_cast<const float*>(row) + n);
  }
  __device__ static void report(const DemodulationRows& /*work*/) {}
};

/// Fills in the samples of a tile from kept sample `first` on; samples outside of the row are 0.
template <class Source>
__device__ __forceinline__ void fill(const DemodulationRows& work, const std::byte* row, std::size_t first, float* phases,
                                     Source& source) {
  const std::uint32_t count = work.decimation * (work.lead + work.tile + work.lead);
  const std::uint32_t before = work.decimation * work.lead;
  const std::uint32_t own = work.decimation * work.tile;
  const std::size_t begin = first * work.decimation;
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const std::uint32_t place = i / work.decimation;
    const std::uint32_t phase = i - place * work.decimation;
    float value = 0.0F;
    if (begin + i >= before && begin + i - before < work.samples) {
      value = source.read(work, row, begin + i - before, i >= before && i - before < own);
    }
    phases[phase * work.pitch + place] = value;
  }
}

template <class Source>
__global__ void __launch_bounds__(128) demodulate_rows(const __grid_constant__ DemodulationRows work) {
  extern __shared__ float phases[];
  const std::byte* const row = static_cast<const std::byte*>(work.in) + blockIdx.x * work.in_row_bytes;
  auto* const out = static_cast<float2*>(work.out) + blockIdx.x * work.out_stride;
  Source source(work);
  for (std::size_t first = std::size_t{blockIdx.y} * work.tile; first < work.out_stride;
       first += std::size_t{gridDim.y} * work.tile) {
    __syncthreads();
    fill(work, row, first, phases, source);
    __syncthreads();
    float re[outputs] = {};
    float im[outputs] = {};
    for (std::uint32_t tap = 0; tap < work.tap_count; ++tap) {
      const float4 words = __ldg(reinterpret_cast<const float4*>(work.taps) + tap);
      const float* const samples = phases + __float_as_int(words.z) + threadIdx.x;
#pragma unroll
      for (unsigned k = 0; k < outputs; ++k) {
        const float sample = samples[k * blockDim.x];
        re[k] = with_term(re[k], words.x, sample);
        im[k] = with_term(im[k], words.y, sample);
      }
    }
#pragma unroll
    for (unsigned k = 0; k < outputs; ++k) {
      const std::uint32_t local = threadIdx.x + k * blockDim.x;
      const std::size_t m = first + local;
      if (local >= work.tile || m >= work.out_stride) continue;
      float2 value{};
      if (m < work.kept) {
        const float2 turn = __ldg(static_cast<const float2*>(work.turns) + m);
        value = {turned_re(re[k], im[k], turn.x, turn.y), turned_im(re[k], im[k], turn.x, turn.y)};
      }
      out[m] = value;
    }
  }
  source.report(work);
}

template <class Source>
void launch(const DemodulationRows& work, cudaStream_t stream) {
  const std::size_t tiles = (work.out_stride + work.tile - 1) / work.tile;
  const dim3 grid(static_cast<unsigned>(work.rows), static_cast<unsigned>(std::min<std::size_t>(tiles, 65535)));
  demodulate_rows<Source><<<grid, work.threads, work.floats * sizeof(float), stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("demodulation");
}

static_assert(sizeof(DemodulationTap) == sizeof(float4) && offsetof(DemodulationTap, sine) == offsetof(float4, y) &&
              offsetof(DemodulationTap, offset) == offsetof(float4, z));

}  // namespace

void launch_demodulation(const DemodulationRows& work, cudaStream_t stream) noexcept {
  if (!work.raw) return launch<Made>(work, stream);
  gpu::with_raw_samples(work.encoding, [&](auto samples) { launch<Received<decltype(samples)>>(work, stream); });
}

}  // namespace echoform
