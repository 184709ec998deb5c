// The CUDA beamformer's kernel for tiles. tile_launch.hpp explains the idea; tile_windows.cuh has the windows and tile_sums.cuh
// the inner loops.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "stages/beamform/tile_kernels.hpp"
#include "stages/beamform/tile_math.hpp"
#include "stages/beamform/tile_sums.cuh"
#include "stages/beamform/tile_windows.cuh"

namespace echoform::beamform {

template <class Variant>
class TileSum {
  static constexpr int pairs = Variant::pairs;
  static constexpr std::uint32_t threads = Variant::threads;
  using Side = typename TileWindows<Variant>::Side;

 public:
  __device__ TileSum(const TileLaunch& launch, unsigned char* memory) : launch_(launch), windows_(launch, memory) {
    tile_ = blockIdx.x;
    const std::uint32_t plane = launch.tiles_x * launch.tiles_z;
    const std::uint32_t in_plane = tile_ % plane;
    iy_ = tile_ / plane;
    first_x_ = in_plane % launch.tiles_x * Variant::shape.x;
    first_z_ = in_plane / launch.tiles_x * Variant::shape.z;
    checked_ = !Variant::half && launch.checked[tile_] != 0;
  }

  __device__ void run() {
    const std::uint32_t all = windows_.all_groups();
    const std::uint32_t begin = static_cast<std::uint32_t>(std::uint64_t{all} * blockIdx.y / launch_.splits);
    const std::uint32_t end = static_cast<std::uint32_t>(std::uint64_t{all} * (blockIdx.y + 1) / launch_.splits);
#pragma unroll
    for (int k = 0; k < Variant::pixels; ++k) sums_[k] = make_float2(0.0F, 0.0F);
    __syncthreads();
    Group group = group_of(begin);
    std::uint32_t held_group = UINT32_MAX;
    if (begin < end) windows_.fill(0, group, begin);
    close_copies();
    for (std::uint32_t index = begin; index < end; ++index) {
      const Group after = group_after(group, index + 1 < end ? index + 1 : index);
      wait_for_copies();
      // The windows of this group are now visible to all threads, and no thread reads those of the previous group any more.
      __syncthreads();
      const int stage = static_cast<int>((index - begin) & 1);
      if (index + 1 < end) windows_.fill(1 - stage, after, index + 1);
      close_copies();
      if constexpr (Variant::plane) {
        if (group.j != held_group) {
          held_group = group.j;
#pragma unroll
          for (int k = 0; k < Variant::pixels; ++k)
            load_delays<true>(windows_.receive(), launch_.receive, group.j * pairs, k, held_delay_[k]);
        }
      } else if (Variant::analytic && group.i != held_group) {
        held_group = group.i;
#pragma unroll
        for (int k = 0; k < Variant::pixels; ++k)
          load_delays<false>(windows_.transmit(), launch_.transmit, group.i * pairs, k, held_delay_[k]);
      }
      if constexpr (Variant::plane) {
        add_waves(stage, group);
      } else if (windows_.once() && group.i == group.j) {
        add_group<true>(stage, group);
      } else {
        add_group<false>(stage, group);
      }
      group = after;
    }
    write();
  }

 private:
  __device__ __forceinline__ Group group_of(std::uint32_t index) const {
    if constexpr (Variant::listed) {
      if (index >= launch_.listed.count) return {};
      return {launch_.listed.groups[2 * index], launch_.listed.groups[2 * index + 1]};
    } else if constexpr (Variant::plane) {
      return plane_group_at(index, windows_.groups());
    } else {
      return group_at(index, windows_.groups(), windows_.once());
    }
  }
  /// `index` is the number of the group that follows; for the last group, its own number.
  __device__ __forceinline__ Group group_after(Group group, [[maybe_unused]] std::uint32_t index) const {
    if constexpr (Variant::listed) {
      return group_of(index);
    } else if constexpr (Variant::plane) {
      return next_plane_group(group, windows_.groups());
    } else {
      return next_group(group, windows_.groups(), windows_.once());
    }
  }

