// The table of instruments: what the program knows of one follows from its line.
#include "instruments/instrument.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "settings/key_table.hpp"

namespace echoform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Instruments, AreThoseOfTheTree) {
  std::vector<std::string> names;
  for (const Instrument& instrument : instruments()) names.emplace_back(instrument.name);
  EXPECT_THAT(names, ElementsAre("micropulse", "us_lab4a"));
}

TEST(Instruments, HaveASectionOfTheirName) {
  for (const Instrument& instrument : instruments()) {
    const std::string section = "input." + std::string(instrument.name);
    const KeyGroup group = instrument.keys();
    ASSERT_EQ(group.sections.size(), 1U) << section;
    EXPECT_EQ(group.sections[0].name, section);
    EXPECT_THAT(std::string(group.sections[0].help), HasSubstr("(docs/" + std::string(instrument.name) + ".md)"));
    EXPECT_TRUE(std::ranges::all_of(group.keys, [&](const Key& key) { return key.section == section; })) << section;
    // In the table of all keys too.
    EXPECT_TRUE(std::ranges::any_of(configuration_keys(), [&](const Key& key) { return key.path() == section + ".connect"; }));
  }
}

TEST(Instruments, AreNotConnectedToUnlessTheyAreNamed) {
  const Configuration untouched;
  ManualClock clock;
  for (const Instrument& instrument : instruments()) {
    EXPECT_EQ(instrument.open(untouched, clock).source, nullptr) << instrument.name;
  }
}

TEST(Instruments, AreSimulatedAtAPlaceOfTheirOwn) {
  std::vector<std::uint16_t> ports;
  for (const Instrument& instrument : instruments()) {
    const HostPort place = parse_host_port(instrument.simulated_place, "place");
    EXPECT_EQ(place.host, "127.0.0.1");
    EXPECT_EQ(std::ranges::count(ports, place.port), 0) << instrument.name;
    ports.push_back(place.port);
    const auto peer = instrument.simulate(Configuration(), demo_simulator(1));
    ASSERT_NE(peer, nullptr);
    EXPECT_EQ(peer->frames(), 0U);
  }
}

TEST(KeyTable, HasSectionsBehindThoseThatTheyArePartOf) {
  std::vector<std::string> names;
  for (const Section& section : configuration_sections()) names.emplace_back(section.name);
  const auto at = [&](const std::string& name) { return std::ranges::find(names, name) - names.begin(); };
  std::ptrdiff_t place = at("input");
  for (const Instrument& instrument : instruments()) EXPECT_EQ(at("input." + std::string(instrument.name)), ++place);
  EXPECT_EQ(at("server"), ++place);
}

}  // namespace
}  // namespace echoform
