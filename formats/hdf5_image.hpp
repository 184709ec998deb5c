// Images as HDF5: datasets image, x and z (and y for volumes).
#pragma once

#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// Writes into the empty file that is open as `descriptor`; `name` is what messages call it. Throws RuntimeFault if that fails.
void write_hdf5_image(int descriptor, const std::string& name, const ImageFile& image);

}  // namespace echoform::formats
