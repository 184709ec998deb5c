// The scene as simulated instruments record it.
#pragma once

#include <cmath>
#include <cstddef>

#include "simulators/fmc_simulator.hpp"

namespace echoform {

/// A configuration for a full matrix of the scene in counts. The instrument determines which elements fire, when samples are
/// taken and the gain. `gain_db` is a gain on top of that for which the scene's full scale holds, and lowers the full scale.
[[nodiscard]] inline SimulatorConfiguration heard_scene(SimulatorConfiguration scene, std::size_t samples, Hertz sample_rate,
                                                        Seconds start_time, double gain_db) {
  scene.samples = samples;
  scene.sample_rate = sample_rate;
  scene.start_time = start_time;
  scene.time_offset = Seconds{};
  scene.encoding = SampleEncoding::int16;
  scene.quantised = true;
  scene.matrix = MatrixKind::full;
  scene.transmit = {};
  scene.positions.clear();
  scene.events.clear();
  scene.full_scale *= std::pow(10.0, -gain_db / 20.0);
  return scene;
}

}  // namespace echoform
