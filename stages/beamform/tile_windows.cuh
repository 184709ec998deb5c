// The windows of A-scans in shared memory that a block of the CUDA beamformer works on: their layout, and how they are filled.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "stages/beamform/tile_groups.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

__device__ __forceinline__ void copy_16_bytes_later(std::uint32_t to, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
/// Copies `length` elements of 8 bytes from element `part` on, as long as there are any: `step` elements at a time, up to
/// `capacity`. The places are constants of the instructions. Predicates replace branches, behind each of which the compiler would
/// compute the addresses anew.
template <int part, int step, int capacity>
__device__ __forceinline__ void copy_parts_later(std::uint32_t to, const uint2* global, std::int32_t length) {
  if constexpr (part < capacity) {
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "setp.gt.s32 there, %2, %3;\n"
        "@there cp.async.cg.shared.global [%0+%4], [%1+%4], 16;\n"
        "}" ::"r"(to),
        "l"(global), "r"(length), "n"(part), "n"(part * 8)
        : "memory");
    copy_parts_later<part + step, step, capacity>(to, global, length);
  }
}
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group 0;" ::: "memory");
}

template <bool half_path, bool analytic_delays, bool weighted_sums, bool nearest_sample, int tile_kind,
          bool separate_counts = false, bool listed_pairs = false>
struct TileVariant {
  static constexpr bool half = half_path;
  static constexpr bool analytic = analytic_delays;
  static constexpr bool weighted = weighted_sums;
  static constexpr bool nearest = nearest_sample;
  static constexpr bool separate = separate_counts;  // separate counts of the sources of each side; else one count serves both
  static constexpr bool listed = listed_pairs;       // PairOrder::listed; `separate` too
  static constexpr bool plane = false;
  static constexpr bool turned = false;
  static constexpr TileShape shape = tile_shapes[tile_kind];
  static constexpr int index_bits = static_cast<int>(shape.index_bits);
  static constexpr int capacity = static_cast<int>(shape.window);
  static constexpr int pairs = static_cast<int>(shape.pairs);
  static constexpr int threads = static_cast<int>(shape.threads);
  static constexpr int pixels = static_cast<int>(shape.x * shape.z / shape.threads);  // pixels of a thread
  static constexpr int stage_bytes = pairs * pairs * capacity * 8;
  /// Alignment of the stages of windows, so that an address is the address of a stage combined with an index: see
  /// element_address().
  static constexpr int alignment = 8 << index_bits;
  static_assert(stage_bytes % alignment == 0);
};

/// Plane waves that are received at points; all delays are computed. Waves have weights, so that no tables are needed for them.
template <bool half_path, bool nearest_sample, int tile_kind>
struct PlaneVariant : TileVariant<half_path, true, false, nearest_sample, tile_kind, true> {
  static constexpr bool plane = true;
};

/// The same for waves of revolution, plane or from virtual sources.
template <bool half_path, bool nearest_sample, int tile_kind>
struct TurnedVariant : PlaneVariant<half_path, nearest_sample, tile_kind> {
  static constexpr bool turned = true;
};

/// Two stages of windows, one of which is filled while the other is looked up. The tables of all sources stand behind them.
template <class Variant>
class TileWindows {
  static constexpr int pairs = Variant::pairs;
  static constexpr int warps = Variant::threads / 32;
  static constexpr std::uint32_t threads = Variant::threads;

 public:
  struct Side {
    SourceForm* forms = nullptr;
    SourceWindow* windows = nullptr;
    float* phases = nullptr;
  };

  /// `memory` has tile_shared_bytes(). The threads must synchronise before they use the tables.
  __device__ TileWindows(const TileLaunch& launch, unsigned char* memory) : launch_(launch) {
    const auto begin = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    first_stage_ = (begin + Variant::alignment - 1) / Variant::alignment * Variant::alignment;
    once_ = !Variant::separate && launch.order == PairOrder::once;
    padded_ = (sources<true>() + pairs - 1) / pairs * pairs;
    unsigned char* const place =
        load_side<false>(launch.transmit, transmit_, memory + (first_stage_ - begin) + 2 * Variant::stage_bytes);
    if (once_) {
      receive_ = transmit_;
    } else {
      load_side<true>(launch.receive, receive_, place);
    }
  }

