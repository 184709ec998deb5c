#include "pipeline/block.hpp"

namespace echoform {
namespace {

/// The unit of the distance between rows, in bytes.
std::size_t unit_of(ElementType type) {
  switch (type) {
    case ElementType::raw:
    case ElementType::uint8:
      return 1;
    case ElementType::float32:
      return 4;
    case ElementType::complex64:
    case ElementType::planar_complex64:
    case ElementType::complex_half_slope:
      break;
  }
  return 8;
}

}  // namespace

std::size_t BlockSpec::bytes() const {
  return (lead + rows * stride_of(*this)) * unit_of(type) + trailer;
}

std::size_t shortest_stride(const BlockSpec& spec) {
  return spec.type == ElementType::raw ? facts_of(spec.encoding).bytes_of(spec.columns) : spec.columns;
}

std::size_t stride_of(const BlockSpec& spec) {
  return spec.row_stride != 0 ? spec.row_stride : shortest_stride(spec);
}

}  // namespace echoform
