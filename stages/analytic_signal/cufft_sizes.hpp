// How much of a frame goes through cuFFT at a time. Free of CUDA's headers.
#pragma once

#include <cstddef>

namespace echoform {

struct CufftSizes {
  std::size_t length = 0;  ///< of the transform of a row, even
  std::size_t chunk = 0;   ///< rows at a time
  std::size_t responses = 0;

  /// Number of real rows that the inverse transforms give for each input row.
  [[nodiscard]] std::size_t results() const { return responses > 1 ? responses : 1; }
  /// [results, chunk, length / 2] complex numbers.
  [[nodiscard]] std::size_t spectra_bytes() const { return results() * chunk * length * sizeof(float); }
  /// Bytes of spectra and factors, without cuFFT's workspace.
  [[nodiscard]] std::size_t bytes() const;
};

/// Sizes for `rows` rows of `samples`, 2 or more, whose spectra may take `most_bytes`. Without `responses` the route is the
/// Hilbert transform.
[[nodiscard]] CufftSizes cufft_sizes(std::size_t rows, std::size_t samples, std::size_t most_bytes, std::size_t responses = 0);

}  // namespace echoform
