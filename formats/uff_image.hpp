// Images as beamformed data of USTB's files.
#pragma once

#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// Writes one object, /beamformed_data of class uff.beamformed_data, into the empty file that is open as `descriptor`; `name` is
/// what messages call it. Planes are a uff.linear_scan, lines that meet in a point a uff.sector_scan, volumes and steered lines a
/// uff.scan of all pixels' places.
/// Throws InputError for axes that are no places in the part, RuntimeFault if writing fails.
void write_uff_image(int descriptor, const std::string& name, const ImageFile& image);

}  // namespace echoform::formats
