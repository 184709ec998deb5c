// Where the detectors of an IPASC file stand, and what they face.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "formats/ipasc_fields.hpp"

namespace echoform::formats {

struct IpascDetectors {
  std::vector<Element> elements;
  std::vector<std::string> notes;     ///< what was made of what the file leaves open
  std::vector<std::string> warnings;  ///< what is likely to be wrong, naming the file
};

/// Those of /meta_data_device, in the order of the numbers that their names end in. Orientations are normals, made of length 1; a
/// detector that states none, or one of length 0, faces the mean of all, and of detectors on one line +z so far as that is across
/// it. A cuboid's first two sizes are width and length, a circle counts as the square of its area, and all else as a point.
/// Throws InputError naming the item for a position that is missing or no three finite numbers, counts that disagree, no
/// detector, and more than `most`.
[[nodiscard]] IpascDetectors read_ipasc_detectors(const Hdf5Handle& file, const std::string& file_name, std::size_t most);

}  // namespace echoform::formats
