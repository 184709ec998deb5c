// The loops of spherical_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include <cstring>

#include "operators/spherical_kernels.hpp"
#include "operators/spreading_kernel.hpp"

namespace echoform::spherical {
namespace {

using EightFloats = float __attribute__((vector_size(32)));
static_assert(spreading::lanes == 8);

/// Where the voxels of a piece are on the grid. Those that do not count are at a place that does, with loudness 0.
struct Arrivals {
  alignas(64) std::int32_t cell[piece];
  alignas(64) float rest[piece];
  alignas(64) float loudness[piece];
};

/// All of a piece, though it may have fewer voxels: loops of fixed length vectorise best.
void find_arrivals(const PieceTask& task, Arrivals& arrivals) {
  const Heard heard = task.heard;
  const std::int32_t count = task.count;
  const std::int32_t first = task.first;
  const std::int32_t last = task.last;
  for (std::int32_t k = 0; k < piece; ++k) {
    // Those behind the last voxel are as it is: where they would lie, a time may be no number that fits.
    const Arrival arrival = arrival_of(heard, k < count ? k : count - 1);
    const bool counts = (arrival.cell >= first) & (arrival.cell <= last);
    arrivals.cell[k] = counts ? arrival.cell : first;
    arrivals.rest[k] = counts ? arrival.rest : 0.0F;
    arrivals.loudness[k] = counts ? arrival.loudness : 0.0F;
  }
}

/// Shares of samples from `cell` - lead on, of an impulse that lies `rest` after it.
[[gnu::always_inline]] inline void shares_of(const float* table, float rest, EightFloats& shares) {
  const float place = rest * static_cast<float>(spreading::places);
  const auto row = static_cast<std::int32_t>(place);
  const float after = place - static_cast<float>(row);
  const float* const at = table + static_cast<std::ptrdiff_t>(row) * spreading::table_row;
  EightFloats slopes;
  std::memcpy(&shares, at, sizeof(shares));
  std::memcpy(&slopes, at + spreading::lanes, sizeof(slopes));
  shares += slopes * after;
}

[[gnu::always_inline]] inline void add_impulse(const float* table, float rest, float amplitude, float* at) {
  EightFloats shares;
  shares_of(table, rest, shares);
  EightFloats samples;
  std::memcpy(&samples, at, sizeof(samples));
  samples += shares * amplitude;
  std::memcpy(at, &samples, sizeof(samples));
}

[[gnu::always_inline]] inline void take_impulse(const float* table, float rest, float amplitude, const float* at, float* sums) {
  EightFloats shares;
  shares_of(table, rest, shares);
  EightFloats samples;
  std::memcpy(&samples, at, sizeof(samples));
  EightFloats sum;
  std::memcpy(&sum, sums, sizeof(sum));
  sum += shares * amplitude * samples;
  std::memcpy(sums, &sum, sizeof(sum));
}

void spread_points(const PieceTask& task, const float* image, float* grids) {
  Arrivals arrivals;
  find_arrivals(task, arrivals);
  for (std::int32_t k = 0; k < task.count; ++k) {
    float* const grid = grids + static_cast<std::size_t>(k % point_grids) * task.stride;
    add_impulse(task.table, arrivals.rest[k], arrivals.loudness[k] * image[k], grid + arrivals.cell[k] - spreading::lead);
  }
}

void gather_points(const PieceTask& task, const float* grids, float* sums) {
  Arrivals arrivals;
  find_arrivals(task, arrivals);
  for (std::int32_t k = 0; k < task.count; ++k) {
    take_impulse(task.table, arrivals.rest[k], arrivals.loudness[k], grids + arrivals.cell[k] - spreading::lead,
                 sums + static_cast<std::ptrdiff_t>(k) * spreading::lanes);
  }
}

/// Calls body(grid, cell, rest, amplitude) for every impulse of voxel k at a rectangular detector. Together the impulses are the
/// convolution of two boxes in time, one for each side of the rectangle.
template <class Body>
[[gnu::always_inline]] inline void for_each_impulse(const PieceTask& task, const Arrivals& arrivals, std::int32_t k,
                                                    const Body& body) {
  const float loudness = arrivals.loudness[k];
  if (loudness == 0.0F) return;
  const Box across = box_of(time_across(task.heard, k, loudness));
  const Box along = box_of(time_along(task.heard, k, loudness));
  const std::size_t grid = static_cast<std::size_t>(across.integrals + along.integrals) * task.stride;
  for (std::int32_t a = 0; a < across.count; ++a) {
    for (std::int32_t b = 0; b < along.count; ++b) {
      const Arrival arrival = split(arrivals.rest[k] + (across.shift[a] + along.shift[b]), arrivals.cell[k], loudness);
      body(grid, arrival.cell, arrival.rest, loudness * (across.factor[a] * along.factor[b]));
    }
  }
}

void spread_rectangles(const PieceTask& task, const float* image, float* grids) {
  Arrivals arrivals;
  find_arrivals(task, arrivals);
  for (std::int32_t k = 0; k < task.count; ++k) {
    const float value = image[k];
    for_each_impulse(task, arrivals, k, [&](std::size_t grid, std::int32_t cell, float rest, float amplitude) {
      add_impulse(task.table, rest, amplitude * value, grids + grid + cell - spreading::lead);
    });
  }
}

void gather_rectangles(const PieceTask& task, const float* grids, float* sums) {
  Arrivals arrivals;
  find_arrivals(task, arrivals);
  for (std::int32_t k = 0; k < task.count; ++k) {
    float* const sum = sums + static_cast<std::ptrdiff_t>(k) * spreading::lanes;
    for_each_impulse(task, arrivals, k, [&](std::size_t grid, std::int32_t cell, float rest, float amplitude) {
      take_impulse(task.table, rest, amplitude, grids + grid + cell - spreading::lead, sum);
    });
  }
}

}  // namespace
}  // namespace echoform::spherical
