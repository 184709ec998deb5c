// Options of the pairing stage for arrays whose elements fire in turn.
#pragma once

#include <cstddef>
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

}  // namespace echoform::test
