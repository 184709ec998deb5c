#include "apps/bench/scenario.hpp"
#include "methods/filter_settings.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform::bench {

Scenario scene_of(const Options& options, std::optional<std::size_t> elements, std::optional<std::size_t> samples) {
  Scenario scene;
  SimulatorConfiguration& source = section<SimulatorSection>(scene.configuration).source;
  source.elements = options.elements.value_or(elements.value_or(source.elements));
  source.samples = options.samples.value_or(samples.value_or(source.samples));
  source.cycle_frames = 8;
  const std::size_t pixels = options.pixels.value_or(256);
  scene.configuration.grid.pixels = {pixels, pixels};
  scene.configuration.grid.x = {Metres(-18e-3), Metres(18e-3)};
  scene.configuration.grid.z = {Metres(3e-3), Metres(39e-3)};
  scene.configuration.imaging.threads = options.threads;
  // `bench hilbert` measures what a filter costs.
  section<FilterSection>(scene.configuration).kind = FilterWish::none;
  scene.simulator = simulator_configuration(scene.configuration);
  return scene;
}

}  // namespace echoform::bench