  /// Pixel k of this thread: a warp owns patches of 8 x 4 pixels, whose lookups lie close together.
  __device__ std::uint32_t place_in_tile(int k) const {
    return threadIdx.x + static_cast<std::uint32_t>(k) * threads;
  }
  __device__ std::uint32_t pixel_x(int k) const {
    constexpr std::uint32_t across = Variant::shape.x / 8;
    const std::uint32_t place = place_in_tile(k);
    return first_x_ + place / 32 % across * 8 + place % 8;
  }
  __device__ std::uint32_t pixel_z(int k) const {
    constexpr std::uint32_t across = Variant::shape.x / 8;
    const std::uint32_t place = place_in_tile(k);
    return first_z_ + place / 32 / across * 4 + place % 32 / 8;
  }

  /// Loads the delays of waves of revolution.
  __device__ void load_turned_delays(std::uint32_t first, int k, std::uint32_t (&delay)[pairs]) const {
    constexpr std::uint32_t pixels = Variant::shape.x * Variant::shape.z;
    const float2 both =
        *reinterpret_cast<const float2*>(launch_.transmit.places + std::size_t{tile_} * pixels + place_in_tile(k));
    const TurnedPlace place{both.x, both.y};
    const auto for_all = [&](const auto& delay_of_form) {
#pragma unroll
      for (int n = 0; n < pairs; ++n) {
        const std::uint32_t source = first + static_cast<std::uint32_t>(n);
        const float phase = Variant::half ? 0.0F : windows_.transmit().phases[source];
        delay[n] = delay_of_form(windows_.form_of(windows_.transmit(), source), phase);
      }
    };
    if (launch_.points) {
      for_all(
          [&](SourceForm form, float phase) { return turned_delay_of<Variant::index_bits, Variant::half>(form, phase, place); });
    } else {
      for_all([&](SourceForm form, float phase) {
        return plane_delay_of<Variant::index_bits, Variant::half>(form, phase, place.along, place.out);
      });
    }
  }

  template <bool of_receive>
  __device__ void load_delays(const Side& shared, const TileSide& side, std::uint32_t first, int k,
                              std::uint32_t (&delay)[pairs]) const {
    if constexpr (Variant::analytic) {
      // Pixels beyond the image repeat its last ones, so that no delay leaves the window.
      const float x = side.x[min(pixel_x(k), launch_.nx - 1)];
      const float z = side.z[min(pixel_z(k), launch_.nz - 1)];
#pragma unroll
      for (int n = 0; n < pairs; ++n) {
        const float phase = Variant::half ? 0.0F : shared.phases[first + static_cast<std::uint32_t>(n)];
        if constexpr (Variant::plane) {
          const SourceForm form = windows_.form_of(shared, first + static_cast<std::uint32_t>(n));
          delay[n] = of_receive ? delay_of<Variant::index_bits, Variant::half>(form, phase, x, z)
                                : plane_delay_of<Variant::index_bits, Variant::half>(form, phase, x, z);
        } else {
          delay[n] =
              delay_of<Variant::index_bits, Variant::half>(shared.forms[first + static_cast<std::uint32_t>(n)], phase, x, z);
        }
      }
    } else {
#pragma unroll
      for (int n = 0; n < pairs; ++n) {
        const std::uint32_t source = first + static_cast<std::uint32_t>(n);
        delay[n] = source < windows_.template sources<of_receive>() ? side.delays[table_place<of_receive>(source, k)] : 0;
      }
    }
  }
  template <bool of_receive>
  __device__ std::size_t table_place(std::uint32_t source, int k) const {
    constexpr std::uint32_t pixels = Variant::shape.x * Variant::shape.z;
    return (std::size_t{tile_} * windows_.template tabled<of_receive>() + source) * pixels + place_in_tile(k);
  }
  template <bool of_receive>
  __device__ void load_weights(const TileSide& side, std::uint32_t first, int k, float (&weight)[pairs]) const {
#pragma unroll
    for (int n = 0; n < pairs; ++n) {
      const std::uint32_t source = first + static_cast<std::uint32_t>(n);
      weight[n] = source < windows_.template sources<of_receive>() ? side.weights[table_place<of_receive>(source, k)] : 0.0F;
    }
  }

