// What a temporal filter does to A-scans, by value.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "base/units.hpp"

namespace echoform {

/// none    rows stay as they are, bit for bit
/// mean    the mean of each row is taken away
/// band    what lies outside of a band is taken away
/// wiener  what the probe did to its echoes is taken away as far as noise allows, by a pulse that was measured
enum class FilterKind : unsigned char { none, mean, band, wiener };

/// What one echo looks like.
struct MeasuredPulse {
  static constexpr std::size_t most_samples = 4096;

  std::vector<double> samples;  ///< 2 to most_samples, finite, not all the same; of any unit
  Hertz sample_rate;            ///< its own, > 0

  [[nodiscard]] friend bool operator==(const MeasuredPulse&, const MeasuredPulse&) = default;
};

/// Takes away the surroundings of one frequency.
struct Notch {
  Hertz centre;  ///< above 0 and below half the sample rate
  Hertz width;   ///< > 0; between the frequencies at which half the amplitude passes

  [[nodiscard]] friend bool operator==(const Notch&, const Notch&) = default;
};

struct FilterOptions {
  static constexpr Interval noises{1e-6, 1.0};

  FilterKind kind = FilterKind::none;
  Hertz sample_rate;  ///< of the rows, > 0; of no meaning for `none`
  /// Of the band, 0 <= low < high <= sample_rate / 2: the frequencies at which half the amplitude passes (-6 dB). An edge at 0 or
  /// at half the sample rate is none.
  Hertz low;
  Hertz high;
  /// > 0; how wide the lower edge is, from 1 % to 99 % of the amplitude, and the upper one where upper_skirt is 0. The response
  /// is over after 2.8 / skirt at the latest, of the narrower skirt.
  Hertz skirt;
  Hertz upper_skirt;                           ///< 0 or more; how wide the upper edge is; 0: as wide as the lower one
  std::optional<Notch> notch;                  ///< with every kind but `none`
  std::shared_ptr<const MeasuredPulse> pulse;  ///< of `wiener`
  /// Of `wiener`: the power of noise against that of the pulse where that is strongest. What is lower by more is not amplified.
  double noise = 0.01;

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const FilterOptions& a, const FilterOptions& b) {
    return a.kind == b.kind && a.sample_rate == b.sample_rate && a.low == b.low && a.high == b.high && a.skirt == b.skirt &&
           a.upper_skirt == b.upper_skirt && a.notch == b.notch && a.noise == b.noise &&
           (a.pulse == b.pulse || (a.pulse && b.pulse && *a.pulse == *b.pulse));
  }
};

/// A lower edge as it is where nothing else is wanted: as wide as half the band, and no wider than what lies below it, so that of
/// a constant less than 1e-5 would pass.
[[nodiscard]] Hertz usual_skirt(Hertz low, Hertz high);
/// An upper edge likewise: as wide as half the band, wherever that begins. A narrow one would ring long after each sound.
[[nodiscard]] Hertz usual_upper_skirt(Hertz low, Hertz high);

/// Throws InputError if an option that the kind uses is out of its range; `where` precedes its name, "demo.toml: [filter]".
void validate(const FilterOptions& options, std::string_view where);

}  // namespace echoform
