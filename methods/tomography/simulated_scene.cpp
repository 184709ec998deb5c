#include "methods/tomography/simulated_scene.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "config/probe_positions.hpp"
#include "simulators/detector_array.hpp"
#include "simulators/simulator_section.hpp"
#include "simulators/sound_section.hpp"

namespace echoform {
namespace {

/// Refuses the keys that describe echoes.
void refuse_echoes(const Configuration& configuration) {
  const auto refuse = [&](bool stated, std::string_view key, std::string_view instead) {
    if (!stated) return;
    throw InputError(configuration.place(key), "a value for a source of sound that light makes",
                     fmt::format("no such key: {}", instead));
  };
  const SimulatorSection& simulator = section<SimulatorSection>(configuration);
  constexpr std::string_view nothing = "nothing echoes";
  refuse(simulator.points.has_value(), "[simulator] points", nothing);
  refuse(simulator.holes.has_value(), "[simulator] holes", nothing);
  refuse(simulator.spheres.has_value(), "[simulator] spheres", nothing);
  refuse(simulator.cylinders.has_value(), "[simulator] cylinders", nothing);
  refuse(simulator.discs.has_value(), "[simulator] discs", nothing);
  refuse(simulator.plates.has_value(), "[simulator] plates", nothing);
  refuse(simulator.backwall.has_value(), "[simulator] backwall", nothing);
  refuse(simulator.modes.has_value(), "[simulator] modes", nothing);
  refuse(simulator.skips.has_value(), "[simulator] skips", nothing);
  refuse(!simulator.delays.empty(), "[simulator] delays", "nobody transmits");
  refuse(!simulator.weights.empty(), "[simulator] weights", "nobody transmits");
  refuse(!configuration.surface.kind.empty(), "[surface] kind", nothing);
  refuse(!configuration.backwall.kind.empty(), "[backwall] kind", nothing);
  refuse(configuration.couplant.velocity.has_value(), "[couplant] velocity", "its medium is of one speed");
  constexpr std::string_view placed = "[detectors] centre moves them";
  refuse(configuration.probe.stand_off.has_value(), "[probe] stand_off", placed);
  refuse(configuration.probe.angle.has_value(), "[probe] angle", placed);
  refuse(configuration.probe.x.has_value(), "[probe] x", placed);
}

}  // namespace

SimulatorConfiguration simulated_sound(const Configuration& configuration) {
  const SimulatorSection& section = echoform::section<SimulatorSection>(configuration);
  refuse_echoes(configuration);
  SimulatorConfiguration source = section.source;
  source.phantom = {};
  const auto velocity =
      section.longitudinal_velocity ? section.longitudinal_velocity : configuration.material.longitudinal_velocity;
  if (!velocity) {
    throw InputError(configuration.place("[material] longitudinal_velocity"), "no value", "the speed of sound, in m/s");
  }
  source.material = {*velocity, MetresPerSecond(0.0)};
  source.positions = stated_positions(configuration);

  const SoundSection& sound = echoform::section<SoundSection>(configuration);
  source.sound = SoundScene{echoform::section<DetectorArray>(configuration), sound.sources};
  SoundSources& sources = source.sound->sources;
  for (std::size_t k = 0; k < sources.balls.size(); ++k) sources.balls[k].name = fmt::format("ball {}", k);
  for (std::size_t k = 0; k < sources.vessels.size(); ++k) sources.vessels[k].name = fmt::format("vessel {}", k);
  if (!sound.haemoglobin.empty()) {
    sources.haemoglobin = read_haemoglobin(sound.haemoglobin, configuration.place("[simulator] haemoglobin"));
  }
  validate(source, fmt::format("{}: [simulator]", configuration.name()));
  return source;
}

}  // namespace echoform
