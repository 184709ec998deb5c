#include "methods/unread_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "methods/display_settings.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

UnreadKeys unread_of(const std::string& text) {
  const Configuration configuration = parse_configuration(text, "scan.toml");
  return find_unread_keys(configuration, method_of(configuration));
}

std::string refusal_of(const std::string& text) {
  return test::input_error([&] { static_cast<void>(unread_of(text)); });
}

const std::string scan_lines = "[imaging]\nmethod = \"beams\"\n";

TEST(UnreadKeys, ALensBeforeScanLinesIsRefused) {
  EXPECT_EQ(refusal_of(scan_lines + "[couplant]\nvelocity = 1000\n[probe]\nstand_off = 0.001\n"),
            "scan.toml: [couplant] velocity: found 1000 with [imaging] method = \"beams\"; expected no such key, or the method "
            "\"tfm\", which reads it");
}

TEST(UnreadKeys, AScanOfScanLinesIsRefused) {
  EXPECT_EQ(refusal_of(scan_lines + "[scan]\npath = \"line\"\n"),
            "scan.toml: [scan] path: found \"line\" with [imaging] method = \"beams\"; expected no such key, or the method "
            "\"tfm\", which reads it");
}

TEST(UnreadKeys, WhatTheMethodDoesAnywayPasses) {
  const UnreadKeys unread = unread_of(
      "[imaging]\nmethod = \"beams\"\ndelay_law = \"contact\"\nviews = [\"LL\"]\ninterpolation = \"linear\"\nadaptive = "
      "\"none\"\n"
      "[apodization]\nwindow = \"none\"\n");
  EXPECT_THAT(unread.warnings, IsEmpty());
  EXPECT_THAT(unread.notes, IsEmpty());
}

TEST(UnreadKeys, OthersGiveALineEach) {
  const UnreadKeys unread = unread_of(scan_lines + "[grid]\nz = [0.001, 0.03]\n[material]\nshear_velocity = 800\n");
  EXPECT_THAT(
      unread.warnings,
      ElementsAre("scan.toml: [material] shear_velocity = 800 has no effect on images with [imaging] method = \"beams\": \"tfm\" "
                  "reads it",
                  "scan.toml: [grid] z = [0.001, 0.03] has no effect on images with [imaging] method = \"beams\": \"tfm\" or "
                  "\"tomography\" reads it"));
}

TEST(UnreadKeys, SectionsOfOtherMethodsAreANoteEach) {
  const UnreadKeys unread = unread_of(
      "[beams]\ndepth = [0.001, 0.02]\nadaptive = \"coherence_factor\"\n[m_mode]\nline = 2\n"
      "[tomography]\nalgorithm = \"ubp\"\nshown = \"envelope\"\n");
  EXPECT_THAT(unread.warnings, IsEmpty());
  EXPECT_THAT(unread.notes,
              ElementsAre("scan.toml: [beams] has no effect on images with [imaging] method = \"tfm\": \"beams\" reads it",
                          "scan.toml: [m_mode] has no effect on images with [imaging] method = \"tfm\": \"beams\" reads it",
                          "scan.toml: [tomography] has no effect on images with [imaging] method = \"tfm\": \"tomography\" "
                          "reads it"));
  EXPECT_THAT(unread_of("[imaging]\nmethod = \"tomography\"\n[doppler]\npulse_repetition = 500\n").notes,
              ElementsAre("scan.toml: [doppler] has no effect on images with [imaging] method = \"tomography\": \"tfm\" or "
                          "\"beams\" reads it"));
}

TEST(UnreadKeys, AKeyThatAnotherOneMakesCountSaysWhich) {
  EXPECT_THAT(unread_of("[apodization]\ntukey_fraction = 0.2\n").warnings,
              ElementsAre("scan.toml: [apodization] tukey_fraction = 0.2 has no effect: it counts where [apodization] window is "
                          "tukey or [apodization] event_window is tukey"));
  EXPECT_THAT(unread_of("[apodization]\ntukey_fraction = 0.2\nwindow = \"tukey\"\n").warnings, IsEmpty());
  EXPECT_THAT(unread_of("[imaging]\nsubarray = 0.3\n").warnings,
              ElementsAre("scan.toml: [imaging] subarray = 0.3 has no effect: it counts where [imaging] adaptive is capon"));
  EXPECT_THAT(unread_of("[acquisition]\nposition_step = 0.001\n").warnings,
              ElementsAre("scan.toml: [acquisition] position_step = 0.001 has no effect: it counts where [acquisition] "
                          "position_count is set"));
}

TEST(UnreadKeys, ASetupTellsThem) {
  const Configuration configuration = parse_configuration(
      "[material]\nlongitudinal_velocity = 6320\n[apodization]\ntukey_fraction = 0.2\n[beams]\nlines = 2\n", "scan.toml");
  const Acquisition acquisition = test::frames_of(test::sixteen_elements(), 256, Hertz(40e6));
  const auto setup = resolve_imaging({.configuration = configuration, .acquisition = acquisition});
  EXPECT_THAT(setup->warnings, Contains(testing::HasSubstr("[apodization] tukey_fraction = 0.2 has no effect")));
  EXPECT_THAT(setup->notes, Contains(testing::HasSubstr("[beams] has no effect")));
}

TEST(UnreadKeys, ABackwallBehindScanLinesIsTold) {
  EXPECT_THAT(unread_of(scan_lines + "[backwall]\nkind = \"plane\"\n").warnings,
              ElementsAre("scan.toml: [backwall] kind = \"plane\" has no effect on images with [imaging] method = \"beams\": "
                          "\"tfm\" reads it"));
}

// The warning of a key that a live change gives an effect goes, and that of one that it takes it from comes.
TEST(UnreadKeys, AreToldAnewOfOtherSettings) {
  Configuration configuration =
      parse_configuration("[material]\nlongitudinal_velocity = 6320\n[output]\nreference_value = 2.5\n", "scan.toml");
  const Acquisition acquisition = test::frames_of(test::sixteen_elements(), 256, Hertz(40e6));
  ImagingSetup setup = *resolve_imaging({.configuration = configuration, .acquisition = acquisition});
  const std::string silent =
      "scan.toml: [output] reference_value = 2.5 has no effect: it counts where [output] reference is fixed";
  EXPECT_THAT(setup.warnings, Contains(silent));
  const std::size_t others = setup.warnings.size() - 1;
  section<OutputSection>(configuration).reference = ReferenceMode::fixed;
  tell_unread_keys(configuration, find_unread_keys(configuration, method_of(configuration)), setup);
  EXPECT_THAT(setup.warnings, testing::AllOf(testing::Not(Contains(silent)), testing::SizeIs(others)));
  section<OutputSection>(configuration).reference = ReferenceMode::running;
  tell_unread_keys(configuration, find_unread_keys(configuration, method_of(configuration)), setup);
  EXPECT_THAT(setup.warnings, testing::AllOf(Contains(silent), testing::SizeIs(others + 1)));
}

TEST(UnreadKeys, KeysOfTheProgramAreNobodys) {
  EXPECT_THAT(unread_of(scan_lines + "[server]\nname = \"one\"\n[input]\nslots = 3\n[simulator]\nelements = 8\n").warnings,
              IsEmpty());
}

}  // namespace
}  // namespace echoform
