// The directions of slow time that hold most of a frame's power: sums of products, then Jacobi's method in one block.
#include "gpu/cuda_check.hpp"
#include "stages/wall_filter/clutter_rotation.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "stages/wall_filter/wall_filter_launch.hpp"
#include "stages/wall_filter/wall_filter_samples.cuh"

namespace echoform {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned tile = 32;            // ranges of a line
constexpr unsigned tile_row = tile + 1;  // rows begin in different banks of shared memory
constexpr unsigned most_pairs = WallFilterOptions::most_ensemble / 2;

/// Part p of the sums of x[m] conj(x[n]), m <= n, over consecutive tiles. Each thread has entries of the matrix and processes the
/// tiles in order.
template <bool planar>
__global__ void __launch_bounds__(threads) sum_products(const ClutterWork at) {
  extern __shared__ float2 samples[];  // [n][tile_row]
  const std::size_t size = at.samples.ensemble;
  const std::size_t tiles_of_line = (at.samples.ranges + tile - 1) / tile;
  const std::size_t tiles = tiles_of_line * at.samples.lines;
  const std::size_t first = blockIdx.x * tiles / clutter_parts;
  const std::size_t end = (blockIdx.x + 1) * tiles / clutter_parts;
  double2* const sums = at.products + blockIdx.x * size * size;
  for (std::size_t entry = threadIdx.x; entry < size * size; entry += threads) sums[entry] = {0.0, 0.0};
  for (std::size_t t = first; t < end; ++t) {
    const std::size_t line = t / tiles_of_line;
    const std::size_t from = t % tiles_of_line * tile;
    __syncthreads();
    for (std::size_t place = threadIdx.x; place < size * tile; place += threads) {
      const std::size_t n = place / tile;
      const std::size_t k = place % tile;
      float2 x{0.0F, 0.0F};
      if (from + k < at.samples.ranges) x = wall_filter_sample<planar>(at.samples, line * size + n, from + k);
      samples[n * tile_row + k] = x;
    }
    __syncthreads();
    for (std::size_t entry = threadIdx.x; entry < size * size; entry += threads) {
      const std::size_t m = entry / size;
      const std::size_t n = entry % size;
      if (m > n) continue;
      double2 sum = sums[entry];
#pragma unroll 8
      for (unsigned k = 0; k < tile; ++k) {
        const float2 a = samples[m * tile_row + k];
        const float2 b = samples[n * tile_row + k];
        // Products of single-precision numbers are exact in double precision, fused or not.
        sum.x = fma(static_cast<double>(a.x), static_cast<double>(b.x), sum.x);
        sum.x = fma(static_cast<double>(a.y), static_cast<double>(b.y), sum.x);
        sum.y = fma(static_cast<double>(a.y), static_cast<double>(b.x), sum.y);
        sum.y = fma(-static_cast<double>(a.x), static_cast<double>(b.y), sum.y);
      }
      sums[entry] = sum;
    }
  }
}

__device__ __forceinline__ double2 times(double2 a, double2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

/// A pair of rows and columns that a round rotates; q is beyond the matrix where p has no partner.
struct Pair {
  unsigned p;
  unsigned q;
  ClutterRotation rotation;
};

/// (x, y) becomes (c x - s y turn, s x + c y turn).
__device__ __forceinline__ void turn_by(const ClutterRotation& by, double turn_im, double2& x, double2& y) {
  const double2 turned = times(y, {by.turn_re, turn_im});
  const double2 before = x;
  x = {by.c * before.x - by.s * turned.x, by.c * before.y - by.s * turned.y};
  y = {by.s * before.x + by.c * turned.x, by.s * before.y + by.c * turned.y};
}

/// The players that meet in a round of a tournament of `players`, an even number. All pairs meet once in players - 1 rounds.
__device__ __forceinline__ Pair meeting(unsigned players, unsigned round, unsigned n) {
  const unsigned others = players - 1;
  const unsigned a = n == 0 ? others : (round + n) % others;
  const unsigned b = (round + others - n) % others;
  return {a < b ? a : b, a < b ? b : a, {1.0, 0.0, 1.0, 0.0}};
}

/// The sum of the values of all threads, in a fixed order; every thread gets it.
__device__ double sum_of_block(double value, double* scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
  }
  __syncthreads();
  return scratch[0];
}

/// Performs one round: the pairs rotate their columns and rows simultaneously, since no two pairs share a column or row.
__device__ void turn_round(double2* matrix, double2* vectors, unsigned size, unsigned pairs, const Pair* all) {
  for (unsigned item = threadIdx.x; item < pairs * pairs; item += threads) {
    const Pair rows = all[item / pairs];
    const Pair columns = all[item % pairs];
    const bool second_row = rows.q < size;
    const bool second_column = columns.q < size;
    double2 pp = matrix[rows.p * size + columns.p];
    double2 pq = second_column ? matrix[rows.p * size + columns.q] : double2{0.0, 0.0};
    double2 qp = second_row ? matrix[rows.q * size + columns.p] : double2{0.0, 0.0};
    double2 qq = second_row && second_column ? matrix[rows.q * size + columns.q] : double2{0.0, 0.0};
    turn_by(columns.rotation, columns.rotation.turn_im, pp, pq);
    turn_by(columns.rotation, columns.rotation.turn_im, qp, qq);
    turn_by(rows.rotation, -rows.rotation.turn_im, pp, qp);
    turn_by(rows.rotation, -rows.rotation.turn_im, pq, qq);
    matrix[rows.p * size + columns.p] = pp;
    if (second_column) matrix[rows.p * size + columns.q] = pq;
    if (second_row) matrix[rows.q * size + columns.p] = qp;
    if (second_row && second_column) matrix[rows.q * size + columns.q] = qq;
  }
  for (unsigned item = threadIdx.x; item < pairs * size; item += threads) {
    const Pair columns = all[item % pairs];
    if (columns.q >= size) continue;
    double2* const row = vectors + item / pairs * size;
    double2 x = row[columns.p];
    double2 y = row[columns.q];
    turn_by(columns.rotation, columns.rotation.turn_im, x, y);
    row[columns.p] = x;
    row[columns.q] = y;
  }
}

/// Runs in one block, as HermitianVectors does it, except for the order of the rotations.
__global__ void __launch_bounds__(threads) find_directions(const ClutterWork at) {
  extern __shared__ double2 in_shared[];
  __shared__ double scratch[threads];
  __shared__ Pair met[most_pairs];
  __shared__ unsigned order[WallFilterOptions::most_ensemble];
  const auto size = static_cast<unsigned>(at.samples.ensemble);
  double2* const matrix = at.matrices != nullptr ? at.matrices : in_shared;
  double2* const vectors = matrix + size * size;
  for (unsigned entry = threadIdx.x; entry < size * size; entry += threads) {
    const unsigned m = entry / size;
    const unsigned n = entry % size;
    vectors[entry] = {m == n ? 1.0 : 0.0, 0.0};
    if (m > n) continue;
    double2 sum{0.0, 0.0};
#pragma unroll 16
    for (unsigned part = 0; part < clutter_parts; ++part) {
      const double2 own = at.products[std::size_t{part} * size * size + entry];
      sum.x += own.x;
      sum.y += own.y;
    }
    matrix[n * size + m] = {sum.x, -sum.y};
    matrix[entry] = sum;
  }
  const unsigned players = size + size % 2;
  bool finite = true;
  for (int sweep = 0;; ++sweep) {
    __syncthreads();
    double own_beside = 0.0;
    double own_all = 0.0;
    for (unsigned entry = threadIdx.x; entry < size * size; entry += threads) {
      const double square = matrix[entry].x * matrix[entry].x + matrix[entry].y * matrix[entry].y;
      own_all += square;
      if (entry / size != entry % size) own_beside += square;
    }
    const double beside = sum_of_block(own_beside, scratch);
    const double all = sum_of_block(own_all, scratch);
    if (sweep == 0) finite = isfinite(all);
    if (!finite || sweep == most_clutter_sweeps || !(beside > small_beside_diagonal * all)) break;
    for (unsigned round = 0; round < players - 1; ++round) {
      if (threadIdx.x < players / 2) {
        Pair pair = meeting(players, round, threadIdx.x);
        if (pair.q < size) {
          const double2 between = matrix[pair.p * size + pair.q];
          pair.rotation =
              clutter_rotation(matrix[pair.p * size + pair.p].x, matrix[pair.q * size + pair.q].x, between.x, between.y);
        }
        met[threadIdx.x] = pair;
      }
      __syncthreads();
      turn_round(matrix, vectors, size, players / 2, met);
      __syncthreads();
    }
  }
  // Equal values are ordered by their places. The vectors are unit vectors where the matrix is not finite.
  if (threadIdx.x < size) {
    unsigned rank = finite ? 0 : threadIdx.x;
    if (finite) {
      const double own = matrix[threadIdx.x * size + threadIdx.x].x;
      for (unsigned other = 0; other < size; ++other) {
        const double value = matrix[other * size + other].x;
        if (value > own || (value == own && other < threadIdx.x)) ++rank;
      }
    }
    order[rank] = threadIdx.x;
  }
  __syncthreads();
  for (unsigned entry = threadIdx.x; entry < size * size; entry += threads) {
    const unsigned m = entry / size;
    const unsigned n = entry % size;
    double2 sum{m == n ? 1.0 : 0.0, 0.0};
    for (unsigned k = 0; k < at.components; ++k) {
      const double2 a = vectors[m * size + order[k]];
      const double2 b = vectors[n * size + order[k]];
      const double2 product = times(a, {b.x, -b.y});
      sum.x -= product.x;
      sum.y -= product.y;
    }
    at.matrix_re[entry] = static_cast<float>(sum.x);
    at.matrix_im[entry] = static_cast<float>(sum.y);
  }
}

}  // namespace

void launch_find_clutter(const ClutterWork& work, cudaStream_t stream) noexcept {
  const std::size_t size = work.samples.ensemble;
  const std::size_t tile_bytes = size * tile_row * sizeof(float2);
  if (work.samples.quadrature != 0) {
    sum_products<true><<<clutter_parts, threads, tile_bytes, stream>>>(work);
  } else {
    sum_products<false><<<clutter_parts, threads, tile_bytes, stream>>>(work);
  }
  ECHOFORM_CUDA_LAUNCHED("products of samples");
  const std::size_t matrix_bytes = work.matrices != nullptr ? 0 : 2 * size * size * sizeof(double2);
  find_directions<<<1, threads, matrix_bytes, stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("directions of clutter");
}

}  // namespace echoform
