// Options of a temporal filter of A-scans.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "base/units.hpp"

namespace echoform {

/// The kinds of filters:
///   none    rows stay as they are, bit for bit
///   mean    the mean of each row is subtracted
///   band    frequencies outside of a band are removed
///   wiener  echoes are deconvolved by a measured pulse as far as noise allows
enum class FilterKind : unsigned char { none, mean, band, wiener };

/// The shape of one echo.
struct MeasuredPulse {
  static constexpr std::size_t most_samples = 4096;

  std::vector<double> samples;  ///< 2 to most_samples, finite, not all the same; of any unit
  Hertz sample_rate;            ///< its own, > 0

  [[nodiscard]] friend bool operator==(const MeasuredPulse&, const MeasuredPulse&) = default;
};

/// Removes the neighbourhood of one frequency.
struct Notch {
  Hertz centre;  ///< above 0 and below half the sample rate
  Hertz width;   ///< > 0; between the frequencies at which half the amplitude passes

  [[nodiscard]] friend bool operator==(const Notch&, const Notch&) = default;
};

struct FilterOptions {
  static constexpr Interval noises{1e-6, 1.0};

  FilterKind kind = FilterKind::none;
  Hertz sample_rate;  ///< of the rows, > 0; ignored for `none`
  /// The edges of the band, 0 <= low < high <= sample_rate / 2: the frequencies at which half the amplitude passes (-6 dB).
  /// At 0 or at half the sample rate the band has no edge.
  Hertz low;
  Hertz high;
  /// Width of the lower edge, from 1 % to 99 % of the amplitude; > 0. It is that of the upper edge, too, where upper_skirt
  /// is 0. The response ends after at most 2.8 / skirt, where skirt is the narrower one.
  Hertz skirt;
  Hertz upper_skirt;                           ///< width of the upper edge, 0 or more; 0: that of the lower edge
  std::optional<Notch> notch;                  ///< with every kind but `none`
  std::shared_ptr<const MeasuredPulse> pulse;  ///< for `wiener`
  /// Parameter of `wiener`: the power of noise over that of the pulse at its strongest frequency. Frequencies at which the
  /// pulse is weaker than this noise are not amplified.
  double noise = 0.01;

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const FilterOptions& a, const FilterOptions& b) {
    return a.kind == b.kind && a.sample_rate == b.sample_rate && a.low == b.low && a.high == b.high && a.skirt == b.skirt &&
           a.upper_skirt == b.upper_skirt && a.notch == b.notch && a.noise == b.noise &&
           (a.pulse == b.pulse || (a.pulse && b.pulse && *a.pulse == *b.pulse));
  }
};

/// The default width of a lower edge: half the band, but at most the distance of the edge from 0 Hz, so that less than 1e-5
/// of a constant would pass.
[[nodiscard]] Hertz usual_skirt(Hertz low, Hertz high);
/// The default width of an upper edge: half the band, wherever that begins. A narrower edge would ring long after each echo.
[[nodiscard]] Hertz usual_upper_skirt(Hertz low, Hertz high);

/// Throws InputError if an option that the kind uses is out of its range; `where` precedes its name, "demo.toml: [filter]".
void validate(const FilterOptions& options, std::string_view where);

}  // namespace echoform
