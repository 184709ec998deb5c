// Fractional delays: the value of an A-scan at a place between its samples, by one of a family of filters.
//
// A filter is data: a table of coefficients, one row for each of `phases` + 1 places between two samples, and one rule to look it
// up. For the place u, in samples from the first of the row,
//   n = floor(u + offset)    offset 0 for an even number of taps, 0.5 for an odd one: the taps lie evenly about u
//   p = (u + offset - n) phases,  i = floor(p),  t = p - i
//   value = sum over k of ((1 - t) c[i][k] + t c[i + 1][k]) x[n - left + k],  k = 0 .. taps - 1,  left = (taps - 1) / 2
// Filters that are straight lines between few places are exact by that: nearest and linear (1 phase), upsampling and linear
// between (4). All others have 512 phases; what lies between two of them is off by at most (pi / 512)^2 / 8 = 5e-6 of the
// amplitude of any tone that the filter itself gets right, and by less than 1e-5 in its band.
//
// Samples before the first and behind the last count as 0. Coefficients are not made to sum to 1: those of windowed and
// least-squares filters sum to it as nearly as they follow any other frequency of their band, and to force it at a constant,
// which echoes do not hold, raises the error elsewhere where windows are wide (taps 8, beta 3: 1.9e-2 to 3.0e-2 up to a quarter
// of the sample rate). Lagrange's sum to 1 as they are.
//
// On a GPU the texture unit will be one more kind, linear with fractions rounded to 1/256.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"

namespace echoform {

struct DelayFilterOptions {
  static constexpr Interval betas{0.0, 20.0};
  static constexpr Interval centres{0.01, 0.49};
  static constexpr Interval bandwidths{0.01, 1.0};

  std::string kind = "linear";    ///< a name of delay_filter_kinds() (delay_filter_kind.hpp)
  std::size_t order_or_taps = 0;  ///< order or number of taps, depending on the kind; 0: its default
  /// Parameter of the Kaiser windows of windowed_sinc and upsampled. 0 truncates the sinc and is bad everywhere; 5 has a
  /// stop band of 54 dB (Kaiser 1974: beta = 0.1102 (54 - 8.7)), the best compromise up to 0.35 cycles a sample with 8 to 12
  /// taps, and longer sincs are as good there with 8, 81 dB. None: kaiser_beta_of().
  std::optional<double> kaiser_beta;
  /// Parameters of least_squares: the centre of the echoes' Gaussian spectrum, in cycles a sample, and its width between the
  /// frequencies of half its amplitude (-6 dB). The defaults are 5 MHz and 60 % at a sample rate of 40 MHz.
  double centre = 0.125;
  double bandwidth = 0.075;

  [[nodiscard]] friend bool operator==(const DelayFilterOptions&, const DelayFilterOptions&) = default;
};

/// The stated value, else 8 for a windowed sinc of 14 taps and more, else 5.
[[nodiscard]] double kaiser_beta_of(const DelayFilterOptions& options);

struct DelayFilter {
  std::size_t taps = 1;    ///< 1 to 17
  std::size_t phases = 1;  ///< intervals between two samples
  /// Whether computing the phases once with upsample() pays off for a row in which many places are looked up.
  bool upsampling = false;
  std::vector<float> coefficients{1.0F, 1.0F};  ///< [phases + 1, taps]

  [[nodiscard]] std::size_t left() const { return (taps - 1) / 2; }
  [[nodiscard]] double offset() const { return taps % 2 == 0 ? 0.0 : 0.5; }
  [[nodiscard]] std::span<const float> row(std::size_t phase) const {
    return std::span(coefficients).subspan(phase * taps, taps);
  }
  /// Whether a row of `samples` has a value at `place`: from its first sample to its last, the last left out, and for nearest
  /// half a sample further at either end. Anything else counts as 0. False for NaN.
  [[nodiscard]] bool reaches(double place, std::size_t samples) const {
    const double margin = taps == 1 ? 0.5 : 0.0;
    return place >= -margin && place < static_cast<double>(samples) - 1.0 + margin;
  }
};

/// Throws InputError if an option that the kind uses is out of its range; `where` precedes its name, "demo.toml: [beams]".
void validate(const DelayFilterOptions& options, std::string_view where);

/// Throws InputError as validate() does.
[[nodiscard]] DelayFilter make_delay_filter(const DelayFilterOptions& options);

/// The value at `place`, in samples from the first; 0 where the filter does not reach. It is the plain sum, computed in
/// Number, for references and where nothing faster is available.
template <class Number>
[[nodiscard]] Number evaluate(const DelayFilter& filter, std::span<const Number> samples, double place) {
  if (!filter.reaches(place, samples.size())) return Number{};
  const double base = std::floor(place + filter.offset());
  const double phase = (place + filter.offset() - base) * static_cast<double>(filter.phases);
  const std::size_t index = std::min(static_cast<std::size_t>(phase), filter.phases - 1);
  const auto share = static_cast<Number>(phase - static_cast<double>(index));
  const std::span<const float> here = filter.row(index);
  const std::span<const float> next = filter.row(index + 1);
  const auto first = static_cast<std::ptrdiff_t>(base) - static_cast<std::ptrdiff_t>(filter.left());
  Number value{};
  for (std::size_t k = 0; k < filter.taps; ++k) {
    const std::ptrdiff_t n = first + static_cast<std::ptrdiff_t>(k);
    if (n < 0 || n >= static_cast<std::ptrdiff_t>(samples.size())) continue;
    const Number coefficient = (Number{1} - share) * static_cast<Number>(here[k]) + share * static_cast<Number>(next[k]);
    value += coefficient * samples[static_cast<std::size_t>(n)];
  }
  return value;
}

inline constexpr std::size_t upsampling_factor = 4;

/// The first step of a filter with `upsampling`, once for each row: upsampled[4 n + p] is the value at n + p / 4, and at
/// p = 0 the sample itself. `upsampled` has 4 samples for each one of `row`; those after 4 (M - 1) are never looked up. The
/// second step is linear interpolation at 4 u wherever filter.reaches(u, M); both together equal evaluate() of the row
/// itself to rounding.
void upsample(const DelayFilter& filter, std::span<const float> row, std::span<float> upsampled);

}  // namespace echoform