  [[nodiscard]] __device__ bool once() const { return once_; }
  /// Number of sources of a side. It is read from the launch where it is needed: a copy would take registers.
  template <bool receive>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sources() const {
    if constexpr (Variant::separate && receive) {
      return launch_.receivers;
    } else {
      return launch_.sources;
    }
  }
  /// Number of sources of a tile in the tables of a side, also read from the launch. Sides with one count have tables of one
  /// size.
  template <bool receive>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t tabled() const {
    if constexpr (Variant::separate && receive) {
      return launch_.receive.tabled;
    } else {
      return launch_.transmit.tabled;
    }
  }
  /// Number of groups of the side whose groups follow each other first.
  [[nodiscard]] __device__ std::uint32_t groups() const { return (sources<!Variant::plane>() + pairs - 1) / pairs; }
  /// Number of groups of both sides.
  [[nodiscard]] __device__ std::uint32_t all_groups() const {
    if constexpr (Variant::listed) return launch_.listed.count;
    if constexpr (Variant::separate) return (launch_.sources + pairs - 1) / pairs * ((launch_.receivers + pairs - 1) / pairs);
    return group_count(launch_.sources, pairs, launch_.order);
  }
  [[nodiscard]] __device__ const Side& transmit() const { return transmit_; }
  [[nodiscard]] __device__ const Side& receive() const { return receive_; }
  /// Reads the form in one load: the tables lie at multiples of 16 bytes.
  [[nodiscard]] __device__ static __forceinline__ SourceForm form_of(const Side& side, std::uint32_t source) {
    const float4 form = *reinterpret_cast<const float4*>(side.forms + source);
    return {form.x, form.y, form.z, form.w};
  }
  /// Address in shared memory of the windows of a stage.
  [[nodiscard]] __device__ std::uint32_t address(int stage) const {
    return first_stage_ + static_cast<std::uint32_t>(stage * Variant::stage_bytes);
  }

  /// Queues the copies of the windows of the `index`-th group. A warp copies the windows of whole transmitters, so that rows
  /// follow each other.
  __device__ void fill(int stage, Group group, std::uint32_t index) const {
    if constexpr (Variant::plane) {
      fill_in_parts(stage, group);
    } else {
      fill_whole(stage, group, index);
    }
  }

 private:
  /// All lanes of a warp copy one window after the other.
  __device__ __forceinline__ void fill_whole(int stage, Group group, [[maybe_unused]] std::uint32_t index) const {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const std::uint32_t lane = threadIdx.x % 32;
    for (int of_group = warp; of_group < pairs; of_group += warps) {
      const std::uint32_t i = group.i * pairs + static_cast<std::uint32_t>(of_group);
      const SourceWindow a = transmit_.windows[i];
      const std::uint32_t to = address(stage) + static_cast<std::uint32_t>(of_group * pairs * Variant::capacity * 8) + 16 * lane;
      const std::uint32_t j = group.j * pairs;
      if constexpr (Variant::listed) {
        const std::uint32_t* const rows = launch_.listed.rows + (std::size_t{index} * pairs + of_group) * pairs;
#pragma unroll
        for (std::uint32_t n = 0; n < pairs; ++n) {
          SourceWindow b = receive_.windows[j + n];
          const std::uint32_t row = rows[n];
          if (row == no_listed_row) b.reach = -1;
          fill_window(to, n, a, b, row, lane);
        }
      } else if (!Variant::separate && launch_.order == PairOrder::ordered_half) {
        // Rows of (min, max) have no fixed distance.
#pragma unroll
        for (std::uint32_t n = 0; n < pairs; ++n) {
          const std::uint32_t low = min(i, j + n);
          fill_window(to, n, a, receive_.windows[j + n], low * launch_.sources - low * (low + 1) / 2 + max(i, j + n), lane);
        }
      } else {
        const std::uint32_t row = once_ ? i * launch_.sources - i * (i + 1) / 2 + j : i * sources<true>() + j;
#pragma unroll
        for (std::uint32_t n = 0; n < pairs; ++n) {
          if (once_ && j + n < i) continue;
          fill_window(to, n, a, receive_.windows[j + n], row + n, lane);
        }
      }
    }
  }

