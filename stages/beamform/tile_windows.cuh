// The windows of A-scans that a block of the CUDA beamformer works on, in shared memory: how they are laid out and filled.
#pragma once

#include <cstdint>

#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

__device__ __forceinline__ void copy_16_bytes_later(std::uint32_t to, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group 0;" ::: "memory");
}

/// A place in the sequence of groups of sources.
struct Group {
  std::uint32_t i;
  std::uint32_t j;
};
__device__ __forceinline__ Group group_at(std::uint32_t index, std::uint32_t groups, bool once) {
  Group group{0, index};
  if (!once) return {index / groups, index % groups};
  while (group.j >= groups - group.i) {
    group.j -= groups - group.i;
    ++group.i;
  }
  group.j += group.i;
  return group;
}
__device__ __forceinline__ Group next_group(Group group, std::uint32_t groups, bool once) {
  if (++group.j == groups) {
    ++group.i;
    group.j = once ? group.i : 0;
  }
  return group;
}

template <bool half_path, bool analytic_delays, bool weighted_sums, bool nearest_sample, int tile_kind,
          bool separate_counts = false>
struct TileVariant {
  static constexpr bool half = half_path;
  static constexpr bool analytic = analytic_delays;
  static constexpr bool weighted = weighted_sums;
  static constexpr bool nearest = nearest_sample;
  static constexpr bool separate = separate_counts;  // of the sources of either side; else one count serves both
  static constexpr TileShape shape = tile_shapes[tile_kind];
  static constexpr int index_bits = static_cast<int>(shape.index_bits);
  static constexpr int capacity = static_cast<int>(shape.window);
  static constexpr int pairs = static_cast<int>(shape.pairs);
  static constexpr int threads = static_cast<int>(shape.threads);
  static constexpr int pixels = static_cast<int>(shape.x * shape.z / shape.threads);  // of a thread
  static constexpr int stage_bytes = pairs * pairs * capacity * 8;
  /// Of the stages of windows, so that an address is one of these and an index: see element_address().
  static constexpr int alignment = 8 << index_bits;
  static_assert(stage_bytes % alignment == 0);
};

/// Two stages of windows, so that one is filled while the other is looked up, and the tables of all sources behind them.
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

  /// `memory` has tile_shared_bytes(). Threads meet before they use the tables.
  __device__ TileWindows(const TileLaunch& launch, unsigned char* memory) : launch_(launch) {
    const auto begin = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    first_stage_ = (begin + Variant::alignment - 1) / Variant::alignment * Variant::alignment;
    once_ = !Variant::separate && launch.order == PairOrder::once;
    padded_ = groups() * pairs;
    unsigned char* const place =
        load_side<false>(launch.transmit, transmit_, memory + (first_stage_ - begin) + 2 * Variant::stage_bytes);
    if (once_) {
      receive_ = transmit_;
    } else {
      load_side<true>(launch.receive, receive_, place);
    }
  }

  [[nodiscard]] __device__ bool once() const { return once_; }
  /// Sources of a side. They are read from the launch where they are wanted: kept, they would take registers.
  template <bool receive>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sources() const {
    if constexpr (Variant::separate && receive) {
      return launch_.receivers;
    } else {
      return launch_.sources;
    }
  }
  /// Of the receive side.
  [[nodiscard]] __device__ std::uint32_t groups() const { return (sources<true>() + pairs - 1) / pairs; }
  /// Of both sides.
  [[nodiscard]] __device__ std::uint32_t all_groups() const {
    if constexpr (Variant::separate) return (launch_.sources + pairs - 1) / pairs * groups();
    return group_count(launch_.sources, pairs, launch_.order);
  }
  [[nodiscard]] __device__ const Side& transmit() const { return transmit_; }
  [[nodiscard]] __device__ const Side& receive() const { return receive_; }
  /// Address in shared memory of the windows of a stage.
  [[nodiscard]] __device__ std::uint32_t address(int stage) const {
    return first_stage_ + static_cast<std::uint32_t>(stage * Variant::stage_bytes);
  }

  /// Queues the copies of a group's windows. A warp copies the windows of whole transmitters, so that rows follow each other.
  __device__ void fill(int stage, Group group) const {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const std::uint32_t lane = threadIdx.x % 32;
    for (int of_group = warp; of_group < pairs; of_group += warps) {
      const std::uint32_t i = group.i * pairs + static_cast<std::uint32_t>(of_group);
      const SourceWindow a = transmit_.windows[i];
      const std::uint32_t to = address(stage) + static_cast<std::uint32_t>(of_group * pairs * Variant::capacity * 8) + 16 * lane;
      const std::uint32_t j = group.j * pairs;
      if (!Variant::separate && launch_.order == PairOrder::ordered_half) {
        // Rows of (min, max): no fixed distance.
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

 private:
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
    const std::size_t first = std::size_t{blockIdx.x} * sources<receive>();
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
      // Places beyond the last source take its delays, which hold in a window, and reach nothing.
      const std::uint32_t source = min(place_of_source, sources<receive>() - 1);
      shared.windows[place_of_source] = side.windows[first + source];
      if (source != place_of_source) shared.windows[place_of_source].reach = -1;
      if constexpr (Variant::analytic) {
        shared.forms[place_of_source] = side.forms[first + source];
        if constexpr (!Variant::half) shared.phases[place_of_source] = side.phases[first + source];
      }
    }
    return place;
  }

  __device__ void fill_window(std::uint32_t to, std::uint32_t n, SourceWindow a, SourceWindow b, std::uint32_t row,
                              std::uint32_t lane) const {
    const auto* const rows = static_cast<const uint2*>(launch_.rows);
    // Where one of the two reaches no pixel, or is no source at all, the leading zeros are looked up.
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
  std::uint32_t padded_;  // sources of the receive side
  bool once_;
  Side transmit_;
  Side receive_;
};

}  // namespace echoform::beamform
