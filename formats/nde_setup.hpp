// What the Setup of an Evident .nde file states about a matrix capture: JSON, version 4 (https://ndeformat.com,
// github.com/Evident-Industrial/NDE_Open_File_Format).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::formats {

/// A beam of the capture, a shot: elements count from 0, as the probe's list here has them.
struct NdeBeam {
  struct Pulser {
    std::size_t element = 0;
    double delay = 0.0;  ///< seconds
  };
  std::vector<Pulser> pulsers;
  std::vector<std::size_t> receivers;  ///< in the order of their A-scans
};

/// A group's A-scans of an ultrasonicMatrixCapture.
struct NdeCapture {
  std::string path;            ///< of the dataset
  std::string where;           ///< of its description, for messages
  std::size_t captures = 1;    ///< of the file
  std::size_t dimensions = 0;  ///< of the dataset, as stated; 0: none are
  double step = 0.0;           ///< metres from a position along u to the next; 0 unknown
  std::vector<NdeBeam> beams;
  double start = 0.0;        ///< of A-scans, seconds
  double length = 0.0;       ///< of A-scans, seconds
  double sample_rate = 0.0;  ///< Hz
  double scale = 1.0;        ///< an amplitude is (number - zero) * scale
  double zero = 0.0;
  std::string unit;  ///< of amplitudes; empty unknown
  Probe probe;       ///< x along the primary axis from the wedge's front on, z into the part
  Material material;
  MetresPerSecond wedge_velocity{};  ///< 0 in contact
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

struct NdeLimits {
  std::size_t elements = 4096;
  std::size_t events = 4096;
  std::size_t values = std::size_t{1} << 22;  ///< of the JSON, with names
};

/// The capture with the number `sequence`, in the order of the file. Throws InputError, naming `where` and the place in it, for
/// what is no JSON, is nested deeper than 32 or has too many values, for values that are missing, of another kind or beyond their
/// range, and where there is no such capture.
[[nodiscard]] NdeCapture read_nde_setup(const std::string& json, const std::string& where, std::size_t sequence,
                                        const NdeLimits& limits = {});

}  // namespace echoform::formats
