#include "gpu/cuda_check.hpp"
#include "stages/compression/compression_launch.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned search_blocks = 264;  // two per multiprocessor of the largest GPU in mind

/// Treats rows without gaps between them as one long row.
ValueImage joined(ValueImage image) {
  if (image.stride == image.columns) {
    image.columns *= image.rows;
    image.stride = image.columns;
    image.rows = 1;
  }
  return image;
}

/// Peaks are compared as integers, in any order: floats that are not negative are ordered as their bits. The block that finishes
/// last moves the reference, so that no launch of its own is needed.
template <bool Magnitudes>
__global__ __launch_bounds__(threads) void follow(ValueImage image, DeviceReference* state, ShownReference* readback) {
  const auto finite = [](std::uint32_t bits) { return Magnitudes ? finite_magnitude_or_zero(bits) : finite_or_zero(bits); };
  std::uint32_t peak = 0;
  const std::size_t step = std::size_t{gridDim.x} * threads;
  const std::size_t rows = state->rule.follows ? image.rows : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t* const bits = image.bits + row * image.stride;
    std::size_t n = std::size_t{blockIdx.x} * threads + threadIdx.x;
    for (; n + 3 * step < image.columns; n += 4 * step) {
      const std::uint32_t a = finite(__ldg(bits + n));
      const std::uint32_t b = finite(__ldg(bits + n + step));
      const std::uint32_t c = finite(__ldg(bits + n + 2 * step));
      const std::uint32_t d = finite(__ldg(bits + n + 3 * step));
      peak = max(max(peak, max(a, b)), max(c, d));
    }
    for (; n < image.columns; n += step) peak = max(peak, finite(__ldg(bits + n)));
  }
  peak = __reduce_max_sync(0xffffffffu, peak);
  __shared__ std::uint32_t of_warp[threads / 32];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = peak;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < threads / 32; ++warp) peak = max(peak, of_warp[warp]);
  atomicMax(&state->peak, peak);
  __threadfence();
  if (atomicAdd(&state->blocks, 1u) + 1 != gridDim.x) return;
  __threadfence();
  const ReferenceRule rule = state->rule;
  const float highest = __uint_as_float(atomicExch(&state->peak, 0u));
  const double reference = rule.follows ? followed(state->reference, highest, rule) : state->reference;
  const ShownReference shown = reference_state(reference, rule);
  state->reference = reference;
  state->shown = shown;
  state->curve = curve_for(shown.shown, rule);
  state->blocks = 0;
  *readback = shown;
}

/// Each thread computes four levels, which are stored at once where rows allow it.
template <bool Quads, LevelKind Kind>
__global__ __launch_bounds__(threads) void compress_rows(ValueImage image, std::uint8_t* __restrict__ out,
                                                         const DeviceReference* __restrict__ state) {
  const CompressionCurve curve = state->curve;
  const auto level = [curve](std::uint32_t value) {
    if constexpr (Kind == LevelKind::numbers) {
      return level_of_number(value, curve);
    } else if constexpr (Kind == LevelKind::masked_decibels) {
      return compress_masked(value, curve);
    } else {
      return compress(value, curve);
    }
  };
  const std::size_t n = (std::size_t{blockIdx.x} * threads + threadIdx.x) * 4;
  if (n >= image.columns) return;
  for (std::size_t row = blockIdx.y; row < image.rows; row += gridDim.y) {
    const std::uint32_t* const bits = image.bits + row * image.stride + n;
    std::uint8_t* const levels = out + row * image.columns + n;
    if constexpr (Quads) {
      const uint4 four = __ldg(reinterpret_cast<const uint4*>(bits));
      *reinterpret_cast<uchar4*>(levels) = {level(four.x), level(four.y), level(four.z), level(four.w)};
    } else {
      for (std::size_t k = 0; k < 4 && n + k < image.columns; ++k) levels[k] = level(__ldg(bits + k));
    }
  }
}

template <LevelKind Kind>
void launch_compress_rows(const ValueImage& image, const dim3& grid, bool quads, std::uint8_t* out, const DeviceReference* state,
                          cudaStream_t stream) {
  const auto kernel = quads ? compress_rows<true, Kind> : compress_rows<false, Kind>;
  kernel<<<grid, threads, 0, stream>>>(image, out, state);
}

__global__ void change_rule(ReferenceRule rule, DeviceReference* state) {
  state->reference = reference_after_change(state->reference, state->rule, rule);
  state->rule = rule;
}

}  // namespace

void launch_follow(const ValueImage& image, bool magnitudes, DeviceReference* state, ShownReference* readback,
                   cudaStream_t stream) {
  const ValueImage all = joined(image);
  const std::size_t wanted = (all.columns + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < search_blocks ? wanted : search_blocks);
  if (magnitudes) {
    follow<true><<<blocks, threads, 0, stream>>>(all, state, readback);
  } else {
    follow<false><<<blocks, threads, 0, stream>>>(all, state, readback);
  }
  ECHOFORM_CUDA_LAUNCHED("peak of the image");
}

void launch_compress(const ValueImage& image, LevelKind kind, std::uint8_t* out, const DeviceReference* state,
                     cudaStream_t stream) {
  const ValueImage all = joined(image);
  const dim3 grid(static_cast<unsigned>((all.columns + 4 * threads - 1) / (4 * threads)),
                  static_cast<unsigned>(all.rows < 65535 ? all.rows : 65535));
  const bool quads = all.columns % 4 == 0 && all.stride % 4 == 0;
  switch (kind) {
    case LevelKind::decibels:
      launch_compress_rows<LevelKind::decibels>(all, grid, quads, out, state, stream);
      break;
    case LevelKind::masked_decibels:
      launch_compress_rows<LevelKind::masked_decibels>(all, grid, quads, out, state, stream);
      break;
    case LevelKind::numbers:
      launch_compress_rows<LevelKind::numbers>(all, grid, quads, out, state, stream);
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("compression");
}

void launch_change(const ReferenceRule& rule, DeviceReference* state, cudaStream_t stream) {
  change_rule<<<1, 1, 0, stream>>>(rule, state);
  ECHOFORM_CUDA_LAUNCHED("change of the compression");
}

}  // namespace echoform
