// What [unmixing] makes of images at several wavelengths, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "methods/tomography/plan.hpp"
#include "stages/unmixing/unmixing.hpp"
#include "tests/support/input_error.hpp"
#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

/// Of a ring at 750, 800 and 850 nm, with one ball of blood at each of two places. Absorption is that of S. Prahl's table, in
/// 1/cm per mol/l.
struct Blood {
  static constexpr double oxygenated[] = {518.0, 816.0, 1058.0};
  static constexpr double deoxygenated[] = {1405.0, 762.0, 691.0};
  static constexpr double lengths[] = {750e-9, 800e-9, 850e-9};
  // Concentrations of HbO2 and Hb: saturations of 0.9 and 0.4.
  static constexpr double of_left[] = {0.9e-3, 0.1e-3};
  static constexpr double of_right[] = {0.6e-3, 0.9e-3};
  static constexpr double energies[] = {2e-3, 1e-3, 1.5e-3};
  const Point left{Metres(-2.5e-3), Metres(0.0), Metres(0.0)};
  const Point right{Metres(2.5e-3), Metres(0.0), Metres(0.0)};
};

PassiveFrame blood_frame(bool energies_count) {
  const Blood blood;
  Acquisition acquisition = ring(64, 30e-3);
  acquisition.events.clear();
  for (std::size_t n = 0; n < 3; ++n) {
    acquisition.events.push_back({PassiveEvent{Metres(Blood::lengths[n]), energies_count ? Blood::energies[n] : 0.0}, {}, 0});
  }
  PassiveFrame frame{acquisition, {}};
  for (std::size_t n = 0; n < 3; ++n) {
    Acquisition alone = ring(64, 30e-3);
    const auto ball = [&](const Point& centre, const double(&amounts)[2]) {
      return Ball{centre, 1.2e-3, Blood::oxygenated[n] * amounts[0] + Blood::deoxygenated[n] * amounts[1], 0.25e-3};
    };
    PassiveFrame one = heard(alone, {ball(blood.left, Blood::of_left), ball(blood.right, Blood::of_right)});
    const double energy = energies_count ? Blood::energies[n] : 1.0;
    for (float& sample : one.samples) sample *= static_cast<float>(energy);
    frame.samples.insert(frame.samples.end(), one.samples.begin(), one.samples.end());
  }
  return frame;
}

float value_at(const Tomogram& image, const Point& at) {
  std::size_t nearest = 0;
  for (std::size_t k = 1; k < image.values.size(); ++k) {
    if (distance(image.grid.at(k), at) < distance(image.grid.at(nearest), at)) nearest = k;
  }
  return image.values[nearest];
}

constexpr const char* unmixed = "[unmixing]\ncomponents = [\"HbO2\", \"Hb\"]\n";

std::string blood_text(const std::string& section, const std::string& keys = "") {
  return tomography_text(keys, cube(Point{}, 5e-3, 41, true) + section);
}

std::string refusal_of(const Acquisition& acquisition, const std::string& text) {
  return input_error([&] { static_cast<void>(tomography_setup(acquisition, text)); });
}

TEST(UnmixingImages, FindHowMuchOfEachFormThereIs) {
  const Blood blood;
  for (const bool energies : {false, true}) {
    const PassiveFrame frame = blood_frame(energies);
    const auto setup = tomography_setup(frame.acquisition, blood_text(unmixed));
    EXPECT_THAT(setup->recipe.views(), testing::ElementsAre("image", "750nm", "800nm", "850nm", "HbO2", "Hb", "saturation"));
    const Tomogram saturation = tomogram_of(frame, blood_text(unmixed), "saturation");
    // What is found of a form is the back-projection of its concentrations: beside the ball itself that has some of the other
    // one, 0.3 % of it from these few detectors.
    EXPECT_NEAR(value_at(saturation, blood.left), 0.9F, 3e-3F);
    EXPECT_NEAR(value_at(saturation, blood.right), 0.4F, 3e-3F);
    EXPECT_TRUE(std::isnan(value_at(saturation, Point{Metres(0.0), Metres(0.0), Metres(4.5e-3)}))) << "nothing is there";
    const Tomogram oxygenated = tomogram_of(frame, blood_text(unmixed), "HbO2");
    const Tomogram deoxygenated = tomogram_of(frame, blood_text(unmixed), "Hb");
    EXPECT_NEAR(value_at(oxygenated, blood.left) / value_at(deoxygenated, blood.left), 9.0F, 0.3F);
    EXPECT_NEAR(value_at(oxygenated, blood.left) / value_at(oxygenated, blood.right), 1.5F, 0.015F);
  }
}

