// Options of the pairing stage: for arrays whose elements fire in turn, and for rows as they were received.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::test {

struct PairingCase {
  std::size_t elements = 1;
  MatrixKind received = MatrixKind::full;
  bool reciprocal = true;
  std::vector<std::size_t> dead{};
  double scale = 1.0;
};

inline PairingOptions pairing_of(const PairingCase& test) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(test.elements);
  for (const std::size_t element : test.dead) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = test.received;
  return pairing_of(acquisition, test.reciprocal, test.scale);
}

/// Row k is A-scan k.
inline PairingOptions rows_as_received(std::size_t a_scans, double scale = 1.0) {
  auto sources = std::make_shared<std::vector<PairSource>>();
  for (std::size_t row = 0; row < a_scans; ++row) sources->push_back({row, row, 1.0F});
  return {a_scans, std::move(sources), scale};
}

}  // namespace echoform::test
