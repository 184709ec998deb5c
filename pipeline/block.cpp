#include "pipeline/block.hpp"

namespace echoform {

std::size_t BlockSpec::bytes() const {
  const std::size_t stride = row_stride != 0 ? row_stride : columns;
  switch (type) {
    case ElementType::int16:
      return rows * stride * 2 + trailer;
    case ElementType::packed12:
      return rows * (row_stride != 0 ? row_stride : (3 * columns + 1) / 2) + trailer;
    case ElementType::float32:
      return rows * stride * 4 + trailer;
    case ElementType::complex64:
    case ElementType::planar_complex64:
    case ElementType::complex_half_slope:
      return (lead + rows * stride) * 8 + trailer;
    case ElementType::uint8:
      return rows * stride + trailer;
  }
  return 0;
}

std::size_t shortest_stride(const BlockSpec& spec) {
  return spec.type == ElementType::packed12 ? (3 * spec.columns + 1) / 2 : spec.columns;
}

std::size_t stride_of(const BlockSpec& spec) {
  return spec.row_stride != 0 ? spec.row_stride : shortest_stride(spec);
}

}  // namespace echoform
