// The contents of the .msot file of an iThera scan: XML, whose elements are found by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "base/geometry.hpp"

namespace echoform::formats {

/// A pulse of light of a scan. 0 where it is not stated.
struct MsotPulse {
  double wavelength = 0.0;  ///< nanometres
  double energy = 0.0;      ///< millijoules
  std::uint64_t ticks = 0;  ///< of 100 ns, since the year 1
};

struct MsotDescription {
  std::vector<double> wavelengths;   ///< nanometres, in the order of a sweep; at least one
  std::vector<Direction> detectors;  ///< places in the scanner's coordinates, metres; at least two
  std::vector<MsotPulse> pulses;     ///< in the order of the samples
  std::size_t samples = 0;           ///< of an A-scan
  double sample_rate = 0.0;          ///< Hz
  bool normalised = false;           ///< samples are divided by the energies already
};

/// The maximum number of each that is accepted.
struct MsotLimits {
  std::size_t wavelengths = 4096;
  std::size_t detectors = 65536;
  std::size_t samples = std::size_t{1} << 22;
  std::size_t pulses = std::size_t{1} << 22;
};

/// Throws InputError, naming `file` and the line, for what is no XML, and for values that are missing, no numbers, out of their
/// range, or beyond `limits`.
[[nodiscard]] MsotDescription read_msot_description(std::istream& xml, const std::string& file, const MsotLimits& limits);

}  // namespace echoform::formats
