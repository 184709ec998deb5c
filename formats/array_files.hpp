// Files that are an image's values with some text before and after them: .npy, .nrrd, .vti.
#pragma once

#include <filesystem>
#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

struct ArrayText {
  std::string before;
  std::string after{};
};

/// Writes the text and between it the values of image.field, C order, little-endian; an envelope that has yet to be computed
/// is, a block at a time. The spans fit the grid. Throws as write_file.
void write_array_file(const std::filesystem::path& path, const ImageFile& image, const ArrayText& text);

}  // namespace echoform::formats
