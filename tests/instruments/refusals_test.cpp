// Settings and registers of a MicroPulse that contradict each other: each is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "instruments/micropulse/instrument_settings.hpp"
#include "instruments/micropulse/simulator/simulated_cycle.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

micropulse_simulator::Registers whole_registers() {
  micropulse_simulator::Registers registers;
  registers.mode = 13;
  registers.rectifier = 1;
  registers.voltage = 100;
  registers.width = 100;
  registers.gate = {0, 100};
  registers.transmit[1] = {{1, 0}};
  registers.receive[1] = {{1, 0}, {2, 0}};
  registers.transmit_of[256] = 1;
  registers.receive_of[256] = 1;
  registers.sweeps[1] = {256};
  registers.enabled = {1};
  return registers;
}

TEST(MicropulseRefusals, RegistersOfASimulatedCycle) {
  using micropulse_simulator::Registers;
  SimulatorConfiguration scene;
  scene.elements = 4;
  const auto refused = [&](const std::function<void(Registers&)>& change) {
    Registers registers = whole_registers();
    change(registers);
    return test::input_error([&] { const micropulse_simulator::SimulatedCycle cycle(registers, scene, {}); });
  };
  ASSERT_EQ(refused([](Registers& /*r*/) {}), "");
  const std::string here = "MicroPulse simulator: ";
  EXPECT_EQ(refused([](Registers& r) { r.mode = 3; }), here + "found mode 3; expected mode 13, an A-scan a channel (AMP 0 13 n)");
  EXPECT_EQ(refused([](Registers& r) { r.rectifier = 2; }),
            here + "found a rectified signal; expected the whole signal (AWF 0 1)");
  for (const auto part : {&Registers::voltage, &Registers::width})
    EXPECT_EQ(refused([&](Registers& r) { r.*part = 0; }), here + "found no pulse; expected its voltage and width (PAV, PAW)");
  EXPECT_EQ(refused([](Registers& r) { r.gate = {100, 100}; }), here + "found no gate; expected one (GAT)");
  EXPECT_EQ(refused([](Registers& r) { r.enabled.clear(); }),
            here + "found sweep 1 switched off; expected it switched on (SWP 1 ..., ENAS 1)");
  EXPECT_EQ(refused([](Registers& r) { r.transmit_of.clear(); }),
            here + "found test 256 without a law that transmits; expected laws of both directions with channels");
  EXPECT_EQ(refused([](Registers& r) { r.receive[1].clear(); }),
            here + "found test 256 without a law that receives; expected laws of both directions with channels");
  for (const auto laws : {&Registers::transmit, &Registers::receive}) {
    EXPECT_EQ(refused([&](Registers& r) { (r.*laws)[1][5] = 0; }),
              here + "found channels beyond 4; expected those that the scene's probe has elements for");
  }
  scene.sound.emplace();
  EXPECT_EQ(refused([](Registers& /*r*/) {}),
            here + "found a scene in which light makes sound; expected one that the probe transmits into");
}

TEST(MicropulseRefusals, SettingsOutsideOfTheirRanges) {
  using micropulse::InstrumentSettings;
  const auto refused = [](const std::function<void(InstrumentSettings&)>& change) {
    InstrumentSettings settings;
    change(settings);
    return test::input_error([&] { micropulse::validate(settings, "x.toml: [input.micropulse]"); });
  };
  const auto line = [](const std::string& key, const std::string& rest) {
    return "x.toml: [input.micropulse] " + key + ": found " + rest;
  };
  EXPECT_EQ(refused([](InstrumentSettings& /*s*/) {}), "");
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.smoothing = 2; }), line("smoothing", "2; expected 0 or 1"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.first_channel = 0; }), line("first_channel", "0; expected 1 to 2048"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.first_channel = 2049; }), line("first_channel", "2049; expected 1 to 2048"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.pulse_voltage = 60; }),
            line("pulse_voltage", "60; expected 50 to 200 V in steps of 25"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.pulse_width = 21; }),
            line("pulse_width", "21; expected 20 to 500 ns in steps of 2"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.filter = 5; }), line("filter", "5; expected 1 to 4"));
  EXPECT_EQ(refused([](InstrumentSettings& s) { s.averages_log2 = 7; }),
            line("averages", "2^7; expected a power of two up to 64"));
}

}  // namespace
}  // namespace echoform
