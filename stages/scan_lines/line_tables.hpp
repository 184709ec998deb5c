// Tables that every implementation computes from its options once, in double precision. Lengths are in samples.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::scan_lines {

/// A receiver on a line. Lengths are in samples: path length times sample rate over velocity.
struct PlacedReceiver {
  std::uint32_t row = 0;       ///< of the event
  std::uint32_t weights = 0;   ///< table of LineSet::weights
  float along = 0.0F;          ///< e . direction, e its place from the line's origin
  float square = 0.0F;         ///< |e|^2
  float across_square = 0.0F;  ///< |e|^2 - (e . direction)^2
};

struct LineTables {
  std::vector<float> range;                  ///< by range
  std::vector<std::int32_t> whole;           ///< [line, range] of tau_tx + r / c - start of the gate: floor
  std::vector<float> rest;                   ///< its fraction
  std::vector<float> divisor;                ///< [line, range]: factor of the sum
  std::vector<float> turn_re;                ///< for complex samples, [line, range]: divisor cos(2 pi fd (tau_tx + r / c))
  std::vector<float> turn_im;                ///< and divisor sin(...)
  std::vector<unsigned char> steady;         ///< [line, block of range_step ranges], as in LineTask
  std::vector<PlacedReceiver> receivers;     ///< the receivers that contribute, those of one line after those of another
  std::vector<std::size_t> first_receivers;  ///< by line, and the end

  [[nodiscard]] std::size_t bytes() const;
};

/// Makes the tables. `options` are valid. Ranges are padded to a multiple of range_step; padding looks up no samples.
[[nodiscard]] LineTables make_line_tables(const ScanLinesOptions& options);
/// Bytes of the tables, before they are made.
[[nodiscard]] std::size_t line_tables_bytes(const ScanLinesOptions& options);

[[nodiscard]] constexpr std::size_t padded(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

}  // namespace echoform::scan_lines
