// Adaptive weights: what the aligned channels of a point say of it beside their sum. No stage: those that sum call it, whatever
// the points are, ranges of a line or pixels.
//
// s_j is the value of channel j at the point, its delay taken off; w_j > 0 its weight in the sum (apodization). Channels of
// weight 0, and those that are left out, are in nothing here; sums over j are over the N others, in the order of the receivers.
// A channel that is there and holds zeros (dead, or a place outside of its A-scan) counts as one that agrees with nobody: leave
// out elements that are known to be dead. <x> is a sum over an axial window about the point, of 2 h + 1 neighbouring points,
// fewer at the ends of a line. Where an energy that is divided by is 0 the result is 0.
//
//   coherence_factor    <(sum w s)^2> / <(sum w) (sum w s^2)>. R. Mallart and M. Fink, J. Acoust. Soc. Am. 96(6), 3721 (1994): a
//                       ratio of energies of the pulse, which the window sums over; with all w = 1 it is theirs. The weights are
//                       a measure on the channels, so that it lies between 0 and 1, and is 1 for equal channels, with any.
//   generalised_coherence_factor
//                       <sum over |m| <= M0 of |S(m)|^2> / <N sum s^2>, S(m) = sum over n of s_n exp(-j 2 pi m n / N).
//                       P.-C. Li and M.-L. Li, IEEE Trans. UFFC 50(2), 128 (2003), eq. 8. Without weights, since the DFT is
//                       orthogonal without them; each m is summed once, at most N of them. M0 = 0 is the coherence factor
//                       without weights. For arrays of one row.
//   sign_coherence_factor
//                       1 - sqrt(1 - <(sum w sign s)^2> / <(sum w)^2>), sign(0) = 0. J. Camacho, M. Parrilla and C. Fritsch,
//                       IEEE Trans. UFFC 56(5), 958 (2009). Right to 1.4e-3 close to 1.
//   phase_coherence_factor
//                       max(0, 1 - gamma p / (pi / sqrt(3))) of analytic s, where p is the lesser of the standard deviations of
//                       the phases and of the phases turned by pi into (-pi, pi]. Ibid. Weighted as the means are; channels of
//                       exactly 0 have no phase, and the factor is multiplied by the others' share of the weights. Of the point
//                       alone.
//   f_dmas              (sum over i < j of sign(s_i s_j) sqrt(w_i |s_i| w_j |s_j|)) / (sum over i < j of sqrt(w_i w_j)). G.
//   Matrone
//                       and others, IEEE Trans. Med. Imag. 34(4), 940 (2015), as a mean; pairs by ((sum x)^2 - sum x^2) / 2. Real
//                       s. It has the dimension of s and lies about twice the frequency: a band-pass about 2 f0 is the caller's.
//                       Equal channels A cos give A |cos|, of which the band-pass leaves 4 / (3 pi) A.
//   short_lag_spatial_coherence
//                       max(0, mean over m = 1 .. M of R(m)), R(m) = mean over n of <s_n s_(n + m)> / sqrt(<s_n^2> <s_(n +
//                       m)^2>), M = q N to the nearest, 1 to N - 1. M. A. Lediju and others, IEEE Trans. UFFC 58(7), 1377 (2011),
//                       who sum over m instead. Pairs without energy count as 0. It is an image by itself. Without weights.
//   capon               w^H x, of analytic s: x the mean of the subarrays x_l = (s_l ... s_(l + L - 1)), l = 0 .. N - L, w = R^-1
//   a
//                       / (a^H R^-1 a), a = (1 ... 1), R = <mean of x_l x_l^H>, its diagonal loaded with delta tr(R) / L, L =
//                       floor( lambda N), at least 1. J.-F. Synnevag, A. Austeng and S. Holm, IEEE Trans. UFFC 54(8), 1606
//                       (2007): L up to N / 2, loading tr(R) / (100 L). Real part. Equal channels s give s. Without weights.
//
// One more is a function and a row of the table in adaptive_kind.cpp: of sums, if those that sums_of can have beside each other
// suffice, else of the channels themselves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/interval.hpp"
#include "stages/adaptive_weights/channel_sums.hpp"

namespace echoform {

struct AdaptiveOptions {
  static constexpr std::size_t most_low_frequencies = 8;
  static constexpr std::size_t most_half_window = 512;
  static constexpr Interval sensitivities{0.0, 10.0};
  static constexpr Interval short_lags{0.005, 1.0};
  static constexpr Interval subarrays{0.01, 1.0};
  static constexpr Interval loadings{1e-6, 10.0};

