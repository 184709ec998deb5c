// What a simulated array is told: whatever it is, and however it is cut, it says the same. Nothing fires: that would simulate a
// scene for each input.
//
// Input: two bytes that say where to cut, then the bytes of a connection.
#include <string>
#include <vector>

#include "instruments/us_lab4a/simulator/simulated_array.hpp"
#include "tests/fuzz/input.hpp"

namespace echoform::us_lab4a_simulator {
namespace {

std::vector<std::uint8_t> said_to(std::string_view text, std::size_t first) {
  // Of a scene in which light makes sound no signal is made.
  SimulatorConfiguration scene;
  scene.elements = 2;
  scene.sound.emplace();
  SimulatedArray array(scene);
  array.greet();
  for (const std::string_view part : {text.substr(0, first), text.substr(first)}) {
    fuzz::require(!array.hear(part, SteadyTime{0}), "it never pauses");
  }
  if (!array.doubt().empty()) fuzz::require_one_line(array.doubt());
  return array.outbox;
}

}  // namespace
}  // namespace echoform::us_lab4a_simulator

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  fuzz::Input input(data, size);
  const auto cut = input.take<std::uint16_t>();
  const std::string_view text = input.text();
  const auto whole = us_lab4a_simulator::said_to(text, text.size());
  fuzz::require(us_lab4a_simulator::said_to(text, text.empty() ? 0 : cut % text.size()) == whole, "cut in two, it says the same");
  return 0;
}
