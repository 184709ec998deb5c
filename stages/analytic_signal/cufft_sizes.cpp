#include "stages/analytic_signal/cufft_sizes.hpp"

#include <algorithm>

#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/paired_spectrum.hpp"

namespace echoform {
namespace {

/// A length whose half cuFFT transforms and which suits the rows: their own length if that is even and without large prime
/// factors, else a padded one.
std::size_t cufft_length(std::size_t samples) {
  const std::size_t length = hilbert_transform_length(samples);
  if (length != samples || (samples % 2 == 0 && samples >= 8)) return length;
  return hilbert_transform_length(samples, 1);  // the first of the padded lengths
}

}  // namespace

std::size_t CufftSizes::bytes() const {
  const std::size_t pair = responses == 0 ? sizeof(hilbert::PairFactors) : responses * sizeof(hilbert::ResponsePair);
  return spectra_bytes() + hilbert::pair_count(length) * pair;
}

CufftSizes cufft_sizes(std::size_t rows, std::size_t samples, std::size_t most_bytes, std::size_t responses) {
  CufftSizes sizes;
  sizes.length = cufft_length(samples);
  sizes.responses = responses;
  const std::size_t most = std::max<std::size_t>(1, most_bytes / (sizes.results() * sizes.length * sizeof(float)));
  const std::size_t chunks = (rows + most - 1) / most;
  sizes.chunk = (rows + chunks - 1) / chunks;
  return sizes;
}

}  // namespace echoform
