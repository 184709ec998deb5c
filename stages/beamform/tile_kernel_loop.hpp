// The loop over patches and inner sources, common to every instruction set. `Isa` supplies the vectors:
//   Isa::lanes, Isa::Real (vector of lanes floats), zero(), load(p), add(a, b), store(p, v), multiply_add(a, b, c) and
//   Isa::lookup<window, linear, weighted>(row, quadrature, t, w, I, Q): adds one interpolated complex sample a lane.
#pragma once

#include "stages/beamform/tile_kernel.hpp"

namespace echoform::beamform {

// How many inner sources are summed in registers before the tile's sums are touched.
inline constexpr std::uint32_t register_run = 8;

/// Fetches the windows of the next inner sources into the cache, some lines at every patch, while the present ones are
/// summed: each A-scan is a jump in memory that the processor does not foresee.
class FetchAhead {
 public:
  FetchAhead(const TileTask& task, std::uint32_t first, std::uint32_t last, const float* rows)
      : task_(task), rows_(rows), source_(first), last_(last) {
    std::uint32_t lines = 0;
    for (std::uint32_t j = first; j < last; ++j) lines += lines_of(j);
    per_patch_ = (lines + task.patches - 1) / task.patches;
    enter();
  }

  void step() {
    for (std::uint32_t k = 0; k < per_patch_ && source_ < last_; ++k) {
      __builtin_prefetch(line_);
      __builtin_prefetch(line_ + task_.quadrature);
      line_ += line;
      if (line_ > end_) {
        ++source_;
        rows_ += task_.row_pitch;
        enter();
      }
    }
  }

 private:
  static constexpr std::int32_t line = 16;

  [[nodiscard]] std::int32_t low(std::uint32_t j) const {
    const std::int32_t n = task_.outer_low + task_.inner_low[j];
    return n < 0 ? 0 : n;
  }
  [[nodiscard]] std::int32_t high(std::uint32_t j) const {
    const std::int32_t n = task_.outer_high + task_.inner_high[j] + 1;
    return n < task_.samples ? n : task_.samples - 1;
  }
  [[nodiscard]] std::uint32_t lines_of(std::uint32_t j) const {
    const std::int32_t n = high(j) - low(j);
    return n < 0 ? 0 : static_cast<std::uint32_t>(n / line + 1);
  }
  void enter() {
    while (source_ < last_ && lines_of(source_) == 0) {
      ++source_;
      rows_ += task_.row_pitch;
    }
    if (source_ < last_) {
      line_ = rows_ + low(source_);
      end_ = rows_ + high(source_);
    }
  }