TEST(UnmixingImages, OfNonNegativeFitsHaveNothingBelowZero) {
  const PassiveFrame frame = blood_frame(false);
  const auto least = [&](const std::string& more) {
    const Tomogram image = tomogram_of(frame, blood_text(unmixed + more), "Hb");
    return *std::min_element(image.values.begin(), image.values.end());
  };
  EXPECT_LT(least(""), 0.0F) << "a back-projection has something below 0";
  EXPECT_EQ(least("non_negative = true\n"), 0.0F);
}

TEST(UnmixingImages, AreRetunedByTheirDisplayKeys) {
  const PassiveFrame frame = blood_frame(false);
  const auto before = tomography_setup(frame.acquisition, blood_text(unmixed), true);
  const std::string other = std::string(unmixed) + "non_negative = true\nthreshold = 0.5\n";
  const Configuration wanted = parse_configuration(blood_text(other), "tomography.toml");
  const auto after = find_method("tomography")->retuned(*before, wanted, 7);
  const auto anew = tomography_setup(frame.acquisition, blood_text(other), true);
  EXPECT_EQ(after->recipe.steps, anew->recipe.steps);
  EXPECT_NE(after->recipe.steps, before->recipe.steps);
}

TEST(UnmixingImages, AreRefusedWhereNothingCanBeTold) {
  const Acquisition three = blood_frame(false).acquisition;
  const auto refused = [&](const std::string& section, const std::string& keys = "") {
    return refusal_of(three, blood_text(section, keys));
  };
  EXPECT_EQ(refused("[unmixing]\ncomponents = [\"melanin\"]\n"),
            "tomography.toml: [unmixing] components: found \"melanin\"; expected \"HbO2\" and \"Hb\", or spectra beside it");
  EXPECT_EQ(refused("[unmixing]\ncomponents = [\"Hb\", \"Hb\"]\n"),
            "tomography.toml: [unmixing] components: found \"Hb\" twice; expected each once");
  EXPECT_EQ(
      refused(unmixed, "wavelengths = [750e-9]\n"),
      "tomography.toml: [unmixing] components: found 2 of images at 1 wavelength; expected as many wavelengths as components "
      "at least, and at most 32");
  EXPECT_NE(refused("[unmixing]\nspectra = \"none.csv\"\n"), "");
  EXPECT_NE(refused("[unmixing]\ncomponents = [\"a\"]\nspectra = \"none.csv\"\n"), "") << "a file that is not there";
  EXPECT_NE(refused("[unmixing]\ncomponents = [\"image\"]\nspectra = \"none.csv\"\n"), "");
  Acquisition beyond = three;
  beyond.events[2].form = PassiveEvent{Metres(1064e-9), 0.0};
  EXPECT_EQ(refusal_of(beyond, blood_text(unmixed)),
            "tomography.toml: [unmixing] components: found an image at 1064nm; expected wavelengths of 700 to 900 nm, where the "
            "absorption is known");
  Acquisition unknown = ring(64, 30e-3);
  EXPECT_NE(refusal_of(unknown, blood_text(unmixed)), "");
}

}  // namespace
}  // namespace echoform::test
