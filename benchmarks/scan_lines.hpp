// How fast sums along scan lines are: against frozen plain loops, and against the time in which the echoes themselves arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::benchmarks {

/// Events of a sector from -45 to 45 degrees whose waves leave the middle of a linear array of half a wavelength's pitch at t =
/// 0, int16 noise, a Hann window over the whole aperture, a range a sample (c t / 2).
struct LinesCase {
  std::size_t events = 96;
  std::size_t channels = 64;
  std::size_t samples = 2048;
  double sample_rate = 40e6;
  std::size_t rounds = 5;
  std::size_t threads = 0;  ///< 0: all that this process may use
};

/// One delay filter and number of lines of an event.
struct LinesFigure {
  std::string filter;
  std::size_t lines = 1;    ///< of an event
  Spread frames;            ///< a second, from received samples in memory to float lines
  Spread real_time;         ///< times the time that the events' echoes take to arrive, one event after the other
  Spread ratio;             ///< times the plain loop's rate on as many threads; 0 where there is none of that kind
  double difference = 0.0;  ///< relative L2, from the plain loop's lines
};

struct LinesReport {
  std::string reference_flags;
  std::size_t threads = 1;
  std::vector<LinesFigure> figures;
  Turns turns;
};

/// Lines `of_event` to an event: the options of the stage that sums them, and samples.
[[nodiscard]] ScanLinesOptions lines_options(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event);
[[nodiscard]] std::vector<std::int16_t> lines_samples(const LinesCase& test);

/// Calls `progress` with the name of each measurement.
[[nodiscard]] LinesReport measure_lines(const LinesCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
