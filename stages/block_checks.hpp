// The checks of its input that prepare() of every stage makes.
#pragma once

#include <initializer_list>
#include <string_view>

#include "pipeline/block.hpp"

namespace echoform {

/// Columns rounded up to 16: rows of 4-byte numbers that start on 64 bytes if the block does.
[[nodiscard]] constexpr std::size_t padded_columns(std::size_t columns) {
  return (columns + 15) / 16 * 16;
}

/// Throws InputError, naming `stage`, unless the type is one of `types`, no size is 0, the product of the sizes cannot
/// overflow, rows do not overlap, raw ones start where their samples may, and sub_blocks divides rows.
void require_block(const BlockSpec& spec, std::string_view stage, std::initializer_list<ElementType> types);

/// Throws InputError, naming `stage`, if there are more rows than a CUDA launch has blocks.
void require_rows_of_a_launch(std::size_t rows, std::string_view stage);

}  // namespace echoform