  template <bool diagonal>
  __device__ void add_group(int stage, Group group) {
#pragma unroll
    for (int k = 0; k < Variant::pixels; ++k) {
      std::uint32_t receive[pairs];
      load_delays<true>(windows_.receive(), windows_.once() ? launch_.transmit : launch_.receive, group.j * pairs, k, receive);
      if constexpr (Variant::analytic) {
        add_pixel<diagonal>(stage, group, k, held_delay_[k], receive);
      } else {
        std::uint32_t transmit[pairs];
        load_delays<false>(windows_.transmit(), launch_.transmit, group.i * pairs, k, transmit);
        add_pixel<diagonal>(stage, group, k, transmit, receive);
      }
    }
  }

  __device__ void add_waves(int stage, Group group) {
    const std::uint32_t windows = windows_.address(stage);
#pragma unroll
    for (int k = 0; k < Variant::pixels; ++k) {
      std::uint32_t transmit[pairs];
      if constexpr (Variant::turned) {
        load_turned_delays(group.i * pairs, k, transmit);
      } else {
        load_delays<false>(windows_.transmit(), launch_.receive, group.i * pairs, k, transmit);
      }
      if constexpr (Variant::half) {
        add(sums_[k], __half22float2(sum_waves_half<Variant::index_bits, Variant::capacity, pairs, 0, pairs>(
                          windows, transmit, held_delay_[k],
                          static_cast<std::uint32_t>(__cvta_generic_to_shared(windows_.transmit().forms + group.i * pairs)))));
      } else if (checked_) {
        add_float_waves<true, 0>(windows, group, transmit, held_delay_[k], sums_[k]);
      } else {
        add_float_waves<false, 0>(windows, group, transmit, held_delay_[k], sums_[k]);
      }
    }
  }

  /// Processes wave i of the group and those after it.
  template <bool checked, int i>
  __device__ void add_float_waves(std::uint32_t windows, Group group, const std::uint32_t (&transmit)[pairs],
                                  const std::uint32_t (&receive)[pairs], float2& sum) const {
    if constexpr (i < pairs) {
      float2 part = make_float2(0.0F, 0.0F);
      add_float_receivers<checked, i, 0>(windows, group, transmit[i], receive, part);
      const float weight = windows_.transmit().forms[group.i * pairs + i].c;
      sum.x = fmaf(part.x, weight, sum.x);
      sum.y = fmaf(part.y, weight, sum.y);
      add_float_waves<checked, i + 1>(windows, group, transmit, receive, sum);
    }
  }

  /// Processes receivers j .. pairs - 1 of wave i.
  template <bool checked, int i, int j>
  __device__ void add_float_receivers(std::uint32_t windows, Group group, std::uint32_t transmit,
                                      const std::uint32_t (&receive)[pairs], float2& part) const {
    if constexpr (j < pairs) {
      std::int32_t base = 0;
      if constexpr (checked)
        base = windows_.transmit().windows[group.i * pairs + i].base + windows_.receive().windows[group.j * pairs + j].base;
      add_lookup_float<Variant::index_bits, (i * pairs + j) * Variant::capacity * 8, Variant::nearest, checked>(
          windows, transmit + receive[j], base, launch_.samples, 1.0F, part);
      add_float_receivers<checked, i, j + 1>(windows, group, transmit, receive, part);
    }
  }

  template <bool diagonal>
  __device__ void add_pixel(int stage, Group group, int k, const std::uint32_t (&transmit)[pairs],
                            const std::uint32_t (&receive)[pairs]) {
    const float off_diagonal = windows_.once() ? launch_.once_weight : 1.0F;
    [[maybe_unused]] float transmit_weight[pairs];
    [[maybe_unused]] float receive_weight[pairs];
    if constexpr (Variant::weighted) {
      load_weights<false>(launch_.transmit, group.i * pairs, k, transmit_weight);
      load_weights<true>(windows_.once() ? launch_.transmit : launch_.receive, group.j * pairs, k, receive_weight);
    }
    if constexpr (Variant::half) {
      add_half<diagonal>(windows_.address(stage), transmit, receive, transmit_weight, receive_weight, off_diagonal, sums_[k]);
    } else {
      const std::uint32_t windows = windows_.address(stage);
      if (checked_) {
        add_float<diagonal, true>(windows, group, transmit, receive, transmit_weight, receive_weight, off_diagonal, sums_[k]);
      } else {
        add_float<diagonal, false>(windows, group, transmit, receive, transmit_weight, receive_weight, off_diagonal, sums_[k]);
      }
    }
  }

