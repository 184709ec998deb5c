// The inner loop of the beamformer on the CPU: one outer source (say, transmitter i) against a run of inner sources
// (receivers j ...) over the patches of one tile. Plain types only: the instruction-set files include nothing that could
// leave wide instructions in functions shared with the rest of the program.
//
// A patch is `lanes` pixels, one a vector lane. The sample for lane l and the pair (outer, inner) lies at
//   u = base_outer + base_inner + offset_outer[l] + offset_inner[l]
// with whole bases and offsets in [0, top]. All lanes of a patch fall into a short window of one A-scan, so the window is
// loaded with plain loads and the lanes pick from it by a permute; a gather is needed only where the window is too long.
#pragma once

#include <cstdint>

namespace echoform::beamform {

/// Base of a source whose weights over a patch are all zero.
inline constexpr std::int32_t inactive = INT32_MIN;

struct TileTask {
  std::uint32_t patches;
  std::uint32_t sources;  ///< sources of the inner leg, which is the distance of patches in the inner tables

  const float* outer_offset;       ///< [patch, source, lane], advanced to the outer source
  const std::int32_t* outer_base;  ///< [patch, source], advanced to the outer source
  const std::int32_t* outer_top;   ///< as outer_base
  const float* outer_weight;       ///< as outer_offset, or null
  std::uint32_t outer_sources;     ///< distance of patches in the outer tables

  const float* inner_offset;       ///< [patch, source, lane]
  const std::int32_t* inner_base;  ///< [patch, source]
  const std::int32_t* inner_top;
  const float* inner_weight;  ///< or null
  std::uint32_t inner_first;  ///< inner sources first .. last - 1
  std::uint32_t inner_last;

  // First and last sample (whole) that each source needs over the whole tile, for prefetching; low > high: none.
  const std::int32_t* inner_low;   ///< [source]
  const std::int32_t* inner_high;  ///< [source]
  std::int32_t outer_low;
  std::int32_t outer_high;

  const float* rows;        ///< in-phase row of the A-scan (outer, inner_first); its quadrature row follows after
                            ///< `quadrature` floats
  std::uint64_t row_pitch;  ///< floats from one inner source's A-scan to the next
  std::uint64_t quadrature;
  std::int32_t samples;  ///< M

  float* sums;  ///< [patch, 2, lane], added to
};

using TileKernel = void (*)(const TileTask&);

/// How a tile's patches fit into windows: decided once, from the longest reach of any pair.
enum class Window : unsigned char { narrow, wide, gather };

struct KernelSet {
  const char* name;
  std::uint32_t lanes;
  /// Longest reach (largest sum of two tops) of the narrow and the wide window; 0 where there is none. Tops are whole and no
  /// offset exceeds its top, so no sum t of two offsets, rounded or not, exceeds the reach R. Lookups pick the samples
  /// floor(t) and floor(t) + 1, or floor(t + 1/2), which is at most R because R is whole. These are numbers 0 to R + 1 of
  /// the window, which has at least R + 2 samples.
  std::int32_t narrow_reach;
  std::int32_t wide_reach;
  /// [window][linear][weighted][checked]; checked kernels test each patch against the ends of the A-scan.
  TileKernel kernels[3][2][2][2];
};

extern const KernelSet portable_kernels;
extern const KernelSet avx2_kernels;
extern const KernelSet avx512_kernels;

}  // namespace echoform::beamform
