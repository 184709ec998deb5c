#include "acquisition/detectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.hpp"

namespace echoform::test {
namespace {

TEST(Detectors, StandWhereTheirEventsPositionPutsThem) {
  Acquisition acquisition;
  acquisition.probe.elements = {{{Metres(0.0), Metres(0.0), Metres(-0.04)}, {0.0, 0.0, 1.0}, Metres(1e-3), Metres(5e-3)},
                                {{Metres(0.04), Metres(0.0), Metres(0.0)}, {-2.0, 0.0, 0.0}, Metres(1e-3), Metres(5e-3)}};
  // The second position is a quarter of a turn about z: x becomes y.
  acquisition.positions = {{}, {{}, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}}};
  acquisition.events = {{PassiveEvent{}, {}, 0}, {PassiveEvent{}, {1, 0}, 1}};
  const std::vector<Detector> rows = detectors_of(acquisition);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].centre.x.value, 0.04);
  EXPECT_NEAR(rows[1].normal.x, -1.0, 1e-15);
  // Its width cannot lie along x, which it faces: along z, as a neighbour's in a ring nearly does.
  EXPECT_NEAR(std::abs(rows[1].across.z), 1.0, 1e-15);
  EXPECT_NEAR(rows[2].centre.y.value, 0.04, 1e-15);
  EXPECT_NEAR(rows[2].normal.y, -1.0, 1e-15);
  EXPECT_NEAR(rows[3].centre.z.value, -0.04, 1e-15);
  EXPECT_NEAR(rows[3].across.y, 1.0, 1e-15);
  EXPECT_EQ(rows[3].width.value, 1e-3);
  EXPECT_EQ(rows[3].length.value, 5e-3);
}

TEST(Detectors, FaceAnywhereAtEveryPosition) {
  Acquisition acquisition;
  acquisition.probe.elements = {{{Metres(0.0), Metres(0.0), Metres(0.04)}, {0.0, 0.0, -1.0}, Metres(0.0), Metres(0.0)}};
  acquisition.samples = 16;
  acquisition.sample_rate = Hertz(1e6);
  acquisition.positions = {{}, {{}, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}}};
  acquisition.events = {{PassiveEvent{}, {}, 0}, {PassiveEvent{}, {}, 1}};
  EXPECT_NO_THROW(validate(acquisition, {}, "data"));
  acquisition.events.pop_back();
  EXPECT_THAT([&] { validate(acquisition, {}, "data"); },
              testing::ThrowsMessage<InputError>("data position 1: found no event; expected at least one that fires there"));
  acquisition.events = {{ElementEvent{0}, {}, 0}, {ElementEvent{0}, {}, 1}};
  EXPECT_THAT([&] { validate(acquisition, {}, "data"); }, testing::Throws<InputError>());
}

}  // namespace
}  // namespace echoform::test
