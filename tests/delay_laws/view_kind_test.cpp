// Views with names of their own, in every law whose views are named by modes.
#include "delay_laws/view_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/errors.hpp"
#include "rays/surface_kind.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A wave that is everywhere after the same time.
class EverywhereLeg final : public Leg {
 public:
  explicit EverywhereLeg(std::size_t sources) : sources_(sources) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t /*source*/, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) seconds[k] = 3e-6;
  }

 private:
  std::size_t sources_;
};

ViewKind everywhere(const std::string& name, const std::string& receive) {
  return {name, "A wave that is everywhere at once.", [receive](const DelayLawRequest& request, const LegMaker& leg) {
            const auto make = [&](const std::string&) { return std::make_shared<EverywhereLeg>(request.acquisition.elements()); };
            return DelayLaw{"", request.legs->get("everywhere", make), leg(receive)};
          }};
}

/// Registered once, whichever test comes first.
void register_everywhere() {
  if (find_view_kind("E-T") != nullptr) return;
  add_view_kind(everywhere("E-T", "T"));
  add_view_kind(everywhere("E-L", "L"));
}

std::string fault_of_adding(const std::string& name) {
  return test::input_error([&] { add_view_kind(everywhere(name, "T")); });
}

Acquisition four_elements(double z) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, Metres(1e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(z);
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(50e6);
  return acquisition;
}

const Material steel{MetresPerSecond(5900.0), MetresPerSecond(3230.0)};

TEST(ViewKind, IsTakenByEveryLawWithItsOwnLegsOnTheOtherSide) {
  register_everywhere();
  const std::array<Point, 2> pixels{Point{Metres(1e-3), {}, Metres(10e-3)}, Point{Metres(-2e-3), {}, Metres(20e-3)}};
  for (const char* name : {"contact", "immersion"}) {
    const bool water = std::string_view(name) == "immersion";
    const Acquisition acquisition = four_elements(water ? -15e-3 : 0.0);
    DelayLawRequest request{acquisition, steel, "E-T"};
    if (water) request.scene.couplant = MetresPerSecond(1480.0);
    const DelayLaw law = make_delay_law(name, request);
    request.view = "TT";
    const DelayLaw shear = make_delay_law(name, request);
    request.view = "E-L";
    const DelayLaw other = make_delay_law(name, request);
    EXPECT_EQ(law.view, "E-T");
    EXPECT_EQ(law.receive, shear.receive) << name << ": one leg of these modes for all views";
    EXPECT_EQ(law.transmit, other.transmit) << name << ": and one of a view's own";
    EXPECT_NE(law.receive, other.receive);
    EXPECT_FALSE(law.reciprocal());
    std::array<double, 2> times{};
    law.transmit->travel_times(2, pixels, times);
    EXPECT_EQ(times[0], 3e-6);
  }
}

TEST(ViewKind, AMissingVelocityIsNamedAsForOtherViews) {
  register_everywhere();
  const Acquisition acquisition = four_elements(0.0);
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(make_delay_law("contact", {acquisition, {MetresPerSecond(5900.0), {}}, "E-T"}));
            }),
            "[material] shear_velocity: found none; expected a positive velocity, which the view needs")
      << "no velocity of shear waves";
}

TEST(ViewKind, TheUnknownOnesMessageNamesTheKnown) {
  register_everywhere();
  const Acquisition acquisition = four_elements(0.0);
  const std::string line = test::input_error([&] { static_cast<void>(make_delay_law("contact", {acquisition, steel, "E-TT"})); });
  EXPECT_THAT(line, HasSubstr("[imaging] views: found \"E-TT\"; expected LL, LT, TL or TT"));
  EXPECT_THAT(line, EndsWith("up to 3 a side, or E-T, or E-L"));
}

TEST(ViewKind, NamesAreItsOwnAndFitForStreamsAndFiles) {
  register_everywhere();
  EXPECT_EQ(fault_of_adding("E-T"), "view: found a second view named \"E-T\"; expected a name of its own");
  for (const std::string by_modes : {"LL", "L-L", "TT-T", "LLL-T"}) {
    EXPECT_EQ(fault_of_adding(by_modes),
              "view: found a view named \"" + by_modes + "\", which names it by modes; expected a name of its own");
  }
  for (const std::string unfit : {"", "a view", "../LL", "H/T", "a.b", "\n", "12345678901234567890123456789012-"}) {
    EXPECT_THAT(fault_of_adding(unfit), EndsWith("expected letters, digits, - and _, 1 to 32 of them")) << unfit;
  }
  EXPECT_EQ(find_view_kind("LL"), nullptr);
  EXPECT_EQ(view_kinds().size(), 2U);
}

}  // namespace
}  // namespace echoform
