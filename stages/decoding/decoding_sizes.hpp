// The memory that decoding takes in addition to its blocks, computed once for the statement and for the allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stages/decoding/decoding.hpp"

namespace echoform {

/// Rows of the matrix that the CPU's product forms at once.
inline constexpr std::size_t product_rows = 8;

/// Sizes on the CPU, where pieces of rows are decoded in a member's own memory.
struct DecodingSizesCpu {
  std::size_t piece = 0;         ///< samples: a multiple of 32
  std::size_t decoded_rows = 0;  ///< of a piece
  std::size_t matrix = 0;        ///< floats, as all that follow
  std::size_t received = 0;      ///< of a member; 0: decoded in place
  std::size_t decoded = 0;       ///< of a member and receiver
  std::size_t kept = 1;          ///< receivers whose pieces a member keeps
  std::size_t sum_rows = 0;      ///< entries of the table that gives the row that is the sum of a pair

  [[nodiscard]] std::size_t of_member() const { return received + kept * decoded + 16; }  // 16: space for alignment
  [[nodiscard]] std::size_t bytes(std::size_t members) const {
    return (matrix + members * of_member()) * sizeof(float) + sum_rows * sizeof(std::size_t);
  }
};

[[nodiscard]] inline DecodingSizesCpu decoding_sizes_cpu(const DecodingOptions& options) {
  const DecodingMatrix& matrix = *options.inverse;
  DecodingSizesCpu sizes;
  const std::size_t most_rows = std::max(matrix.events, matrix.elements);
  // 64 KB of each side fit into the second-level cache, and are long enough that reading them is not dominated by latency.
  // Where pairs are summed, the pieces of all receivers are kept: 4 MB.
  std::size_t numbers = 16384;
  if (options.pairs.summed) {
    numbers = (std::size_t{1} << 20) / options.pairs.receivers;
    sizes.kept = options.pairs.receivers;
    sizes.sum_rows = matrix.elements * matrix.elements;
  }
  sizes.piece = std::clamp<std::size_t>(numbers / most_rows / 32 * 32, 32, 256);
  if (takes_hadamard_route(options, BackendKind::cpu)) {
    sizes.decoded = matrix.events * sizes.piece;
    return sizes;
  }
  sizes.decoded_rows = (matrix.elements + product_rows - 1) / product_rows * product_rows;
  sizes.matrix = sizes.decoded_rows * matrix.events;
  sizes.received = matrix.events * sizes.piece;
  sizes.decoded = sizes.decoded_rows * sizes.piece;
  return sizes;
}

/// Sizes on CUDA.
struct DecodingSizesCuda {
  std::size_t matrix = 0;   ///< bytes, as all of these
  std::size_t work = 0;     ///< of cuBLAS
  std::size_t scratch = 0;  ///< decoded A-scans, `piece` samples of each
  std::size_t pairs = 0;    ///< the table of the A-scans that make each sum
  std::size_t piece = 0;    ///< samples: a multiple of 32

  [[nodiscard]] std::size_t bytes() const { return matrix + work + scratch + pairs; }
};

/// The sizes for A-scans of `samples`.
[[nodiscard]] inline DecodingSizesCuda decoding_sizes_cuda(const DecodingOptions& options, std::size_t samples) {
  const DecodingMatrix& matrix = *options.inverse;
  DecodingSizesCuda sizes;
  if (!takes_hadamard_route(options, BackendKind::cuda)) {
    sizes.matrix = matrix.events * matrix.elements * sizeof(float);
    sizes.work = std::size_t{4} << 20;
  }
  if (options.pairs.summed) {
    const std::size_t a_scans = matrix.elements * options.pairs.receivers;
    const std::size_t fitting = options.scratch_bytes / sizeof(float) / a_scans / 32 * 32;
    sizes.piece = std::clamp<std::size_t>(fitting, 32, (samples + 31) / 32 * 32);
    sizes.scratch = a_scans * sizes.piece * sizeof(float);
    sizes.pairs = options.pairs.rows * 2 * sizeof(std::uint32_t);
  }
  return sizes;
}

}  // namespace echoform
