// Transposition of beams to rows of samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace echoform::polar {

/// Transposes 8 x 8 bytes: byte k of row[j] becomes byte j of row[k]. Squares of 4, 2 and 1 bytes change places.
inline void transpose_bytes(std::uint64_t row[8]) {
  const auto exchange = [&](std::size_t distance, unsigned bits, std::uint64_t low) {
    for (std::size_t j = 0; j < 8; ++j) {
      if ((j & distance) != 0) continue;
      const std::uint64_t swapped = ((row[j] >> bits) ^ row[j + distance]) & low;
      row[j + distance] ^= swapped;
      row[j] ^= swapped << bits;
    }
  };
  exchange(4, 32, 0x00000000ffffffffu);
  exchange(2, 16, 0x0000ffff0000ffffu);
  exchange(1, 8, 0x00ff00ff00ff00ffu);
}

template <class Pixel>
void turn(const Pixel* from, std::size_t from_stride, Pixel* to, std::size_t to_stride, std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) to[column * to_stride + row] = from[row * from_stride + column];
  }
}

/// to[column][row] = from[row][column].
template <class Pixel>
void turn_in_squares(const Pixel* from, std::size_t from_stride, Pixel* to, std::size_t to_stride, std::size_t rows,
                     std::size_t columns) {
  for (std::size_t row = 0; row < rows; row += 8) {
    const std::size_t high = std::min<std::size_t>(8, rows - row);
    for (std::size_t column = 0; column < columns; column += 8) {
      const std::size_t wide = std::min<std::size_t>(8, columns - column);
      const Pixel* const here = from + row * from_stride + column;
      Pixel* const there = to + column * to_stride + row;
      if constexpr (sizeof(Pixel) == 1) {
        if (high == 8 && wide == 8) {
          std::uint64_t square[8];
          for (std::size_t k = 0; k < 8; ++k) std::memcpy(square + k, here + k * from_stride, 8);
          transpose_bytes(square);
          for (std::size_t k = 0; k < 8; ++k) std::memcpy(there + k * to_stride, square + k, 8);
          continue;
        }
      }
      turn(here, from_stride, there, to_stride, high, wide);
    }
  }
}

}  // namespace echoform::polar
