// Images as HDF5: datasets image, x and z (and y for volumes).
#pragma once

#include <filesystem>
#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// Writes to `path`; `name` is what messages call it. Throws RuntimeFault if that fails.
void write_hdf5_image(const std::filesystem::path& path, const std::string& name, const ImageFile& image);

}  // namespace echoform::formats
