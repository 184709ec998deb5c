// Linear filters of rows by the periodic DFT of exactly the M samples of a row, as products with a spectrum.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace echoform {

/// The factors of bins 0 ... M / 2 of the DFT of a real row. The result is real, so the factor of bin 0 and, for even M,
/// that of bin M / 2 are real.
using RowResponse = std::vector<std::complex<double>>;

/// The response whose result is the Hilbert transform of the result of `response`, on rows of `samples`: each factor times
/// -i, and 0 for bins 0 and M / 2.
[[nodiscard]] RowResponse quadrature_of(RowResponse response, std::size_t samples);

/// The result for a row that is 1 at sample 0 and 0 elsewhere: `samples` numbers. Samples before sample 0 stand at the end.
/// Throws RuntimeFault if there is no memory.
[[nodiscard]] std::vector<double> impulse_response(const RowResponse& response, std::size_t samples);

/// The factors of bins 0 ... length / 2 of a transform of `length`, one of hilbert_transform_length(), that give the same
/// result. They are divided by `length` because the inverse transform is unscaled. Throws RuntimeFault if there is no
/// memory.
[[nodiscard]] std::vector<std::complex<float>> response_spectrum(const RowResponse& response, std::size_t samples,
                                                                 std::size_t length);

}  // namespace echoform
