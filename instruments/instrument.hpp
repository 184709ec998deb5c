// Instruments with interfaces of their own. Each is a line in instruments.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "instruments/simulated_peer.hpp"
#include "simulators/simulator_configuration.hpp"
#include "transport/doors.hpp"

namespace echoform {

struct Instrument {
  std::string_view name;             ///< as in [input.NAME] and `echoform instrument NAME`
  std::string_view title;            ///< for people
  std::string_view simulated_title;  ///< likewise, of the simulated one: "a simulated TITLE"
  std::string_view simulated_place;  ///< where the simulated one listens if nothing else is asked for: ADDRESS:PORT
  KeyGroup (*keys)() = nullptr;      ///< the section [input.NAME]
  /// Opens the source; none where the configuration names no such instrument. Throws InputError, naming the key, for
  /// settings that the instrument does not support. Time-outs use `clock`, which must outlive the source.
  OpenSource (*open)(const Configuration& configuration, const Clock& clock) = nullptr;
  /// Makes a simulated instrument that records `scene`.
  std::unique_ptr<SimulatedPeer> (*simulate)(const Configuration& configuration, SimulatorConfiguration scene) = nullptr;
};

[[nodiscard]] const std::vector<Instrument>& instruments();

}  // namespace echoform
