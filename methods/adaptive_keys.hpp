// Keys of adaptive weights, for any section in which a method has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "config/key_types.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform {

/// The range of axial windows, in periods of the centre frequency.
inline constexpr Interval adaptive_windows{0.0, 20.0};

/// Points at which a method sums channels.
enum class WeightedPoints : unsigned char { lines, pixels };

/// The names of the kinds that points of this sort can have. Pixels have none of the kinds that need a band-pass along
/// lines.
[[nodiscard]] std::vector<std::string> adaptive_names(WeightedPoints points);
/// The help texts of `adaptive` and `adaptive_window`.
[[nodiscard]] std::string_view adaptive_help(WeightedPoints points);
[[nodiscard]] std::string_view adaptive_window_help(WeightedPoints points);

/// Key::only_where of adaptive_window: the kinds that take a window.
[[nodiscard]] std::string adaptive_with_window(std::string_view section);

/// Adds the keys. `of` returns the struct of the section in a configuration that may be constant. The struct has the
/// members `adaptive` (AdaptiveOptions, whose window is not a key) and `adaptive_window` (optional, in periods).
template <class Of>
void add_adaptive_keys(std::vector<Key>& k, std::string_view section, WeightedPoints points, Of of) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  constexpr auto live = LiveEffect::imaging;
  k.push_back(name(
      {section, "adaptive", "", adaptive_help(points), {}, live},
      adaptive_names(points), [of](auto& c) -> auto& { return of(c).adaptive.kind; }));
  if (points == WeightedPoints::pixels) k.back().unread = Unread::refused;
  k.push_back(number(
      {section, "adaptive_window", "", adaptive_window_help(points),
       "one for the coherence factors of energies and short-lag spatial coherence, else none", live},
      within(adaptive_windows), [of](auto& c) -> auto& { return of(c).adaptive_window; }));
  k.back().only_where = adaptive_with_window(section);
  k.push_back(integer(
      {section,
       "low_frequencies",
       "",
       "M0 of the generalised coherence factor: the highest spatial frequency that counts as coherent; 0 is the coherence "
       "factor.",
       {},
       live},
      within(0, AdaptiveOptions::most_low_frequencies), [of](auto& c) -> auto& { return of(c).adaptive.low_frequencies; }));
  k.back().only_where = std::string(section) + ".adaptive=generalised_coherence_factor";
  k.push_back(number(
      {section, "phase_sensitivity", "", "gamma of the phase coherence factor; 0 is the plain sum.", {}, live},
      within(AdaptiveOptions::sensitivities), [of](auto& c) -> auto& { return of(c).adaptive.sensitivity; }));
  k.back().only_where = std::string(section) + ".adaptive=phase_coherence_factor";
  k.push_back(number(
      {section, "short_lag", "", "Part of the receiving aperture up to which channels are correlated.", {}, live},
      within(AdaptiveOptions::short_lags), [of](auto& c) -> auto& { return of(c).adaptive.short_lag; }));
  k.back().only_where = std::string(section) + ".adaptive=short_lag_spatial_coherence";
  k.push_back(number(
      {section, "subarray", "", "Part of the receiving aperture that a subarray of Capon's takes.", {}, live},
      within(AdaptiveOptions::subarrays), [of](auto& c) -> auto& { return of(c).adaptive.subarray; }));
  k.back().only_where = std::string(section) + ".adaptive=capon";
  k.push_back(number(
      {section, "diagonal_loading", "", "Of Capon's covariance, as a part of the mean of its diagonal.", {}, live},
      within(AdaptiveOptions::loadings), [of](auto& c) -> auto& { return of(c).adaptive.loading; }));
  k.back().only_where = std::string(section) + ".adaptive=capon";
}

}  // namespace echoform
