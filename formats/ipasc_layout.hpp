// How the rows of passive frames become detectors and wavelengths of an IPASC file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/detectors.hpp"

namespace echoform::formats {

struct IpascLayout {
  std::vector<Detector> detectors;  ///< in the part's coordinates, sizes as the format's cuboids have them
  std::vector<PassiveEvent> light;  ///< of each wavelength
  std::vector<std::size_t> rows;    ///< [wavelength, detector]: rows of the frame
};

/// Events of the same light at the same position are wavelengths of their own, in the order in which they come. Throws
/// InputError, naming `where`, for events that are not passive, wavelengths that other detectors record, and rectangles that are
/// turned about what they face. Of an acquisition that has passed validate().
[[nodiscard]] IpascLayout ipasc_layout(const Acquisition& acquisition, const std::string& where);

}  // namespace echoform::formats
