// Of a plane wave that is stated for the whole probe, what the elements that fire send of it: its part along their row.
#include "acquisition/firing_shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/positions.hpp"

namespace echoform::test {
namespace {

/// 3 x 3 elements, 1 mm apart, number 3 y + x.
Probe matrix() {
  Probe probe = make_linear_probe(9, Metres(1e-3), Metres(0.8e-3), Hertz(5e6), Hertz(0.0));
  for (std::size_t k = 0; k < 9; ++k) {
    probe.elements[k].centre = {
        Metres(1e-3 * (static_cast<double>(k % 3) - 1.0)), Metres(1e-3 * (static_cast<double>(k / 3) - 1.0)), {}};
  }
  return probe;
}

Direction sent(const std::vector<std::uint32_t>& elements, const PlaneWaveEvent& event) {
  const Probe probe = matrix();
  const ProbeFrame frame = frame_of(probe);
  std::vector<Firing> firings;
  for (const std::uint32_t element : elements) firings.push_back({element});
  return sent_slowness(event, frame, places_of_firings(probe, frame, firings));
}

PlaneWaveEvent wave(double x, double y, double z) {
  PlaneWaveEvent event;
  event.slowness_x = x;
  event.slowness_y = y;
  event.slowness_z = z;
  return event;
}

TEST(SentSlowness, OfAnArrayIsThatOfTheWave) {
  const Direction all = sent({0, 1, 2, 3, 4, 5, 6, 7, 8}, wave(3e-4, 5e-4, 7e-4));
  EXPECT_DOUBLE_EQ(all.x, 3e-4);
  EXPECT_DOUBLE_EQ(all.y, 5e-4);
  EXPECT_DOUBLE_EQ(all.z, 0.0);
}

TEST(SentSlowness, OfARowIsItsPartAlongTheRow) {
  const PlaneWaveEvent event = wave(3e-4, 5e-4, 7e-4);
  const Direction across = sent({0, 1, 2}, event);
  EXPECT_DOUBLE_EQ(across.x, 3e-4);
  EXPECT_DOUBLE_EQ(across.y, 0.0);
  const Direction down = sent({1, 4, 7}, event);
  EXPECT_NEAR(std::abs(down.x), 5e-4, 1e-18);
  EXPECT_DOUBLE_EQ(down.y, 0.0);
  // Along (1, 1, 0) / sqrt(2), of either sign as the row's axis goes.
  const Direction diagonal = sent({0, 4, 8}, event);
  EXPECT_NEAR(std::abs(diagonal.x), (3e-4 + 5e-4) / std::numbers::sqrt2, 1e-18);
  const Direction other = sent({2, 4, 6}, event);
  EXPECT_NEAR(std::abs(other.x), (5e-4 - 3e-4) / std::numbers::sqrt2, 1e-18);
}

Acquisition two_positions() {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(3, Metres(1e-3), Metres(0.8e-3), Hertz(5e6), Hertz(0.0));
  acquisition.samples = 8;
  acquisition.sample_rate = Hertz(40e6);
  acquisition.positions = {{}, {.origin = {Metres(5e-3), {}, {}}}};
  for (std::uint32_t position = 0; position < 2; ++position) {
    for (std::uint32_t element = 0; element < 3; ++element) {
      acquisition.events.push_back(TransmitEvent{ElementEvent{element}, {}});
      acquisition.events.back().position = position;
    }
  }
  return acquisition;
}

// Events that fire every element in turn are what no events mean.
TEST(PartAtAPosition, IsAFullMatrixOnlyWhereEveryElementFiresInTurn) {
  Acquisition acquisition = two_positions();
  EXPECT_TRUE(part_at(acquisition, 1).acquisition.events.empty());
  EXPECT_EQ(part_at(acquisition, 1).events, (std::vector<std::uint32_t>{3, 4, 5}));
  std::swap(acquisition.events[3].form, acquisition.events[4].form);
  EXPECT_EQ(part_at(acquisition, 1).acquisition.events.size(), 3U) << "another order";
  EXPECT_TRUE(part_at(acquisition, 0).acquisition.events.empty());
  acquisition.events.pop_back();
  EXPECT_EQ(part_at(acquisition, 1).acquisition.events.size(), 2U) << "one is missing";
}

}  // namespace
}  // namespace echoform::test
