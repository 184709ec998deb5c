// The part of a configuration that belongs to the method of scan lines alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval.hpp"
#include "config/configuration.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/scan_lines/delay_filter.hpp"
#include "stages/windows/window.hpp"

namespace echoform {

/// The samples that lines are sums of: samples as they were received, or demodulated ones.
enum class LinePath : std::uint8_t { rf, iq };

/// Keys of [beams].
struct BeamsSection {
  static constexpr std::size_t most_lines = 16;  ///< of a transmit event
  static constexpr Interval f_numbers{0.1, 20.0};
  static constexpr Interval persistences{0.0, 0.99};
  static constexpr std::size_t most_gain_points = 64;
  static constexpr Interval gains{-120.0, 120.0};  // dB
  static constexpr std::size_t most_pulses = 16;
  static constexpr Interval pulse_weight_range{-100.0, 100.0};

  std::optional<std::array<Metres, 2>> depth;  ///< first and last range
  std::optional<std::size_t> ranges;           ///< of a line
  std::size_t lines = 1;                       ///< lines of a transmit event, beside each other
  std::size_t lines_across = 1;                ///< likewise in elevation, each with all of `lines`
  bool blend = false;                          ///< whether lines between two events are the sum of both events'
  bool equalise = false;      ///< with `blend`: whether lines are weighted by the strength of beams off their own lines
  DelayFilterOptions filter;  ///< its centre and bandwidth follow from the probe's
  Window window;
  LinePath path = LinePath::rf;
  std::optional<Hertz> demodulation_frequency;  ///< none: the probe's centre frequency
  std::optional<std::size_t> decimation;        ///< none: the largest that the band allows
  std::optional<Hertz> iq_bandwidth;            ///< width of the band that is kept, both sides; none: from the probe's
  std::optional<double> f_number;               ///< none: the whole aperture at every depth
  bool normalise = true;                        ///< whether sums are divided by the weights that are in them
  std::vector<double> time_gain;                ///< dB, at the depths or evenly over [beams] depth; empty: none
  std::vector<Metres> time_gain_depths;         ///< ascending; empty: evenly
  std::vector<double> lateral_gain;             ///< dB, evenly over the lines; empty: none
  bool compound = true;                         ///< whether lines of several steering angles are averaged
  AdaptiveOptions adaptive;                     ///< its window follows from the one below
  std::optional<double> adaptive_window;        ///< periods of the centre frequency; none: the kind's usual one
  double persistence = 0.0;                     ///< part of the image before that stays
  std::optional<Hertz> frame_rate;              ///< by which frames become seconds of images that scroll
  std::vector<double> pulse_weights;            ///< of the soundings of a beam that are added; empty: none are
};

/// The range of the duration of images that scroll, in seconds.
inline constexpr Interval scrolling_seconds{0.01, 600.0};

/// Keys of [m_mode].
struct MModeSection {
  std::optional<std::size_t> line;  ///< of the image; none: no M-mode
  double seconds = 4.0;
};

/// Keys of [spectrum].
struct SpectrumSection {
  static constexpr Interval overlaps{0.0, 0.99};

  std::optional<std::size_t> line;            ///< of the image; none: no spectrum
  std::optional<std::array<Metres, 2>> gate;  ///< first and last range
  std::optional<std::size_t> samples;         ///< none: all that the wall filter leaves of an ensemble
  double overlap = 0.75;
  WindowKind window = WindowKind::hann;
  std::size_t velocities = 128;
  double seconds = 4.0;
};

[[nodiscard]] inline const MModeSection& m_mode(const ImagingSettings& settings) {
  return section<MModeSection>(settings);
}
[[nodiscard]] inline MModeSection& m_mode(ImagingSettings& settings) {
  return section<MModeSection>(settings);
}
[[nodiscard]] inline const SpectrumSection& spectrum(const ImagingSettings& settings) {
  return section<SpectrumSection>(settings);
}
[[nodiscard]] inline SpectrumSection& spectrum(ImagingSettings& settings) {
  return section<SpectrumSection>(settings);
}
[[nodiscard]] inline const BeamsSection& beams(const ImagingSettings& settings) {
  return section<BeamsSection>(settings);
}
[[nodiscard]] inline BeamsSection& beams(ImagingSettings& settings) {
  return section<BeamsSection>(settings);
}

}  // namespace echoform
