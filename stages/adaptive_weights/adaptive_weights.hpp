// Adaptive weights: quantities that follow from the aligned channels of a point, in addition to their sum. This module is no
// stage. The stages that sum call it; points are ranges of a line or pixels.
//
// s_j is the value of channel j at the point after its delay was compensated, and w_j > 0 its weight in the sum (apodization).
// Channels of weight 0, and those that are left out, do not count: sums over j are over the N others, in the order of
// receivers. A channel that contains zeros (dead, or a place outside of its A-scan) counts as one that agrees with no other,
// so leave out elements that are known to be dead. <x> is a sum over an axial window about the point, of 2 h + 1
// neighbouring points, fewer at the ends of a line. Where an energy that is divided by is 0 the result is 0.
//
//   coherence_factor    <(sum w s)^2> / <(sum w) (sum w s^2)>. R. Mallart and M. Fink, J. Acoust. Soc. Am. 96(6), 3721
//                       (1994): a ratio of energies of the pulse, over which the window sums. With all w = 1 it is their
//                       factor. The weights are a measure on the channels. So the factor lies between 0 and 1 and is 1 for
//                       equal channels, for any w.
//   generalised_coherence_factor
//                       <sum over |m| <= M0 of |S(m)|^2> / <N sum s^2>, S(m) = sum over n of s_n exp(-j 2 pi m n / N).
//                       P.-C. Li and M.-L. Li, IEEE Trans. UFFC 50(2), 128 (2003), eq. 8. It has no weights, since the DFT
//                       is orthogonal only without them. Each m is summed once, at most N of them. M0 = 0 is the coherence
//                       factor without weights. For arrays of one row.
//   sign_coherence_factor
//                       1 - sqrt(1 - <(sum w sign s)^2> / <(sum w)^2>), sign(0) = 0. J. Camacho, M. Parrilla and C. Fritsch,
//                       IEEE Trans. UFFC 56(5), 958 (2009). Exact to 1.4e-3 close to 1.
//   phase_coherence_factor
//                       max(0, 1 - gamma p / (pi / sqrt(3))) of analytic s, where p is the smaller of the standard deviations
//                       of the phases and of the phases shifted by pi into (-pi, pi]. Ibid. Deviations are weighted as means
//                       are. Channels of exactly 0 have no phase, and the factor is multiplied by the share of the other
//                       channels in the weights. It has no axial window.
//   f_dmas              (sum over i < j of sign(s_i s_j) sqrt(w_i |s_i| w_j |s_j|)) / (sum over i < j of sqrt(w_i w_j)).
//                       G. Matrone and others, IEEE Trans. Med. Imag. 34(4), 940 (2015), as a mean; pairs by
//                       ((sum x)^2 - sum x^2) / 2. Real s. It has the dimension of s and lies about twice the frequency: the
//                       caller applies a band-pass about 2 f0. Equal channels A cos give A |cos|, of which the band-pass
//                       leaves 4 / (3 pi) A.
//   short_lag_spatial_coherence
//                       max(0, mean over m = 1 .. M of R(m)),
//                       R(m) = mean over n of <s_n s_(n + m)> / sqrt(<s_n^2> <s_(n + m)^2>),
//                       M = q N to the nearest, 1 to N - 1. M. A. Lediju and others, IEEE Trans. UFFC 58(7), 1377
//                       (2011), who sum over m instead. Pairs without energy count as 0. The result is itself an image. It
//                       has no weights.
//   capon               w^H x, of analytic s: x the mean of the subarrays x_l = (s_l ... s_(l + L - 1)), l = 0 .. N - L,
//                       w = R^-1 a / (a^H R^-1 a), a = (1 ... 1), R = <mean of x_l x_l^H>, its diagonal loaded with delta
//                       tr(R) / L, L = floor( lambda N), at least 1. J.-F. Synnevag, A. Austeng and S. Holm, IEEE Trans. UFFC
//                       54(8), 1606 (2007): L up to N / 2, loading tr(R) / (100 L). Real part. Equal channels s give s. It
//                       has no weights.
//
// A new kind needs a function and a row of the table in adaptive_kind.cpp. The function takes sums if those that sums_of can
// name suffice, else the channels themselves.
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
  std::size_t low_frequencies = 1;  ///< M0; 1 is the smallest value that differs from the coherence factor
  double sensitivity = 1.0;         ///< gamma, as in Camacho and others
  double short_lag = 0.15;          ///< q, of M; Lediju and others use M from 1 % to 30 % of the aperture
  double subarray = 0.5;            ///< lambda, as in Synnevag and others
  double loading = 0.01;            ///< delta, as in Synnevag and others

  [[nodiscard]] friend bool operator==(const AdaptiveOptions&, const AdaptiveOptions&) = default;
};

