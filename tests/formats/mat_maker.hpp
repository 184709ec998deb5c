// Writes BRAIN exp_data files byte by byte, well-formed or not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace echoform::test {

using Bytes = std::vector<std::uint8_t>;

/// Elements of MATLAB version 5 files.
Bytes mat_element(std::uint32_t type, const Bytes& data);
Bytes mat_doubles(const std::string& name, const std::vector<std::uint32_t>& shape, const std::vector<double>& values);
Bytes mat_structure(const std::string& name, const std::vector<std::pair<std::string, Bytes>>& fields);
Bytes mat_text(const std::string& name, const std::string& text);
Bytes mat_compressed(const Bytes& matrix);
Bytes mat_file(const std::vector<Bytes>& elements);

/// A small recording whose sample of pair (tx, rx) from 0 at n is brain_sample(tx, rx, n).
struct BrainMaker {
  std::size_t elements = 3;
  std::size_t samples = 5;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  ///< from 0; empty: half matrix
  bool compressed = false;
  double start = 1e-6;
  double step = 4e-8;
  std::map<std::string, Bytes> replaced;  ///< fields of exp_data to replace; empty bytes leave the field out
  std::map<std::string, Bytes> replaced_in_array;

  [[nodiscard]] Bytes structure() const;
  [[nodiscard]] Bytes file() const;
};
inline double brain_sample(std::size_t tx, std::size_t rx, std::size_t n) {
  return static_cast<double>(100 * tx + 10 * rx + n) / 1024.0;
}

}  // namespace echoform::test
