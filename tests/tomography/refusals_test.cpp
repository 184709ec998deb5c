// What tomography refuses, warns of and reports, a line each.
#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "methods/tomography/plan.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "tests/support/input_error.hpp"
#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

const std::string square = "[grid]\nx = [-0.004, 0.004]\nz = [-0.004, 0.004]\npixels = [9, 9]\n";

std::string refusal(const Acquisition& acquisition, const std::string& keys, const std::string& more = square,
                    double velocity = water) {
  return input_error([&] { static_cast<void>(tomography_setup(acquisition, tomography_text(keys, more, velocity))); });
}

TEST(TomographyRefusals, OfDataThatAreNoTomographs) {
  Acquisition active;
  active.probe = make_linear_probe(4, Metres(1e-3), Metres(0.0), Hertz(0.0), Hertz(0.0));
  active.samples = 100;
  active.sample_rate = Hertz(20e6);
  EXPECT_EQ(refusal(active, ""),
            "tomography.toml: [imaging] method = \"tomography\": found full matrix; expected frames of passive events, of pulses "
            "of light");
  Acquisition mixed = ring(16, 30e-3);
  mixed.events = {{PassiveEvent{Metres(750e-9), 0.0}, {}, 0}, {PassiveEvent{}, {}, 0}};
  EXPECT_THAT(refusal(mixed, ""), HasSubstr("events without a wavelength beside others"));
}

TEST(TomographyRefusals, OfSettingsThatContradictEachOther) {
  const Acquisition whole = ring(16, 30e-3);
  EXPECT_EQ(refusal(whole, ""), "");
  EXPECT_EQ(refusal(whole, "object_velocity = 1600.0\n"),
            "tomography.toml: [tomography] object_radii: found none, with object_velocity; expected radii of the object in m");
  EXPECT_EQ(refusal(whole, "object_radii = [0.01]\n"),
            "tomography.toml: [tomography] object_velocity: found none, with object_radii; expected its speed of sound in m/s");
  EXPECT_THAT(refusal(whole, "object_velocity = 1600.0\nobject_radii = [0.01, 0.02]\n"), HasSubstr("found two of them"));
  EXPECT_THAT(refusal(whole, "impulse_noise = 0.1\n"), HasSubstr("found without an impulse response"));
  EXPECT_THAT(refusal(whole, "impulse_centre = 1e6\n"), HasSubstr("[tomography] impulse_bandwidth: found none"));
  EXPECT_THAT(refusal(whole, "impulse_bandwidth = 60e6\n"), HasSubstr("it is sampled too coarsely"));
  EXPECT_THAT(refusal(whole, "impulse_response = \"/nowhere.csv\"\n"), HasSubstr("[tomography] impulse_response"));
  EXPECT_THAT(refusal(whole, "wavelengths = [750e-9, 750e-9]\n"), HasSubstr("found 750 nm twice"));
  EXPECT_EQ(refusal(whole, "wavelengths = [750e-9]\n"),
            "tomography.toml: [tomography] wavelengths: found 750nm; expected those of the data: 0nm");
  Acquisition line = passive(400, 20e6, 0.0);
  line.probe = make_linear_probe(16, Metres(0.3e-3), Metres(0.25e-3), Hertz(0.0), Hertz(0.0));
  line.events = {{PassiveEvent{}, {}, 0}};
  const std::string below = "[grid]\nx = [-0.004, 0.004]\nz = [0.002, 0.01]\npixels = [9, 9]\n";
  EXPECT_EQ(refusal(line, "", below), "");
  EXPECT_EQ(refusal(line, "algorithm = \"fbp\"\n", below),
            "tomography.toml: [tomography] algorithm: found \"fbp\" for detectors on a line; expected detectors on a sphere or a "
            "ring, or \"ubp\"");
  EXPECT_THAT(refusal(line, "", "[grid]\npixels = [9, 9]\n"),
              HasSubstr("[grid] x: found none, with detectors that lie on no sphere or ring"));
}

