// Raw frames for tests, written sample by sample, and what they mean in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/stages/stage_harness.hpp"

namespace echoform::test {

/// A-scans of whole-number or, for float32, any samples.
struct RawFrame {
  BlockSpec spec;
  std::vector<double> samples;  // [row, column], as stored
  std::unique_ptr<TestBlock> block;
  std::uint64_t clipped = 0;  // over all rows
  std::uint64_t invalid = 0;
  std::vector<std::uint64_t> clipped_in_row;
  std::vector<std::uint64_t> invalid_in_row;

  /// Sample as the stage should see it: invalid ones are 0.
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    const double value = samples[row * spec.columns + column];
    return std::isfinite(value) ? value : 0.0;
  }
};

inline void put_packed12(unsigned char* row, std::size_t column, int value) {
  for (unsigned bit = 0; bit < 12; ++bit) {
    const std::size_t place = 12 * column + bit;
    const unsigned char mask = static_cast<unsigned char>(1u << place % 8);
    if ((static_cast<unsigned>(value) >> bit & 1u) != 0) {
      row[place / 8] = static_cast<unsigned char>(row[place / 8] | mask);
    } else {
      row[place / 8] = static_cast<unsigned char>(row[place / 8] & ~mask);
    }
  }
}

/// Random samples with some at the ends of the range (integers) or not finite (floats). `extra` widens the row stride, in samples
/// or, where those share bytes, in bytes.
inline RawFrame make_raw_frame(SampleEncoding encoding, std::size_t rows, std::size_t columns, std::size_t extra, unsigned seed) {
  RawFrame frame;
  const std::size_t row_bytes = encoding == SampleEncoding::packed12 ? (3 * columns + 1) / 2 + extra
                                : encoding == SampleEncoding::int16  ? 2 * (columns + extra)
                                                                     : 4 * (columns + extra);
  frame.spec = make_raw_spec(encoding, rows, columns, row_bytes);
  frame.block = std::make_unique<TestBlock>(frame.spec);
  frame.clipped_in_row.assign(rows, 0);
  frame.invalid_in_row.assign(rows, 0);
  std::mt19937 random(seed);
  const int low = encoding == SampleEncoding::packed12 ? -2048 : -32768;
  const int high = encoding == SampleEncoding::packed12 ? 2047 : 32767;
  std::uniform_int_distribution<int> whole(low + 1, high - 1);
  std::normal_distribution<float> real(0.0F, 3.0F);
  std::uniform_int_distribution<int> dice(0, 15);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const int face = dice(random);
      double value;
      if (encoding == SampleEncoding::float32) {
        value = real(random);
        if (face == 0) value = std::numeric_limits<double>::quiet_NaN();
        if (face == 1) value = std::numeric_limits<double>::infinity();
        if (face == 2) value = -std::numeric_limits<double>::infinity();
        if (face <= 2) ++frame.invalid_in_row[row];
        frame.block->as<float>()[row * row_bytes / 4 + column] = static_cast<float>(value);
      } else {
        const int sample = face == 0 ? low : face == 1 ? high : whole(random);
        value = sample;
        if (face <= 1) ++frame.clipped_in_row[row];
        if (encoding == SampleEncoding::int16) {
          frame.block->as<std::int16_t>()[row * row_bytes / 2 + column] = static_cast<std::int16_t>(sample);
        } else {
          put_packed12(frame.block->as<unsigned char>() + row * row_bytes, column, sample);
        }
      }
      frame.samples.push_back(value);
    }
    frame.clipped += frame.clipped_in_row[row];
    frame.invalid += frame.invalid_in_row[row];
  }
  return frame;
}

}  // namespace echoform::test
