#include "acquisition/event_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace echoform {
namespace {

constexpr MetresPerSecond aluminium(6320.0);
constexpr double degree = std::numbers::pi / 180.0;

std::string text_of(std::vector<TransmitEvent> events, MetresPerSecond velocity = aluminium) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(8, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.events = std::move(events);
  return events_text(acquisition, velocity);
}

TEST(EventText, NamesElements) {
  EXPECT_EQ(text_of(element_events(std::vector<std::uint32_t>{6, 0, 3})), "elements 6, 0, 3");
  EXPECT_EQ(text_of(element_events(std::vector<std::uint32_t>{5})), "element 5");
  EXPECT_EQ(text_of({}), "");
}

TEST(EventText, SaysAnglesWhereItKnowsTheVelocity) {
  std::vector<TransmitEvent> fan;
  for (const double angle : {-10.0, 0.0, 10.0}) fan.push_back({plane_wave(angle * degree, aluminium), {}});
  EXPECT_EQ(text_of(fan), "plane waves at -10, 0, 10 degrees in 6320 m/s");
  EXPECT_EQ(text_of(fan, MetresPerSecond(0.0)), "plane waves of slowness -0.02748, 0, 0.02748 us/mm");
  // 10 degrees in aluminium is faster along the array than any wave of a medium of 40000 m/s.
  EXPECT_EQ(text_of({fan[2]}, MetresPerSecond(40000.0)), "plane wave of slowness 0.02748 us/mm");
}

TEST(EventText, SaysBothAnglesOfAWaveAcross) {
  const double a = 20.0 * degree;
  const double b = -5.0 * degree;
  const PlaneWaveEvent wave{std::sin(a) * std::cos(b) / aluminium.value, std::sin(b) / aluminium.value, std::nullopt, {}};
  EXPECT_EQ(text_of({{wave, {}}}), "plane wave at (20, -5) degrees in 6320 m/s");
}

TEST(EventText, SaysFormsOneAfterTheOtherAndWhoRecords) {
  EXPECT_EQ(text_of({{PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(-0.02)}, aluminium, std::nullopt, {}}, {1, 2}},
                     {PointWaveEvent{{Metres(-1e-3), Metres(0.0), Metres(0.03)}, aluminium, std::nullopt, {}}, {}},
                     {LawEvent{{1, 2}, {}, {}}, {3}}}),
            "waves from (0, 0, -20) mm, focused at (-1, 0, 30) mm; law of 2 elements; recorded by 1 to 8 elements each");
  EXPECT_EQ(text_of(hadamard_events(8)), "8 rows of a code");
}

TEST(EventText, OfManyEventsIsShort) {
  std::vector<TransmitEvent> events(4096, TransmitEvent{plane_wave(0.1, aluminium), {}});
  EXPECT_LT(text_of(events).size(), 200U);
  for (std::size_t i = 0; i < events.size(); i += 2) events[i].form = LawEvent{{1}, {}, {}};
  EXPECT_LT(text_of(events).size(), 1000U);
}

TEST(EventFacts, AreWhatAFormStates) {
  EXPECT_EQ(facts_of(ElementEvent{3}).form, "element");
  const EventFacts wave = facts_of(PlaneWaveEvent{1e-5, 0.0, Seconds(1e-6), {2}});
  EXPECT_EQ(wave.form, "plane_wave");
  ASSERT_EQ(wave.numbers.size(), 4U);
  EXPECT_EQ(wave.numbers[2].first, "delay");
  EXPECT_EQ(std::get<double>(wave.numbers[2].second), 1e-6);
  EXPECT_EQ(std::get<std::vector<std::uint32_t>>(wave.numbers[3].second), std::vector<std::uint32_t>{2});
  EXPECT_EQ(facts_of(PlaneWaveEvent{}).numbers.size(), 2U);
  EXPECT_EQ(facts_of(LawEvent{{1}, {}, {}}).numbers.size(), 1U);
  EXPECT_EQ(facts_of(LawEvent{{1}, {}, {0.5F}}).numbers.size(), 2U);
  EXPECT_EQ(facts_of(LawEvent{{1}, {}, {0.5F}}).numbers.back().first, "weights");
  EXPECT_EQ(facts_of(LawEvent{{1}, {1e-6F}, {}}).numbers.size(), 2U);
  EXPECT_EQ(facts_of(LawEvent{{1}, {1e-6F}, {}}).numbers.back().first, "delays");
  EXPECT_EQ(std::get<std::vector<std::int8_t>>(facts_of(CodeEvent{{1, -1, 0}}).numbers[0].second),
            (std::vector<std::int8_t>{1, -1, 0}));
}

}  // namespace
}  // namespace echoform
