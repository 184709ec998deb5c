// How an impulse between the samples of a grid is shared among them, so that the grid's transform is the impulse's own: the
// exponential of semicircle of Barnett, Magland and af Klinteberg, "A parallel nonuniform fast Fourier transform library based on
// an 'exponential of semicircle' kernel", SIAM J. Sci. Comput. 41 (2019), 6 samples wide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoform::spreading {

/// Samples that an impulse is shared among.
inline constexpr std::int32_t width = 6;
/// As many as are added to: `width` and zeros, a vector of them.
inline constexpr std::int32_t lanes = 8;
/// Places between two samples for which shares are tabulated; linear between them, off by less than 1e-6 of the largest.
inline constexpr std::int32_t places = 512;
/// An impulse after sample n has shares in the samples n - lead .. n - lead + lanes - 1.
inline constexpr std::int32_t lead = 2;

/// exp(beta (sqrt(1 - (x / 3)^2) - 1)) for |x| <= 3, in samples; else 0. beta = 2.30 `width`, theirs for twice the rate.
[[nodiscard]] double kernel(double x);
/// Its Fourier transform; `frequency` in cycles a sample, |frequency| <= 1/2.
[[nodiscard]] double kernel_transform(double frequency);

/// Shares by place: rows 0 .. `places` (an impulse right on the next sample) of `lanes` values, and their slopes to the next row.
[[nodiscard]] std::vector<float> make_table();
inline constexpr std::int32_t table_row = 2 * lanes;  ///< floats

}  // namespace echoform::spreading
