#include <fmt/format.h>

#include "formats/array_files.hpp"
#include "formats/image_formats.hpp"

namespace echoform::formats {
namespace {

/// NumPy's format 1.0: float32 or complex64, [z, x] or [z, y, x].
ArrayText npy_text(const ImageFile& image) {
  const Grid& grid = image.grid;
  const std::string shape = grid.y.count > 1 ? fmt::format("{}, {}, {}", grid.z.count, grid.y.count, grid.x.count)
                                             : fmt::format("{}, {}", grid.z.count, grid.x.count);
  // The header is a Python literal. Together with the bytes before it, it is padded to a multiple of 64 bytes.
  std::string literal = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                    image.field == ImageField::analytic ? "<c8" : "<f4", shape);
  constexpr std::size_t preamble = 10;
  literal.append((64 - (preamble + literal.size() + 1) % 64) % 64, ' ');
  literal += '\n';

  std::string before("\x93NUMPY\x01");
  before += '\0';
  before += static_cast<char>(literal.size() & 0xff);
  before += static_cast<char>(literal.size() >> 8);
  return {before + literal};
}

}  // namespace

constinit const ImageFormat npy_image_format{
    .extension = ".npy",
    .meaning = "an array of NumPy, C order: [z, x], volumes [z, y, x]",
    .page = "command-line.md#image",
    .write = [](const std::filesystem::path& path, const ImageFile& image) { write_array_file(path, image, npy_text(image)); },
};

}  // namespace echoform::formats