  std::string kind = "none";        ///< a name of adaptive_kinds()
  std::size_t half_window = 0;      ///< h: points to either side
  std::size_t low_frequencies = 1;  ///< M0; the smallest that is another than the coherence factor
  double sensitivity = 1.0;         ///< gamma, as Camacho has it
  double short_lag = 0.15;          ///< q, of M; Lediju and others have M from 1 % to 30 % of the aperture
  double subarray = 0.5;            ///< lambda, as Synnevag and others have it
  double loading = 0.01;            ///< delta, as Synnevag and others have it

  [[nodiscard]] friend bool operator==(const AdaptiveOptions&, const AdaptiveOptions&) = default;
};

/// Sums of neighbouring points, of each [points].
struct PointSums {
  const float* sum;     ///< as ChannelSums says
  const float* second;  ///< likewise, beside it
  const float* low;     ///< of low_frequencies: the sum of |S(m)|^2
  const float* weight;  ///< sum of w; of low_frequencies: N
  const float* pairs;   ///< of roots: 2 / ((sum of sqrt(w))^2 - sum of w), 0 where there is no pair
  std::size_t points;
  float* workspace;  ///< point_workspace() floats
};

/// Values of the channels that are heard at a point, and of the same about it.
struct ChannelWindow {
  const float* weights;    ///< [channels], each > 0
  const float* real;       ///< [points, channels]
  const float* imaginary;  ///< likewise of analytic signals; null where they were not asked for
  std::size_t channels;    ///< at least 1
  std::size_t points;      ///< at least 1
  std::size_t centre;      ///< which of the points it is about
  double* workspace;       ///< channel_workspace() doubles
};

/// What comes of it:
///   factor     by which the sum is to be multiplied, 0 to 1
///   amplitude  a mean over the channels, instead of the sum over the sum of weights
///   doubled    likewise, about twice the frequency
///   image      0 to 1, what is to be shown itself: it has no envelope
enum class AdaptiveResult : unsigned char { factor, amplitude, doubled, image };

/// How CUDA makes it, where it does: of sums (sums_math.hpp) or of channels (channels_math.hpp).
enum class AdaptiveOnCuda : unsigned char { none, sums, phase_coherence, short_lag, capon };

struct AdaptiveKind {
  std::string_view name;
  std::string_view meaning;
  AdaptiveResult result = AdaptiveResult::factor;
  ChannelSums sums_of = ChannelSums::none;
  void (*of_sums)(const AdaptiveOptions& options, const PointSums& sums, float* result) = nullptr;
  float (*of_channels)(const AdaptiveOptions& options, const ChannelWindow& window) = nullptr;
  bool analytic = false;  ///< of_channels wants analytic signals
  /// Of the axial window where none is stated, in periods of the centre frequency; 0: the point alone.
  double usual_window = 0.0;
  bool uses_window = true;
  AdaptiveOnCuda on_cuda = AdaptiveOnCuda::none;  ///< none: for the CPU alone, unless there is nothing to do
};

/// "none" is the first: neither of its functions is there.
[[nodiscard]] std::span<const AdaptiveKind> adaptive_kinds();

/// Throws InputError, with `where` before it, if there is no such kind.
[[nodiscard]] const AdaptiveKind& adaptive_kind(std::string_view name, std::string_view where);

/// Whether CUDA has it, or there is nothing to have.
[[nodiscard]] inline bool is_on_cuda(const AdaptiveKind& kind) {
  return kind.sums_of == ChannelSums::none || kind.on_cuda != AdaptiveOnCuda::none;
}

/// Throws InputError if an option is out of its range; `where` precedes its name, "demo.toml: [beams]".
void validate(const AdaptiveOptions& options, std::string_view where);

/// Floats that of_sums works in.
[[nodiscard]] std::size_t point_workspace(const AdaptiveOptions& options, std::size_t points);
/// Doubles that of_channels works in, of at most that many channels.
[[nodiscard]] std::size_t channel_workspace(const AdaptiveOptions& options, std::size_t channels);

namespace adaptive {

void coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void generalised_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void sign_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void f_dmas(const AdaptiveOptions& options, const PointSums& sums, float* result);

float phase_coherence_factor(const AdaptiveOptions& options, const ChannelWindow& window);
float short_lag_spatial_coherence(const AdaptiveOptions& options, const ChannelWindow& window);
float capon(const AdaptiveOptions& options, const ChannelWindow& window);

/// L.
[[nodiscard]] std::size_t subarray_length(const AdaptiveOptions& options, std::size_t channels);

}  // namespace adaptive
}  // namespace echoform
