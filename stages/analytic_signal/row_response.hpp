// Linear filters of rows by the periodic DFT of exactly the M samples of a row, as products with a spectrum.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace echoform {

/// What bins 0 ... M / 2 of the DFT of a real row are multiplied by, for a real result: that of bin 0 and, for even M, that of
/// bin M / 2 are real.
using RowResponse = std::vector<std::complex<double>>;

/// The Hilbert transform of what `response` gives, on rows of `samples`: times -i, and 0 for bin 0 and for bin M / 2.
[[nodiscard]] RowResponse quadrature_of(RowResponse response, std::size_t samples);

/// What becomes of a row that is 1 at sample 0 and 0 elsewhere: `samples` numbers; what comes before sample 0 stands at the end.
/// Throws RuntimeFault if there is no memory.
[[nodiscard]] std::vector<double> impulse_response(const RowResponse& response, std::size_t samples);

/// What bins 0 ... length / 2 of a transform of `length`, one of hilbert_transform_length(), are multiplied by for the same
/// result, divided by `length` for the way back through an unscaled transform. Throws RuntimeFault if there is no memory.
[[nodiscard]] std::vector<std::complex<float>> response_spectrum(const RowResponse& response, std::size_t samples,
                                                                 std::size_t length);

}  // namespace echoform
