#include "instruments/instrument.hpp"
#include "instruments/us_lab4a/simulator/simulated_array.hpp"
#include "instruments/us_lab4a/us_lab4a_door.hpp"

namespace echoform {
namespace {

std::unique_ptr<SimulatedPeer> make_simulated_us_lab4a(const Configuration& /*configuration*/, SimulatorConfiguration scene) {
  return std::make_unique<us_lab4a_simulator::SimulatedArray>(std::move(scene));
}

}  // namespace

Instrument us_lab4a_instrument() {
  return {.name = "us_lab4a",
          .title = "us_lab4a",
          .simulated_title = "array of us_lab4a",
          .simulated_place = "127.0.0.1:55500",
          .keys = us_lab4a_keys,
          .open = make_us_lab4a_door,
          .simulate = make_simulated_us_lab4a};
}

}  // namespace echoform
