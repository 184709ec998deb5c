#include "stages/element_map.cuh"
#include "stages/polar_volume_conversion/polar_volume_launch.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform::polar {
namespace {

__device__ __forceinline__ void put_voxel(float value, float& out) {
  out = value;
}
__device__ __forceinline__ void put_voxel(float value, std::uint8_t& out) {
  out = level_of(value);
}

/// The taps of one voxel: where the rows of its beams begin, and its two samples.
template <class Pixel>
struct VoxelTaps {
  const Pixel* __restrict__ input;
  std::uint32_t elevation[4];
  std::uint32_t azimuth[4];
  std::uint32_t sample[2];
  __device__ __forceinline__ float operator()(int s, int e, int a) const {
    return static_cast<float>(__ldg(input + (elevation[e] + azimuth[a] + sample[s])));
  }
};

/// The cell's neighbour -1 + k; at the ends of the axis, it is the outermost cell.
__device__ __forceinline__ std::uint32_t neighbour(std::uint32_t cell, std::uint32_t k, std::uint32_t count) {
  return min(max(cell + k, 1u) - 1u, count - 1u);
}

/// Each thread handles one voxel.
template <ScanInterpolation how, class Pixel>
struct ConvertVoxel {
  VolumeConversion c;
  const Pixel* input;
  Pixel* output;
  __device__ void operator()(std::size_t row, std::size_t x) const {
    const VoxelRow voxels = c.voxel_rows[row];
    Pixel& out = output[row * c.columns + x];
    out = Pixel{};
    const std::uint32_t k = static_cast<std::uint32_t>(x) - voxels.begin;  // huge for voxels before the first
    if (k >= voxels.count) return;
    const std::uint32_t axial = __ldg(c.axial + voxels.place + k);
    if (axial == outside) return;
    const std::uint32_t elevation = __ldg(c.elevation + voxels.place + k);
    const std::uint32_t azimuth = __ldg(c.azimuth + row / c.rows_of_plane * c.columns + x);
    VoxelTaps<Pixel> taps{input, {}, {}, {}};
#pragma unroll
    for (std::uint32_t n = 0; n < 4; ++n) {
      taps.elevation[n] = neighbour(cell_of(elevation, c.bits.elevation), n, c.elevations) * c.azimuths * c.input_stride;
      taps.azimuth[n] = neighbour(cell_of(azimuth, c.bits.azimuth), n, c.azimuths) * c.input_stride;
    }
    taps.sample[0] = cell_of(axial, c.bits.axial);
    taps.sample[1] = min(taps.sample[0] + 1u, c.samples - 1u);
    const VolumeOffsets at{offset_of(axial, c.bits.axial), offset_of(azimuth, c.bits.azimuth),
                           offset_of(elevation, c.bits.elevation)};
    put_voxel(voxel_value<how>(taps, at, c.alpha), out);
  }
};

template <class Pixel>
void launch_by(const VolumeConversion& c, ScanInterpolation how, const Pixel* input, Pixel* output,
               cudaStream_t stream) noexcept {
  switch (how) {
    case ScanInterpolation::nearest:
      gpu::launch_map(c.rows, c.columns, ConvertVoxel<ScanInterpolation::nearest, Pixel>{c, input, output}, stream);
      break;
    case ScanInterpolation::bilinear:
      gpu::launch_map(c.rows, c.columns, ConvertVoxel<ScanInterpolation::bilinear, Pixel>{c, input, output}, stream);
      break;
    case ScanInterpolation::cubic:
      gpu::launch_map(c.rows, c.columns, ConvertVoxel<ScanInterpolation::cubic, Pixel>{c, input, output}, stream);
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("polar volume conversion");
}

}  // namespace

void launch(const VolumeConversion& conversion, ScanInterpolation how, const std::uint8_t* input, std::uint8_t* output,
            cudaStream_t stream) noexcept {
  launch_by(conversion, how, input, output, stream);
}
void launch(const VolumeConversion& conversion, ScanInterpolation how, const float* input, float* output,
            cudaStream_t stream) noexcept {
  launch_by(conversion, how, input, output, stream);
}

}  // namespace echoform::polar