  const TileTask& task_;
  const float* rows_;
  const float* line_ = nullptr;
  const float* end_ = nullptr;
  std::uint32_t source_;
  std::uint32_t last_;
  std::uint32_t per_patch_ = 0;
};

/// One pair and patch whose samples may lie outside of the A-scan: lane by lane, by the rule of the sampling convention
/// (linear: 0 <= u < M - 1; nearest: floor(u + 0.5) in 0 .. M - 1; outside, nothing).
template <class Isa, bool linear, bool weighted>
inline void add_checked(const float* row, std::uint64_t quadrature, std::int32_t samples, std::int64_t base, const float* outer,
                        const float* inner, const float* inner_weight, float* sums_in_phase, float* sums_quadrature) {
  for (std::uint32_t lane = 0; lane < Isa::lanes; ++lane) {
    const float t = outer[lane] + inner[lane];
    const float shifted = linear ? t : t + 0.5F;
    const std::int32_t whole = static_cast<std::int32_t>(shifted);
    const std::int64_t n = base + whole;
    if (n < 0 || n >= (linear ? samples - 1 : samples)) continue;
    const float weight = weighted ? inner_weight[lane] : 1.0F;
    if constexpr (linear) {
      const float f = shifted - static_cast<float>(whole);
      const float g1 = f * weight;
      const float g0 = weight - g1;
      sums_in_phase[lane] += g0 * row[n] + g1 * row[n + 1];
      sums_quadrature[lane] += g0 * row[quadrature + n] + g1 * row[quadrature + n + 1];
    } else {
      sums_in_phase[lane] += weight * row[n];
      sums_quadrature[lane] += weight * row[quadrature + n];
    }
  }
}

template <class Isa, Window window, bool linear, bool weighted, bool checked>
void tile_kernel(const TileTask& task) {
  using Real = typename Isa::Real;
  constexpr std::uint32_t lanes = Isa::lanes;
  for (std::uint32_t first = task.inner_first; first < task.inner_last; first += register_run) {
    const std::uint32_t last = first + register_run < task.inner_last ? first + register_run : task.inner_last;
    const float* rows = task.rows + (first - task.inner_first) * task.row_pitch;
    const std::uint32_t ahead = task.inner_last - last < register_run ? task.inner_last : last + register_run;
    FetchAhead fetch(task, last, ahead, rows + (last - first) * task.row_pitch);
    for (std::uint32_t patch = 0; patch < task.patches; ++patch) {
      const std::int32_t outer_base = task.outer_base[patch * std::uint64_t{task.outer_sources}];
      fetch.step();
      if constexpr (weighted) {
        if (outer_base == inactive) continue;
      }
      const float* outer_offset = task.outer_offset + patch * std::uint64_t{task.outer_sources} * lanes;
      const std::uint64_t inner = patch * std::uint64_t{task.sources};
      const Real outer = Isa::load(outer_offset);
      Real in_phase = Isa::zero();
      Real quadrature = Isa::zero();
      alignas(64) float checked_in_phase[lanes];
      alignas(64) float checked_quadrature[lanes];
      bool any_checked = false;

      const auto one = [&](std::uint32_t j, const float* row) {
        const std::int32_t inner_base = task.inner_base[inner + j];
        if constexpr (weighted) {
          if (inner_base == inactive) return;
        }
        const std::int64_t base = std::int64_t{outer_base} + inner_base;
        const float* inner_offset = task.inner_offset + (inner + j) * lanes;
        const float* inner_weight = weighted ? task.inner_weight + (inner + j) * lanes : nullptr;
        if constexpr (checked) {
          const std::int32_t top = task.outer_top[patch * std::uint64_t{task.outer_sources}] + task.inner_top[inner + j];
          if (base < 0 || base + top > task.samples - 2) {
            if (base + top < 0 || base >= task.samples) return;
            if (!any_checked) {
              for (std::uint32_t lane = 0; lane < lanes; ++lane) checked_in_phase[lane] = checked_quadrature[lane] = 0.0F;
              any_checked = true;
            }
            add_checked<Isa, linear, weighted>(row, task.quadrature, task.samples, base, outer_offset, inner_offset, inner_weight,
                                               checked_in_phase, checked_quadrature);
            return;
          }
        }
        const Real t = Isa::add(outer, Isa::load(inner_offset));
        const Real w = weighted ? Isa::load(inner_weight) : Isa::zero();
        Isa::template lookup<window, linear, weighted>(row + base, task.quadrature, t, w, in_phase, quadrature);
      };
      const float* row = rows;
      for (std::uint32_t j = first; j < last; ++j, row += task.row_pitch) one(j, row);
      if constexpr (checked) {
        if (any_checked) {
          in_phase = Isa::add(in_phase, Isa::load(checked_in_phase));
          quadrature = Isa::add(quadrature, Isa::load(checked_quadrature));
        }
      }
      float* sums = task.sums + patch * std::uint64_t{2} * lanes;
      if constexpr (weighted) {
        const Real w = Isa::load(task.outer_weight + patch * std::uint64_t{task.outer_sources} * lanes);
        Isa::store(sums, Isa::multiply_add(w, in_phase, Isa::load(sums)));
        Isa::store(sums + lanes, Isa::multiply_add(w, quadrature, Isa::load(sums + lanes)));
      } else {
        Isa::store(sums, Isa::add(in_phase, Isa::load(sums)));
        Isa::store(sums + lanes, Isa::add(quadrature, Isa::load(sums + lanes)));
      }
    }
  }
}

template <class Isa>
constexpr KernelSet make_kernel_set(const char* name, std::int32_t narrow_reach, std::int32_t wide_reach) {
  KernelSet set{name, Isa::lanes, narrow_reach, wide_reach, {}};
  const auto fill = [&]<Window window>() {
    auto& table = set.kernels[static_cast<int>(window)];
    table[0][0][0] = &tile_kernel<Isa, window, false, false, false>;
    table[0][0][1] = &tile_kernel<Isa, window, false, false, true>;
    table[0][1][0] = &tile_kernel<Isa, window, false, true, false>;
    table[0][1][1] = &tile_kernel<Isa, window, false, true, true>;
    table[1][0][0] = &tile_kernel<Isa, window, true, false, false>;
    table[1][0][1] = &tile_kernel<Isa, window, true, false, true>;
    table[1][1][0] = &tile_kernel<Isa, window, true, true, false>;
    table[1][1][1] = &tile_kernel<Isa, window, true, true, true>;
  };
  fill.template operator()<Window::narrow>();
  fill.template operator()<Window::wide>();
  fill.template operator()<Window::gather>();
  return set;
}

}  // namespace echoform::beamform
