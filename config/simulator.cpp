#include <fmt/format.h>

#include "config/configuration.hpp"

namespace echoform {

SimulatorConfiguration simulator_configuration(const Configuration& configuration) {
  const SimulatorSection& section = configuration.simulator;
  SimulatorConfiguration source = section.source;
  if (section.points || section.holes || section.backwall) {
    Phantom part;
    if (section.points) part.points = *section.points;
    if (section.holes) part.holes = *section.holes;
    for (std::size_t i = 0; i < part.points.size(); ++i) part.points[i].name = fmt::format("point {}", i);
    for (std::size_t i = 0; i < part.holes.size(); ++i) part.holes[i].name = fmt::format("hole {}", i);
    if (section.backwall) part.backwalls.push_back({.name = "backwall", .depth = *section.backwall});
    source.phantom = std::move(part);
  } else {
    source.phantom = default_phantom(source.seed);
  }
  validate(source, fmt::format("{}: [simulator]", configuration.name()));
  return source;
}

}  // namespace echoform
