#include <fmt/format.h>

#include "formats/array_files.hpp"

namespace echoform::formats {

ArrayText npy_text(const ImageFile& image) {
  const Grid& grid = image.grid;
  const std::string shape = grid.y.count > 1 ? fmt::format("{}, {}, {}", grid.z.count, grid.y.count, grid.x.count)
                                             : fmt::format("{}, {}", grid.z.count, grid.x.count);
  // A Python literal, padded to 64 bytes with what comes before it.
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

}  // namespace echoform::formats
