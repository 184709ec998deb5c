#include "instruments/instrument.hpp"
#include "instruments/micropulse/micropulse_door.hpp"
#include "instruments/micropulse/micropulse_section.hpp"
#include "instruments/micropulse/simulator/simulated_instrument.hpp"

namespace echoform {
namespace {

std::unique_ptr<SimulatedPeer> make_simulated_micropulse(const Configuration& configuration, SimulatorConfiguration scene) {
  const auto& stated = section<MicropulseSection>(configuration);
  const micropulse_simulator::Habits habits{.high_bits = stated.justified == MicropulseJustified::high,
                                            .channel_base = static_cast<unsigned>(stated.channel_base)};
  return std::make_unique<micropulse_simulator::SimulatedInstrument>(std::move(scene), habits);
}

}  // namespace

Instrument micropulse_instrument() {
  return {.name = "micropulse",
          .title = "MicroPulse",
          .simulated_title = "MicroPulse",
          .simulated_place = "127.0.0.1:1067",
          .keys = micropulse_keys,
          .open = make_micropulse_door,
          .simulate = make_simulated_micropulse};
}

}  // namespace echoform