  template <bool diagonal>
  __device__ static void add_half(std::uint32_t windows, const std::uint32_t (&transmit)[pairs],
                                  const std::uint32_t (&receive)[pairs], const float* transmit_weight,
                                  const float* receive_weight, float off_diagonal, float2& sum) {
    constexpr int bits = Variant::index_bits;
    constexpr int capacity = Variant::capacity;
    if constexpr (!diagonal && !Variant::weighted) {
      add(sum, scaled(sum_square_half<bits, capacity, pairs, 0, pairs>(windows, transmit, receive), off_diagonal));
    } else {
      add_half_rows<diagonal>(windows, transmit, receive, transmit_weight, receive_weight, off_diagonal, sum);
    }
  }

  template <bool diagonal>
  __device__ static void add_half_rows(std::uint32_t windows, const std::uint32_t (&transmit)[pairs],
                                       const std::uint32_t (&receive)[pairs], const float* transmit_weight,
                                       const float* receive_weight, float off_diagonal, float2& sum) {
    [[maybe_unused]] __half weight[pairs];
    if constexpr (Variant::weighted) {
#pragma unroll
      for (int n = 0; n < pairs; ++n) weight[n] = __float2half_rn(receive_weight[n]);
    }
    add_half_row<diagonal, 0>(windows, transmit, receive, transmit_weight, weight, off_diagonal, sum);
  }

  /// Processes row i and those after it.
  template <bool diagonal, int i>
  __device__ static void add_half_row(std::uint32_t windows, const std::uint32_t (&transmit)[pairs],
                                      const std::uint32_t (&receive)[pairs], const float* transmit_weight,
                                      const __half (&weight)[pairs], float off_diagonal, float2& sum) {
    if constexpr (i < pairs) {
      constexpr int offset = i * pairs * Variant::capacity * 8;
      const float factor = Variant::weighted ? transmit_weight[i] : 1.0F;
      if constexpr (diagonal) {
        __half2 value = look_up_half<Variant::index_bits, offset + i * Variant::capacity * 8>(windows, transmit[i] + receive[i]);
        if constexpr (Variant::weighted) value = __hmul2(value, __half2half2(weight[i]));
        add(sum, scaled(value, factor));
        __half2 beside = __float2half2_rn(0.0F);
        add_beside<i, i + 1>(windows, transmit[i], receive, weight, beside);
        add(sum, scaled(beside, factor * off_diagonal));
      } else {
        add(sum, scaled(sum_row_half<Variant::index_bits, Variant::capacity, offset, 0, pairs, Variant::weighted>(
                            windows, transmit[i], receive, weight),
                        factor * off_diagonal));
      }
      add_half_row<diagonal, i + 1>(windows, transmit, receive, transmit_weight, weight, off_diagonal, sum);
    }
  }

  /// Processes receivers j .. pairs - 1 of row i.
  template <int i, int j>
  __device__ static void add_beside(std::uint32_t windows, std::uint32_t transmit, const std::uint32_t (&receive)[pairs],
                                    const __half (&weight)[pairs], __half2& sum) {
    if constexpr (j < pairs) {
      __half2 value = look_up_half<Variant::index_bits, (i * pairs + j) * Variant::capacity * 8>(windows, transmit + receive[j]);
      if constexpr (Variant::weighted) value = __hmul2(value, __half2half2(weight[j]));
      sum = __hadd2(sum, value);
      add_beside<i, j + 1>(windows, transmit, receive, weight, sum);
    }
  }