  /// Eight lanes copy a window, 128 bytes at a time, and four windows are copied at once. Each lane computes the location of two
  /// of the windows, not of all. This is for `separate` only.
  __device__ __forceinline__ void fill_in_parts(int stage, Group group) const {
    constexpr std::uint32_t lanes = 8;
    constexpr std::uint32_t at_once = 32 / lanes;
    static_assert(Variant::separate && pairs <= warps && pairs % at_once == 0);
    const std::uint32_t of_group = threadIdx.x / 32;
    if (pairs < warps && of_group >= pairs) return;
    const std::uint32_t i = group.i * pairs + of_group;
    const SourceWindow a = window_of(transmit_, i);
    const auto* const rows = static_cast<const uint2*>(launch_.rows) + 2 * (threadIdx.x % lanes);
    const std::int32_t last = (launch_.samples + 1) & ~1;
    const auto element = static_cast<std::int32_t>(2 * (threadIdx.x % lanes));
#pragma unroll
    for (std::uint32_t first = 0; first < pairs; first += at_once) {
      const std::uint32_t n = first + threadIdx.x % 32 / lanes;
      const std::uint32_t j = group.j * pairs + n;
      const SourceWindow b = window_of(receive_, j);
      // Where one of the two reaches no pixel, or is not a source at all, the leading zeros are looked up.
      const bool alive = (a.reach | b.reach) >= 0;
      const std::int32_t start = min(max(a.base + b.base, -static_cast<std::int32_t>(row_margin)), last);
      const std::size_t place =
          static_cast<std::size_t>(i * sources<true>() + j) * launch_.row_stride + static_cast<std::size_t>(row_margin + start);
      const std::int32_t length = alive ? a.reach + b.reach + 2 : Variant::capacity;
      copy_parts_later<0, 2 * static_cast<int>(lanes), Variant::capacity>(
          address(stage) + (of_group * pairs + n) * (Variant::capacity * 8) + 8 * element, rows + (alive ? place : 0),
          length - element);
    }
  }

  /// Reads the window in one load: the tables lie at multiples of 16 bytes.
  [[nodiscard]] __device__ static __forceinline__ SourceWindow window_of(const Side& side, std::uint32_t source) {
    const int2 both = *reinterpret_cast<const int2*>(side.windows + source);
    return {both.x, both.y};
  }

  template <bool receive>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t padded() const {
    if constexpr (Variant::separate && !receive) {
      return (launch_.sources + pairs - 1) / pairs * pairs;
    } else {
      return padded_;
    }
  }

  template <bool receive>
  __device__ unsigned char* load_side(const TileSide& side, Side& shared, unsigned char* place) {
    const std::size_t first = std::size_t{blockIdx.x} * tabled<receive>();
    if constexpr (Variant::analytic) {
      shared.forms = reinterpret_cast<SourceForm*>(place);
      place += padded<receive>() * sizeof(SourceForm);
    }
    shared.windows = reinterpret_cast<SourceWindow*>(place);
    place += padded<receive>() * sizeof(SourceWindow);
    if constexpr (Variant::analytic && !Variant::half) {
      shared.phases = reinterpret_cast<float*>(place);
      place += padded<receive>() * sizeof(float);
    }
    for (std::uint32_t place_of_source = threadIdx.x; place_of_source < padded<receive>(); place_of_source += threads) {
      // Places beyond the last source take its delays, which fit into a window, and reach no pixel.
      const std::uint32_t source = min(place_of_source, sources<receive>() - 1);
      shared.windows[place_of_source] = side.windows[first + source];
      if (source != place_of_source) shared.windows[place_of_source].reach = -1;
      if constexpr (Variant::analytic) {
        shared.forms[place_of_source] = side.forms[first + source];
        if constexpr (Variant::plane && Variant::half && !receive) {
          const __half2 weight = __float2half2_rn(side.forms[first + source].c);
          std::memcpy(&shared.forms[place_of_source].c, &weight, sizeof weight);
        }
        if constexpr (!Variant::half) shared.phases[place_of_source] = side.phases[first + source];
      }
    }
    return place;
  }

  __device__ void fill_window(std::uint32_t to, std::uint32_t n, SourceWindow a, SourceWindow b, std::uint32_t row,
                              std::uint32_t lane) const {
    const auto* const rows = static_cast<const uint2*>(launch_.rows);
    // Where one of the two reaches no pixel, or is not a source at all, the leading zeros are looked up.
    const bool alive = (a.reach | b.reach) >= 0;
    const std::int32_t last = (launch_.samples + 1) & ~1;
    const std::int32_t start = min(max(a.base + b.base, -static_cast<std::int32_t>(row_margin)), last);
    const uint2* const from =
        alive ? rows + (static_cast<std::size_t>(row) * launch_.row_stride + static_cast<std::size_t>(row_margin + start)) : rows;
    const int length = alive ? a.reach + b.reach + 2 : Variant::capacity;
#pragma unroll
    for (int first = 0; first < Variant::capacity; first += 64) {
      const int element = first + 2 * static_cast<int>(lane);
      if (element < length) copy_16_bytes_later(to + (n * Variant::capacity + first) * 8, from + element);
    }
  }

  const TileLaunch& launch_;
  std::uint32_t first_stage_;
  std::uint32_t padded_;  // padded number of sources of the receive side
  bool once_;
  Side transmit_;
  Side receive_;
};

}  // namespace echoform::beamform
