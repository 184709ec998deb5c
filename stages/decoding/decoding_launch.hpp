// Decoding on CUDA: the kernels. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform::gpu {

inline constexpr std::size_t most_walsh_hadamard_rows = 256;
inline constexpr std::uint32_t no_element = 0xffffffff;

/// Arguments of the transform: events that are rows of a Hadamard matrix, some samples of all their A-scans, and where the
/// decoded A-scans go. Distances are in floats.
struct WalshHadamardRows {
  const float* input = nullptr;        ///< first sample of the first A-scan
  std::size_t input_stride = 0;        ///< from receiver to receiver
  std::uint32_t event_stride = 0;      ///< from event to event
  float* output = nullptr;             ///< likewise
  std::size_t output_stride = 0;       ///< from receiver to receiver
  std::uint32_t element_stride = 0;    ///< from element to element
  std::size_t receivers = 0;           ///< below 2^31
  std::size_t samples = 0;             ///< below 2^31
  std::uint32_t* peak_bits = nullptr;  ///< raised to the greatest |value|, as the bits of a float; null: not needed
  std::uint32_t event_of_row[most_walsh_hadamard_rows]{};
  std::uint32_t element_of_column[most_walsh_hadamard_rows]{};  ///< no_element: the column is not written
};

/// `rows`: a power of two from 2 to most_walsh_hadamard_rows. Adds in the order of the CPU.
void launch_walsh_hadamard(const WalshHadamardRows& work, std::size_t rows, cudaStream_t stream) noexcept;

/// Indices of the decoded A-scans (i, j) and (j, i); both are the same where i = j.
struct BothDirections {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

struct DirectionSums {
  const float* decoded = nullptr;  ///< A-scans at a distance of `decoded_stride`
  std::size_t decoded_stride = 0;
  const BothDirections* pairs = nullptr;  ///< device memory, by row of the output
  float* output = nullptr;
  std::size_t output_stride = 0;
  std::size_t rows = 0;  ///< below 2^31
  std::size_t samples = 0;
  std::uint32_t* peak_bits = nullptr;  ///< as above
};

void launch_direction_sums(const DirectionSums& sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
