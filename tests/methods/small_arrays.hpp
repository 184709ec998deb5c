// Small arrays, and questions to them, for tests of plans.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::test {

/// 16 elements 0.6 mm apart, of 5 MHz.
inline Probe sixteen_elements() {
  return make_linear_probe(16, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
}

/// Full matrices of a probe.
inline Acquisition frames_of(Probe probe, std::size_t samples, Hertz sample_rate, Seconds start_time = {}) {
  Acquisition acquisition;
  acquisition.probe = std::move(probe);
  acquisition.samples = samples;
  acquisition.sample_rate = sample_rate;
  acquisition.start_time = start_time;
  return acquisition;
}

/// Whether each element is alive, that is, not dead.
inline std::vector<bool> living(const Probe& probe) {
  std::vector<bool> alive;
  for (const Element& element : probe.elements) alive.push_back(!element.dead);
  return alive;
}

}  // namespace echoform::test
