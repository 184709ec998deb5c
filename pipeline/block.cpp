#include "pipeline/block.hpp"

namespace echoform {

std::size_t BlockSpec::bytes() const {
  const std::size_t stride = row_stride != 0 ? row_stride : columns;
  switch (type) {
    case ElementType::int16:
      return rows * stride * 2;
    case ElementType::packed12:
      return rows * (row_stride != 0 ? row_stride : (3 * columns + 1) / 2);
    case ElementType::float32:
      return rows * stride * 4;
    case ElementType::complex64:
    case ElementType::planar_complex64:
      return rows * stride * 8;
    case ElementType::uint8:
      return rows * stride;
  }
  return 0;
}

}  // namespace echoform