  template <bool diagonal, bool checked>
  __device__ void add_float(std::uint32_t windows, Group group, const std::uint32_t (&transmit)[pairs],
                            const std::uint32_t (&receive)[pairs], const float* transmit_weight, const float* receive_weight,
                            float off_diagonal, float2& sum) const {
    float2 part = make_float2(0.0F, 0.0F);
    add_float_pairs<diagonal, checked, 0>(windows, group, transmit, receive, transmit_weight, receive_weight, off_diagonal, part);
    add(sum, make_float2(part.x * off_diagonal, part.y * off_diagonal));
  }

  /// Processes pair number `pair` of the square and those after it.
  template <bool diagonal, bool checked, int pair>
  __device__ void add_float_pairs(std::uint32_t windows, Group group, const std::uint32_t (&transmit)[pairs],
                                  const std::uint32_t (&receive)[pairs], const float* transmit_weight,
                                  const float* receive_weight, float off_diagonal, float2& part) const {
    if constexpr (pair < pairs * pairs) {
      constexpr int i = pair / pairs;
      constexpr int j = pair % pairs;
      if constexpr (!diagonal || j >= i) {
        float weight = diagonal && i == j ? 1.0F / off_diagonal : 1.0F;
        if constexpr (Variant::weighted) weight *= transmit_weight[i] * receive_weight[j];
        std::int32_t base = 0;
        if constexpr (checked)
          base = windows_.transmit().windows[group.i * pairs + i].base + windows_.receive().windows[group.j * pairs + j].base;
        add_lookup_float<Variant::index_bits, pair * Variant::capacity * 8, Variant::nearest, checked>(
            windows, transmit[i] + receive[j], base, launch_.samples, weight, part);
      }
      add_float_pairs<diagonal, checked, pair + 1>(windows, group, transmit, receive, transmit_weight, receive_weight,
                                                   off_diagonal, part);
    }
  }

  __device__ void write() const {
    const bool whole = launch_.splits == 1;
    float factor = 1.0F;
    if (whole) factor = launch_.factor != nullptr ? launch_.scale * *launch_.factor : launch_.scale;
    auto* const out = reinterpret_cast<float2*>(whole ? launch_.image : launch_.partial);
    const std::size_t pixels = std::size_t{launch_.nx} * launch_.ny * launch_.nz;
    const std::size_t first = whole ? 0 : blockIdx.y * pixels;
#pragma unroll
    for (int k = 0; k < Variant::pixels; ++k) {
      const std::uint32_t x = pixel_x(k);
      const std::uint32_t z = pixel_z(k);
      if (x >= launch_.nx || z >= launch_.nz) continue;
      out[first + (std::size_t{z} * launch_.ny + iy_) * launch_.nx + x] = make_float2(sums_[k].x * factor, sums_[k].y * factor);
    }
  }

  const TileLaunch& launch_;
  TileWindows<Variant> windows_;
  std::uint32_t tile_;
  std::uint32_t iy_;
  std::uint32_t first_x_;
  std::uint32_t first_z_;
  bool checked_;
  std::uint32_t held_delay_[Variant::pixels][pairs];  ///< computed delays of the side whose groups change less often
  float2 sums_[Variant::pixels];
};

template <class Variant>
__global__ void __launch_bounds__(Variant::threads, Variant::shape.blocks)
    beamform_tiles(const __grid_constant__ TileLaunch launch) {
  extern __shared__ __align__(16) unsigned char memory[];
  TileSum<Variant>(launch, memory).run();
}

/// Returns the result of `function_of` for the number of the kind as a constant. For gather, which has no windows, the result is
/// empty.
template <class FunctionOf>
[[nodiscard]] TileFunction function_of_windows(TileKind kind, const FunctionOf& function_of) {
  switch (kind) {
    case TileKind::large_narrow:
      return function_of(std::integral_constant<int, 0>());
    case TileKind::large_wide:
      return function_of(std::integral_constant<int, 1>());
    case TileKind::small_narrow:
      return function_of(std::integral_constant<int, 2>());
    case TileKind::small_wide:
      return function_of(std::integral_constant<int, 3>());
    case TileKind::small_widest:
      return function_of(std::integral_constant<int, 4>());
    case TileKind::gather:
      break;
  }
  return {};
}

}  // namespace echoform::beamform
