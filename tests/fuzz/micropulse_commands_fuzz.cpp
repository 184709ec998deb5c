// What a simulated MicroPulse is told: whatever it is, and however it is cut, it understands the same, and its
// registers stay within their limits. Nothing fires: that would simulate a scene for each input.
//
// Input: two bytes that say where to cut, then text.
#include <string>
#include <vector>

#include "instruments/micropulse/simulator/command_parser.hpp"
#include "instruments/micropulse/simulator/registers.hpp"
#include "tests/fuzz/input.hpp"

namespace echoform::micropulse_simulator {
namespace {

std::vector<Command> understood(std::string_view text, std::size_t first) {
  CommandParser parser;
  std::vector<Command> commands;
  for (const std::string_view part : {text.substr(0, first), text.substr(first)}) {
    parser.take(part);
    while (auto command = parser.next()) commands.push_back(std::move(*command));
  }
  return commands;
}

}  // namespace
}  // namespace echoform::micropulse_simulator

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  using namespace echoform::micropulse_simulator;
  fuzz::Input input(data, size);
  const auto cut = input.take<std::uint16_t>();
  const std::string_view text = input.text();
  const auto commands = understood(text, text.size());
  fuzz::require(understood(text, text.empty() ? 0 : cut % text.size()) == commands, "cut in two, the commands are the same");
  Registers registers;
  for (const Command& command : commands) {
    fuzz::require(command.complaint || !command.mnemonic.empty(), "a command has a mnemonic");
    if (command.complaint) continue;
    static_cast<void>(registers.set(command));
    fuzz::require(registers.repetition >= 1 && registers.repetition <= 55000, "a repetition within its limits");
    fuzz::require(registers.gate[1] - registers.gate[0] <= 8000, "a gate within its limits");
  }
  for (const auto& [sweep, tests] : registers.sweeps) fuzz::require(tests.size() <= 2047, "no more tests than there are");
  return 0;
}
