// Display images that reach beyond the image: what was not imaged is told from what gave no echo.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "methods/display_settings.hpp"
#include "methods/filter_settings.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/section.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

class DisplayGaps : public EnginesAt {
 protected:
  DisplayGaps() {
    acquisition = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {})->acquisition;
    configuration.grid.x = {Metres(-5.1e-3), Metres(5.3e-3)};
    configuration.grid.z = {Metres(1.03e-3), Metres(11.9e-3)};
    configuration.grid.pixels = {21, 19};
    configuration.material.longitudinal_velocity = MetresPerSecond(6320.0);
    configuration.imaging.threads = 2;
    section<FilterSection>(configuration).kind = FilterWish::none;
    tfm(configuration).accuracy = GetParam().accuracy;
    display().pixels = {50, 40};
    // One decibel: nearly every pixel of noise is below the lower end.
    section<OutputSection>(configuration).dynamic_range_db = 1.0;
  }

  DisplaySection& display() { return section<DisplaySection>(configuration); }

  void image() {
    setup = resolve_imaging({.configuration = configuration, .acquisition = acquisition, .frames_in_flight = 1});
    const auto engine = make_engine(setup, {.automatic = false, .kind = GetParam().backend, .threads = 2}, {.slots = 1});
    engine->equip(slot);
    put(random_frame(acquisition, 7), slot);
    ASSERT_TRUE(image_now(*engine, slot));
    at = setup->recipe.find("LL", OutputKind::display).value();
  }

  /// Pixels of level 0.
  [[nodiscard]] std::size_t dark() const {
    const auto* const levels = static_cast<const std::uint8_t*>(slot.outputs.at(at).data.data());
    return static_cast<std::size_t>(std::count(levels, levels + 50 * 40, std::uint8_t{0}));
  }

  Acquisition acquisition;
  Configuration configuration;
  std::shared_ptr<const ImagingSetup> setup;
  FrameSlot slot;
  std::size_t at = 0;
};

TEST_P(DisplayGaps, OutsideOfTheGridThereIsNoValue) {
  for (const auto interpolation : {ScanInterpolation::nearest, ScanInterpolation::bilinear, ScanInterpolation::cubic}) {
    display().interpolation = interpolation;
    display().x = std::array{Metres(-10.3e-3), Metres(10.3e-3)};
    image();
    EXPECT_TRUE(setup->recipe.outputs[at].description.scale.masked);
    const Axis& x = setup->recipe.outputs[at].description.grid.x;
    std::size_t outside = 0;
    for (std::size_t k = 0; k < x.count; ++k) {
      if (x.at(k) < Metres(-5.1e-3) || x.at(k) > Metres(5.3e-3)) ++outside;
    }
    ASSERT_GT(outside, 10U);
    EXPECT_EQ(dark(), outside * 40) << "every pixel outside, and none of the image";
  }
}

TEST_P(DisplayGaps, WithinItEveryPixelHasALevel) {
  display().interpolation = ScanInterpolation::cubic;
  image();
  EXPECT_FALSE(setup->recipe.outputs[at].description.scale.masked);
  EXPECT_GT(dark(), 100U) << "0 is the lower end of the dynamic range";
}

INSTANTIATE_TEST_SUITE_P(, DisplayGaps, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace echoform::test
