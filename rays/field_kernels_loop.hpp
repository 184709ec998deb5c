// The loops over rays, common to every instruction set: plain, so that the compiler makes vectors of them. `Isa` supplies
// negative_bits(p): bit n of the result says whether p[n] < 0, of 64 floats.
#pragma once

#include "rays/across_math.hpp"
#include "rays/crossing_math.hpp"
#include "rays/field_kernels.hpp"

namespace echoform::rays {

template <class Isa, int slow>
void layer_run(const LayerRun& run) {
  const LayerStack stack = run.stack;
  const double source_along = run.source_along;
  const double source_y = run.source_y;
  const double* __restrict along = run.along;
  const double* __restrict y = run.y;
  const double* __restrict last = run.last;
  double* __restrict seconds = run.seconds;
  const auto lateral = [=](std::size_t k) {
    const double x = along[k] - source_along;
    const double dy = y[k] - source_y;
    return sqrt(x * x + dy * dy);
  };
  // Rays that need more steps are marked by a time that no ray has.
  std::int64_t unfinished = 0;
  for (std::size_t k = 0; k < run.count; ++k) {
    const bool reached = last[k] >= 0.0;
    bool finished = false;
    const double time = layer_ray<slow>(stack, lateral(k), reached ? last[k] : 1.0, usual_layer_steps, finished);
    unfinished += finished ? 0 : 1;
    seconds[k] = reached ? (finished ? time : -1.0) : __builtin_nan("");
  }
  if (unfinished == 0) return;
  for (std::size_t k = 0; k < run.count; ++k) {
    bool finished = false;
    if (seconds[k] < 0.0) seconds[k] = layer_ray<slow>(stack, lateral(k), last[k], most_layer_steps, finished);
  }
}

ECHOFORM_HOST_DEVICE CurvePiece piece_in_batch(const CrossingBatch& batch, std::size_t k) {
  return {{batch.at_x[k], batch.at_z[k]},
          {batch.b_x[k], batch.b_z[k]},
          {batch.c_x[k], batch.c_z[k]},
          {batch.d_x[k], batch.d_z[k]},
          batch.q[k]};
}

ECHOFORM_HOST_DEVICE CrossingEnds ends_in_batch(const CrossingBatch& batch, std::size_t k) {
  return {{batch.source_x[k], batch.source_z[k]}, {batch.point_x[k], batch.point_z[k]}, batch.before, batch.after};
}

template <bool touching>
ECHOFORM_HOST_DEVICE FoundCrossing find_in_batch(const CrossingBatch& batch, std::size_t k, int steps) {
  return find_crossing<touching>(piece_in_batch(batch, k), ends_in_batch(batch, k), {batch.source_side, batch.point_side},
                                 batch.start[k], steps);
}

template <class Isa, bool touching>
void find_crossings(CrossingBatch& batch) {
  const std::size_t count = batch.count;
  std::int64_t unfinished = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const FoundCrossing found = find_in_batch<touching>(batch, k, usual_crossing_steps);
    const double time = found.on_its_way ? found.time : __builtin_nan("");
    unfinished += found.finished ? 0 : 1;
    batch.seconds[k] = found.finished ? time : -1.0;
    batch.found_x[k] = found.at.x;
    batch.found_z[k] = found.at.z;
    batch.found_t[k] = found.t;
  }
  if (unfinished == 0) return;
  for (std::size_t k = 0; k < count; ++k) {
    if (!(batch.seconds[k] < 0.0)) continue;
    const FoundCrossing found = find_in_batch<touching>(batch, k, most_crossing_steps);
    batch.seconds[k] = found.finished && found.on_its_way ? found.time : __builtin_nan("");
    batch.found_x[k] = found.at.x;
    batch.found_z[k] = found.at.z;
    batch.found_t[k] = found.t;
  }
}

template <class Isa>
void find_across(CrossingBatch& batch) {
  const std::size_t count = batch.count;
  alignas(64) double t[CrossingBatch::capacity];
  alignas(64) double y[CrossingBatch::capacity];
  for (std::size_t k = 0; k < count; ++k) {
    t[k] = batch.start[k];
    y[k] = flat_across(piece_in_batch(batch, k), ends_in_batch(batch, k), batch.across[k], t[k]);
  }
  const auto step = [&](std::size_t k) {
    const AcrossStep by = across_step(across_at(piece_in_batch(batch, k), ends_in_batch(batch, k), batch.across[k], t[k], y[k]));
    t[k] += by.t;
    y[k] += by.y;
  };
  const auto end = [&](std::size_t k) {
    const FoundAcross found = end_across(piece_in_batch(batch, k), ends_in_batch(batch, k), {batch.source_side, batch.point_side},
                                         batch.across[k], t[k], y[k]);
    const double time = found.on_its_way ? found.time : __builtin_nan("");
    batch.seconds[k] = found.finished ? time : -1.0;
    batch.found_x[k] = found.at.x;
    batch.found_z[k] = found.at.z;
    batch.found_t[k] = found.t;
  };
  for (int steps = 0; steps < usual_across_steps; ++steps) {
    for (std::size_t k = 0; k < count; ++k) step(k);
  }
  for (std::size_t k = 0; k < count; ++k) end(k);
  for (std::size_t k = 0; k < count; ++k) {
    for (int steps = usual_across_steps; batch.seconds[k] < 0.0 && steps < most_across_steps; ++steps) {
      step(k);
      end(k);
    }
  }
}

template <class Isa>
void node_slopes(const NodeRow& nodes, float slowness, float x, float z, float* __restrict slopes) {
  for (std::size_t n = 0; n < 64 * nodes.words; ++n) {
    slopes[n] = node_slope(slowness, nodes.tangent_x[n], nodes.tangent_z[n], nodes.x[n] - x, nodes.z[n] - z);
  }
}

template <class Isa>
void scan_slopes(const float* source, const float* points, std::size_t words, std::uint64_t* negative) {
  for (std::size_t row = 0; row < scanned_points; ++row) {
    for (std::size_t word = 0; word < words; ++word) {
      negative[row * words + word] = Isa::negative_bits(source + 64 * word, points + 64 * (row * words + word));
    }
  }
}

template <class Isa>
std::uint64_t parted_nodes(const NodeRow& nodes, std::size_t word, float x, float z, float along_x, float along_z, float margin) {
  const auto side_of = [&](std::size_t n) { return along_x * (nodes.z[n] - z) - along_z * (nodes.x[n] - x); };
  alignas(64) float above[64];
  alignas(64) float below[64];
  for (std::size_t n = 0; n < 64; ++n) {
    const float side = side_of(64 * word + n);
    above[n] = side + margin;
    below[n] = margin - side;
  }
  const float next = word + 1 < nodes.words ? side_of(64 * word + 64) : 0.0F;
  const auto both = [](std::uint64_t bits, bool beyond) {
    return bits & ((bits >> 1U) | (std::uint64_t{beyond ? 1U : 0U} << 63U));
  };
  return ~(both(Isa::negative_bits(above), next + margin < 0.0F) | both(Isa::negative_bits(below), margin - next < 0.0F));
}

template <class Isa>
constexpr FieldKernels make_field_kernels() {
  return {{&layer_run<Isa, 0>, &layer_run<Isa, 1>, &layer_run<Isa, 2>, &layer_run<Isa, 3>, &layer_run<Isa, 4>},
          &find_crossings<Isa, false>,
          &find_crossings<Isa, true>,
          &find_across<Isa>,
          &node_slopes<Isa>,
          &scan_slopes<Isa>,
          &parted_nodes<Isa>};
}

}  // namespace echoform::rays
