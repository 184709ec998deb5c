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

/// NumPy's format 1.0: float32 or complex64, [z, x] or [z, y, x].
[[nodiscard]] ArrayText npy_text(const ImageFile& image);
/// NRRD, as teem and 3D Slicer read it: always three axes x, y and z, in mm, at their R, A and S (base/anatomical_axes.hpp), or
/// of axes that are no places in a space of their own; complex values as an axis of two before them.
/// https://teem.sourceforge.net/nrrd/format.html
[[nodiscard]] ArrayText nrrd_text(const ImageFile& image);
/// VTK's XML image data, as ParaView reads it, in mm: one array of points named as the field is, with two components if complex.
[[nodiscard]] ArrayText vti_text(const ImageFile& image);

/// Writes the text and between it the values of image.field, C order, little-endian; an envelope that has yet to be computed
/// is, a block at a time. The spans fit the grid. Throws as write_file.
void write_array_file(const std::filesystem::path& path, const ImageFile& image, const ArrayText& text);

}  // namespace echoform::formats
