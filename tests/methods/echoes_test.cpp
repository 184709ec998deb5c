// Methods that image echoes refuse frames in which nobody transmits, by one line, before they reckon with them.
#include "methods/echoes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/support/every_form.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

constexpr const char* no_echoes =
    "data: transmit events: found passive events in which nobody transmits; expected events that transmit, or the method for "
    "them "
    "([imaging] method)";

std::string answer_of_resolve(const std::string& settings, const Acquisition& acquisition, ImagingUse use = ImagingUse::live) {
  const Configuration configuration = parse_configuration(settings, "light.toml");
  return test::input_error(
      [&] { static_cast<void>(resolve_imaging({.configuration = configuration, .acquisition = acquisition, .use = use})); });
}

/// What a server does with a Hello: its InputError is the reason of the Reject.
TEST(Echoes, AreNoneWhereNobodyTransmits) {
  for (const Acquisition& acquisition :
       {testing_support::acquisition_of_passive(64), testing_support::acquisition_of_turned_passive(64)}) {
    for (const std::string method : {"tfm", "beams"}) {
      for (const std::string more :
           {"", "[material]\nlongitudinal_velocity = 1480.0\n", "[probe]\nstand_off = 0.01\nangle = 5.0\n",
            "[couplant]\nvelocity = 1480.0\n[surface]\nkind = \"plane\"\nz = 0.0\n"}) {
        const std::string settings = "[imaging]\nmethod = \"" + method + "\"\n" + more;
        for (const ImagingUse use : {ImagingUse::live, ImagingUse::recording, ImagingUse::description})
          EXPECT_EQ(answer_of_resolve(settings, acquisition, use), no_echoes) << settings;
      }
    }
  }
}

TEST(Echoes, OfAScanAreRefusedBeforeThePathIsReckoned) {
  const std::string settings =
      "[material]\nlongitudinal_velocity = 6000.0\n[scan]\npath = \"line\"\nencoder_step = 1e-5\n"
      "[grid]\nx = [-0.01, 0.01]\nz = [0.01, 0.02]\npixels = [8, 8]\n";
  EXPECT_EQ(
      answer_of_resolve(settings, testing_support::acquisition_of_passive(64)),
      "light.toml: [scan] path: found a scan of passive events, in which nobody transmits; expected no path (detectors that "
      "move within a frame are at several positions of it)");
}

TEST(Echoes, ComeOfAllOtherEvents) {
  EXPECT_NO_THROW(require_echoes(testing_support::acquisition_of_waves(64)));
  EXPECT_NO_THROW(require_echoes(testing_support::acquisition_of_codes(64)));
  EXPECT_NO_THROW(require_echoes(testing_support::acquisition_of_elements(4, 64)));
}

}  // namespace
}  // namespace echoform
