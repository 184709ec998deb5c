#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/raw_rows/raw_row_kernels.hpp"
#include "stages/raw_rows/raw_samples.cuh"

// The kernel only moves memory: 2 bytes in for each 2 bytes out where a matrix is halved. A thread handles four samples at a
// time, so that its store is 16 bytes and those of a warp are 512 contiguous bytes. `depth` groups of four are under way at once,
// from both A-scans of a pair.
namespace echoform::gpu {
namespace {

constexpr int depth = 4;
constexpr unsigned most_threads = most_raw_threads;

/// Four samples as they lie in memory.
template <SampleEncoding Encoding>
struct Quad;

template <>
struct Quad<SampleEncoding::int16> {
  std::uint32_t words[2];
  __device__ int operator[](int k) const {
    return static_cast<std::int16_t>(k % 2 == 0 ? words[k / 2] & 0xffffu : words[k / 2] >> 16);
  }
};

template <>
struct Quad<SampleEncoding::packed12> {
  std::uint32_t parts[3];  // each of 16 bits
  __device__ int operator[](int k) const {
    switch (k) {
      case 0:
        return sign_extend12(parts[0]);
      case 1:
        return sign_extend12(parts[0] >> 12 | parts[1] << 4);
      case 2:
        return sign_extend12(parts[1] >> 8 | parts[2] << 8);
      default:
        return sign_extend12(parts[2] >> 4);
    }
  }
};

template <>
struct Quad<SampleEncoding::float32> {
  std::uint32_t bits[4];
  __device__ std::uint32_t operator[](int k) const { return bits[k]; }
};

/// Alignment in bytes of the load of four samples where Vector is true.
__host__ __device__ constexpr std::size_t alignment_of(SampleEncoding encoding) {
  return encoding == SampleEncoding::int16 ? 8 : encoding == SampleEncoding::packed12 ? 2 : 16;
}

/// Samples n ... n + 3, where n is a multiple of 4. They are read only once, so the load bypasses the first-level cache, and the
/// second-level cache evicts them first.
template <SampleEncoding Encoding, bool Vector>
__device__ __forceinline__ Quad<Encoding> load_quad(const std::byte* row, std::size_t n) {
  Quad<Encoding> quad;
  if constexpr (Encoding == SampleEncoding::int16) {
    if constexpr (Vector) {
      const uint2 both = __ldcs(reinterpret_cast<const uint2*>(row + 2 * n));
      quad.words[0] = both.x;
      quad.words[1] = both.y;
    } else {
      const auto* samples = reinterpret_cast<const unsigned short*>(row) + n;
      quad.words[0] = __ldcs(samples) | static_cast<std::uint32_t>(__ldcs(samples + 1)) << 16;
      quad.words[1] = __ldcs(samples + 2) | static_cast<std::uint32_t>(__ldcs(samples + 3)) << 16;
    }
  } else if constexpr (Encoding == SampleEncoding::packed12) {
    const std::byte* const place = row + n / 2 * 3;
    for (int part = 0; part < 3; ++part) {
      if constexpr (Vector) {
        quad.parts[part] = __ldcs(reinterpret_cast<const unsigned short*>(place) + part);
      } else {
        const auto* bytes = reinterpret_cast<const unsigned char*>(place) + 2 * part;
        quad.parts[part] = __ldcs(bytes) | static_cast<std::uint32_t>(__ldcs(bytes + 1)) << 8;
      }
    }
  } else {
    if constexpr (Vector) {
      const uint4 all = __ldcs(reinterpret_cast<const uint4*>(row + 4 * n));
      quad.bits[0] = all.x;
      quad.bits[1] = all.y;
      quad.bits[2] = all.z;
      quad.bits[3] = all.w;
    } else {
      for (int k = 0; k < 4; ++k) quad.bits[k] = __ldcs(reinterpret_cast<const unsigned int*>(row) + n + k);
    }
  }
  return quad;
}

/// Integers are added as integers.
template <SampleEncoding Encoding, bool Sum, class Sample>
__device__ __forceinline__ float value_of(Sample first, Sample second, float weight, Seen& seen) {
  auto sum = checked<Encoding>(first, seen);
  if constexpr (Sum) sum += checked<Encoding>(second, seen);
  const float value = static_cast<float>(sum) * weight;
  seen.peak_bits = max(seen.peak_bits, __float_as_uint(value) & 0x7fffffffu);
  return value;
}

template <SampleEncoding Encoding, bool Vector, bool Sum>
__device__ __forceinline__ void convert_row(const std::byte* first, const std::byte* second, float* out, std::size_t samples,
                                            float weight, Seen& seen) {
  const std::size_t piece = std::size_t{4} * depth * blockDim.x;
  for (std::size_t start = blockIdx.y * piece; start < samples; start += gridDim.y * piece) {
    const std::size_t mine = start + std::size_t{4} * threadIdx.x;
    const std::size_t step = std::size_t{4} * blockDim.x;
    Quad<Encoding> a[depth];
    Quad<Encoding> b[depth];
#pragma unroll
    for (int u = 0; u < depth; ++u) {
      const std::size_t n = mine + u * step;
      if (n + 4 <= samples) {
        a[u] = load_quad<Encoding, Vector>(first, n);
        if constexpr (Sum) b[u] = load_quad<Encoding, Vector>(second, n);
      }
    }
#pragma unroll
    for (int u = 0; u < depth; ++u) {
      const std::size_t n = mine + u * step;
      if (n + 4 <= samples) {
        float values[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) values[k] = value_of<Encoding, Sum>(a[u][k], Sum ? b[u][k] : a[u][k], weight, seen);
        *reinterpret_cast<float4*>(out + n) = make_float4(values[0], values[1], values[2], values[3]);
      } else {
        for (std::size_t k = n; k < samples; ++k) {
          const auto one = load_sample<Encoding>(first, k);
          out[k] = value_of<Encoding, Sum>(one, Sum ? load_sample<Encoding>(second, k) : one, weight, seen);
        }
      }
    }
  }
}

template <SampleEncoding Encoding, bool Vector>
__global__ void __launch_bounds__(most_threads) convert_rows(RawRows rows) {
  const std::size_t row = blockIdx.x;
  // Without the test the kernel takes 3.6 % longer: it then waits for all data of a source before it requests the first sample.
  PairSource source{row, row, 1.0F};
  if (rows.sources != nullptr) source = rows.sources[row];
  float* const out = rows.output + row * rows.output_row_stride;
  Seen seen;
  if (source.weight == 0.0F) {
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.x;
    for (std::size_t n = std::size_t{blockIdx.y} * blockDim.x + threadIdx.x; n < rows.samples; n += stride) out[n] = 0.0F;
    report<Encoding>(seen, rows.places);
    return;
  }
  if constexpr (Encoding == SampleEncoding::float32) seen.least_invalid = least_invalid_sample(source.weight);
  const auto* const input = static_cast<const std::byte*>(rows.input);
  const std::byte* const first = input + source.first * rows.input_row_bytes;
  const std::byte* const second = input + source.second * rows.input_row_bytes;
  if (source.first != source.second) {
    convert_row<Encoding, Vector, true>(first, second, out, rows.samples, source.weight, seen);
  } else {
    convert_row<Encoding, Vector, false>(first, first, out, rows.samples, source.weight, seen);
  }
  report<Encoding>(seen, rows.places);
}

template <SampleEncoding Encoding>
void launch(const RawRows& rows, cudaStream_t stream) {
  constexpr std::size_t warp_samples = std::size_t{32} * 4 * depth;
  const std::size_t warps = (rows.samples + warp_samples - 1) / warp_samples;
  const auto threads = static_cast<unsigned>(warps * 32 < most_threads ? warps * 32 : most_threads);
  const std::size_t piece = std::size_t{threads} * 4 * depth;
  const std::size_t pieces = (rows.samples + piece - 1) / piece;
  const dim3 grid(static_cast<unsigned>(rows.rows), static_cast<unsigned>(pieces < 65535 ? pieces : 65535));
  const bool vector = (reinterpret_cast<std::uintptr_t>(rows.input) % alignment_of(Encoding) |
                       rows.input_row_bytes % alignment_of(Encoding)) == 0;
  if (vector) {
    convert_rows<Encoding, true><<<grid, threads, 0, stream>>>(rows);
  } else {
    convert_rows<Encoding, false><<<grid, threads, 0, stream>>>(rows);
  }
  ECHOFORM_CUDA_LAUNCHED("convert_rows");
}

}  // namespace

void launch_raw_rows(const RawRows& rows, cudaStream_t stream) noexcept {
  with_raw_samples(rows.encoding, [&](auto samples) { launch<decltype(samples)::encoding>(rows, stream); });
}

}  // namespace echoform::gpu