/// Sums at neighbouring points. Each array is [points].
struct PointSums {
  const float* sum;     ///< the first sum of ChannelSums
  const float* second;  ///< the second sum of ChannelSums
  const float* low;     ///< for low_frequencies: the sum of |S(m)|^2
  const float* weight;  ///< sum of w; for low_frequencies: N
  const float* pairs;   ///< for roots: 2 / ((sum of sqrt(w))^2 - sum of w), 0 where there is no pair
  std::size_t points;
  float* workspace;  ///< point_workspace() floats
};

/// Values of the channels of weight > 0 at a point, and of the same channels at neighbouring points.
struct ChannelWindow {
  const float* weights;    ///< [channels], each > 0
  const float* real;       ///< [points, channels]
  const float* imaginary;  ///< likewise for analytic signals; null where these were not requested
  std::size_t channels;    ///< at least 1
  std::size_t points;      ///< at least 1
  std::size_t centre;      ///< index of the point for which the result is computed
  double* workspace;       ///< channel_workspace() doubles
};

/// The kinds of results:
///   factor     a factor of the sum, 0 to 1
///   amplitude  a mean over the channels, instead of the sum over the sum of weights
///   doubled    likewise, about twice the frequency
///   image      0 to 1, shown as it is, without an envelope
enum class AdaptiveResult : unsigned char { factor, amplitude, doubled, image };

/// How CUDA computes a kind, if it does: from sums (sums_math.hpp) or from channels (channels_math.hpp).
enum class AdaptiveOnCuda : unsigned char { none, sums, phase_coherence, short_lag, capon };

struct AdaptiveKind {
  std::string_view name;
  std::string_view meaning;
  AdaptiveResult result = AdaptiveResult::factor;
  ChannelSums sums_of = ChannelSums::none;
  void (*of_sums)(const AdaptiveOptions& options, const PointSums& sums, float* result) = nullptr;
  float (*of_channels)(const AdaptiveOptions& options, const ChannelWindow& window) = nullptr;
  bool analytic = false;  ///< of_channels needs analytic signals
  /// Length of the axial window where none is stated, in periods of the centre frequency; 0: the point alone.
  double usual_window = 0.0;
  bool uses_window = true;
  AdaptiveOnCuda on_cuda = AdaptiveOnCuda::none;  ///< none: CPU only, unless there is nothing to do
};

/// All kinds. "none" is the first, and has neither function.
[[nodiscard]] std::span<const AdaptiveKind> adaptive_kinds();

/// Throws InputError, with `where` before it, if there is no such kind.
[[nodiscard]] const AdaptiveKind& adaptive_kind(std::string_view name, std::string_view where);

/// Whether CUDA supports the kind. True also where there is nothing to compute.
[[nodiscard]] inline bool is_on_cuda(const AdaptiveKind& kind) {
  return kind.sums_of == ChannelSums::none || kind.on_cuda != AdaptiveOnCuda::none;
}

/// Throws InputError if an option is out of its range; `where` precedes its name, "demo.toml: [beams]".
void validate(const AdaptiveOptions& options, std::string_view where);

/// Number of floats of of_sums' workspace.
[[nodiscard]] std::size_t point_workspace(const AdaptiveOptions& options, std::size_t points);
/// Number of doubles of of_channels' workspace, for at most `channels` channels.
[[nodiscard]] std::size_t channel_workspace(const AdaptiveOptions& options, std::size_t channels);

namespace adaptive {

void coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void generalised_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void sign_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result);
void f_dmas(const AdaptiveOptions& options, const PointSums& sums, float* result);

float phase_coherence_factor(const AdaptiveOptions& options, const ChannelWindow& window);
float short_lag_spatial_coherence(const AdaptiveOptions& options, const ChannelWindow& window);
float capon(const AdaptiveOptions& options, const ChannelWindow& window);

/// The subarray length L.
[[nodiscard]] std::size_t subarray_length(const AdaptiveOptions& options, std::size_t channels);

}  // namespace adaptive
}  // namespace echoform