TEST(TomographyRefusals, OfPlacesThatNobodyHears) {
  const Acquisition whole = ring(16, 30e-3);
  EXPECT_EQ(refusal(whole, "", "[grid]\nx = [-0.04, 0.04]\nz = [-0.004, 0.004]\npixels = [9, 9]\n"),
            "tomography.toml: [grid]: found detector 0 at (30, 0, 0) mm within the image; expected detectors around it");
  EXPECT_THAT(refusal(whole, "", square, 200.0),
              AllOf(HasSubstr("[material] longitudinal_velocity: found 200 m/s, at which sound of the image arrives after"),
                    HasSubstr("some of it within the A-scans, 10 to 69.95 us")));
  Acquisition away = whole;
  for (Element& element : away.probe.elements) {
    element.normal = {-element.normal.x, -element.normal.y, -element.normal.z};
  }
  EXPECT_EQ(
      refusal(away, ""),
      "tomography.toml: [grid]: found no detector that faces the image: they look away from their middle; expected detectors "
      "that look towards it ([probe] reverse_normals = true turns them round, [probe] normal = [x, y, z] says which way all "
      "of them look)");
  EXPECT_EQ(refusal(away, "", square + "[probe]\nreverse_normals = true\n"), "");
  away = whole;
  away.probe.elements[3].normal = {-away.probe.elements[3].normal.x, 0.0, -away.probe.elements[3].normal.z};
  EXPECT_THAT(tomography_setup(away, tomography_text("", square))->warnings,
              Contains(HasSubstr("1 of 16 A-scans are of detectors that look away from the image")));
  Acquisition millimetres = whole;
  for (Element& element : millimetres.probe.elements) {
    element.centre = {1e3 * element.centre.x, 1e3 * element.centre.y, 1e3 * element.centre.z};
  }
  EXPECT_EQ(refusal(millimetres, ""),
            "data: places of detectors: found 30 m from the middle of all, and an image that none of them receives; expected "
            "metres: mm, for 0.03 m?");
  Acquisition brief = whole;
  brief.samples = 200;
  EXPECT_THAT(tomography_setup(brief, tomography_text("", square))->warnings,
              Contains(HasSubstr("of what detectors receive of the image lies outside of the A-scans")));
  Acquisition dead = whole;
  for (Element& element : dead.probe.elements) element.dead = true;
  EXPECT_NE(refusal(dead, ""), "");
}

TEST(TomographySetups, CropToWhatTheImageReaches) {
  const Acquisition whole = ring(16, 30e-3);
  const auto setup = tomography_setup(whole, tomography_text("", square));
  // 30 - 5.7 to 30 + 5.7 mm, at 20 MHz from 10 us on: samples 115 to 264, less and more a guard.
  EXPECT_LE(setup->gate.first, 115u - derivative_reach);
  EXPECT_GE(setup->gate.first, 70u);
  EXPECT_GE(setup->gate.first + setup->gate.count, 264u + derivative_reach);
  EXPECT_LE(setup->gate.first + setup->gate.count, 310u);
  EXPECT_EQ(setup->outlines.size(), 1u);
}

/// Files list the detectors of an arc that turned one by one: more of them than a sender may have elements.
TEST(TomographySetups, OfRecordingsMayHaveManyDetectors) {
  const Acquisition many = ring(2000, 30e-3);
  const Configuration configuration = parse_configuration(tomography_text("", square), "tomography.toml");
  const auto resolved = [&](ImagingUse use) {
    return resolve_imaging({.configuration = configuration, .acquisition = many, .use = use});
  };
  EXPECT_EQ(tomography_plan_of(*resolved(ImagingUse::recording)).wavelengths.front().detectors.size(), 2000u);
  EXPECT_THROW(static_cast<void>(resolved(ImagingUse::live)), InputError);
}

TEST(TomographySetups, AreRetunedByDisplayKeysAlone) {
  const std::string text = tomography_text("shown = \"non_negative\"\n", square);
  const auto before = tomography_setup(ring(16, 30e-3), text, true);
  const Configuration wanted = parse_configuration(text + "[output]\ndynamic_range_db = 25\n", "settings");
  const auto after = find_method("tomography")->retuned(*before, wanted, 7);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->settings_revision, 7u);
  EXPECT_EQ(after->scale.dynamic_range_db, 25.0);
  ASSERT_EQ(after->recipe.steps.size(), before->recipe.steps.size());
  std::size_t changed = 0;
  for (std::size_t k = 0; k < before->recipe.steps.size(); ++k) {
    if (!(after->recipe.steps[k] == before->recipe.steps[k])) ++changed;
  }
  EXPECT_EQ(changed, 1u);
}

TEST(TomographySetups, ReportWhatTheyAre) {
  Acquisition whole = ring(64, 30e-3);
  whole.probe.centre_frequency = Hertz(4e6);
  whole.probe.bandwidth = Hertz(4e6);
  const auto setup = tomography_setup(whole, tomography_text("impulse_bandwidth = 5e6\nimpulse_centre = 3e6\n", square));
  const SetupReport report = find_method("tomography")->report(*setup);
  const auto row = [&](std::string_view name) {
    for (const auto& [key, text] : report.rows) {
      if (key == name) return text;
    }
    return std::string();
  };
  EXPECT_EQ(row("algorithm"), "ubp, ideal solid angle");
  EXPECT_EQ(row("detectors"), "64 on a ring of radius 30 mm about (0, 0, 0) mm, of 64 elements at 1 position");
  EXPECT_EQ(row("wavelengths"), "not known");
  EXPECT_EQ(row("resolution"), "0.154 mm at 5 MHz");
  EXPECT_THAT(row("deconvolution"), HasSubstr("a Gaussian of 5 MHz about 3 MHz"));
  EXPECT_THAT(report.warnings, Contains(HasSubstr("voxels are 1 mm apart along x, more than the resolution")));
}

}  // namespace
}  // namespace echoform::test
