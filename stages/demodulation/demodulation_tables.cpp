#include "stages/demodulation/demodulation_tables.hpp"

#include <cmath>
#include <numbers>

namespace echoform {

PhaseLayout::PhaseLayout(const DemodulationOptions& options, std::size_t kept)
    : half(demodulation_tap_count(options) / 2), lead(half / options.decimation + 1), pitch(lead + kept + lead) {}

DemodulationTaps demodulation_taps(const DemodulationOptions& options, const PhaseLayout& layout) {
  const std::vector<double> filter = demodulation_filter(options);
  const auto half = static_cast<std::ptrdiff_t>(layout.half);
  const auto decimation = static_cast<std::ptrdiff_t>(options.decimation);
  const double cycles = (options.frequency + options.filter_offset).value / options.sample_rate.value;
  DemodulationTaps taps;
  for (std::ptrdiff_t j = -half; j <= half; ++j) {
    const std::ptrdiff_t phase = ((j % decimation) + decimation) % decimation;
    taps.offsets.push_back(phase * static_cast<std::ptrdiff_t>(layout.pitch) + static_cast<std::ptrdiff_t>(layout.lead) +
                           (j - phase) / decimation);
    const double angle = 2.0 * std::numbers::pi * cycles * static_cast<double>(j);
    const double h = filter[static_cast<std::size_t>(half - j)];
    taps.cosines.push_back(static_cast<float>(2.0 * h * std::cos(angle)));
    taps.sines.push_back(static_cast<float>(-2.0 * h * std::sin(angle)));
  }
  return taps;
}

DemodulationTurns demodulation_turns(const DemodulationOptions& options, std::size_t kept) {
  DemodulationTurns turns;
  for (std::size_t m = 0; m < kept; ++m) {
    const double t = options.start_time.value + static_cast<double>(m * options.decimation) / options.sample_rate.value;
    const double whole_turns = options.frequency.value * t;
    const double angle = 2.0 * std::numbers::pi * (whole_turns - std::floor(whole_turns));
    turns.cosines.push_back(static_cast<float>(std::cos(angle)));
    turns.sines.push_back(static_cast<float>(-std::sin(angle)));
  }
  return turns;
}

}  // namespace echoform
