// What stages hand to each other: a description of a block of numbers, and the block.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "acquisition/sample_encodings.hpp"

namespace echoform {

enum class ElementType : std::uint8_t {
  raw,  ///< samples as they were received: BlockSpec.encoding says how they are stored
  float32,
  complex64,         ///< interleaved: re, im, re, im ...
  planar_complex64,  ///< a row of re, then a row of im, each `row_stride` long
  uint8,
  /// A complex sample in half precision and, likewise, its difference to the next one: re, im, re, im; 8 bytes. Made for
  /// beamformers that look up 8 bytes at a time; stages/analytic_signal/analytic_signal.hpp says how it is scaled.
  complex_half_slope,
};

/// Shape and type of a block. C order; `columns` is the fastest axis.
struct BlockSpec {
  ElementType type = ElementType::float32;
  SampleEncoding encoding{};  ///< of raw blocks; others leave it as it is
  std::size_t rows = 0;       ///< A-scans, or z
  std::size_t columns = 0;    ///< samples, or x
  /// Distance of rows in elements of the type; of raw blocks in bytes. Rows of planar blocks are 2 * row_stride apart.
  std::size_t row_stride = 0;
  std::size_t sub_blocks = 1;  ///< y, for volumes: rows = z * y
  std::size_t lead = 0;        ///< elements of zeros before the first row
  std::size_t trailer = 0;     ///< bytes behind the rows for facts about the frame; stages say which

  /// Bytes that a block of this kind takes.
  [[nodiscard]] std::size_t bytes() const;
  auto operator<=>(const BlockSpec&) const = default;
};

/// Distance at which rows follow each other without gaps, in elements, of raw blocks in bytes.
[[nodiscard]] std::size_t shortest_stride(const BlockSpec& spec);
/// Distance of rows in elements, of raw blocks in bytes, where a row_stride of 0 means that rows follow each other at once.
[[nodiscard]] std::size_t stride_of(const BlockSpec& spec);

/// Memory that a backend owns; host or device according to the backend. Never owned by the view.
struct Block {
  void* data = nullptr;
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }
};
struct ConstBlock {
  const void* data = nullptr;
  template <class T>
  [[nodiscard]] const T* as() const {
    return static_cast<const T*>(data);
  }
};

}  // namespace echoform
