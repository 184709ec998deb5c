// Legs of some of another one's sources.
#include "delay_laws/selected_leg.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

const Grid grid{{Metres(-3e-3), Metres(3e-3), 7}, {Metres(1e-3), Metres(8e-3), 5}, {}};

DelayLaw law_of(const char* name, const Acquisition& acquisition) {
  Scene scene;
  if (std::string_view(name) == "immersion") scene.couplant = MetresPerSecond(1480.0);
  return make_delay_law(name, {acquisition, {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}, "LL", scene});
}

Acquisition array(double z) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(6, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(z);
  return acquisition;
}

std::vector<double> times_of(const Leg& leg, std::size_t source) {
  const std::vector<Point> points = grid.points();
  std::vector<double> seconds(points.size());
  leg.travel_times(source, points, seconds);
  return seconds;
}

TEST(SelectedLeg, HasTheTimesAndFormsOfItsSources) {
  const DelayLaw law = law_of("contact", array(0.0));
  const auto leg = select_sources(law.transmit, {4, 0, 4});
  ASSERT_EQ(leg->sources(), 3u);
  for (const auto& [source, of] : {std::pair{0, 4}, std::pair{1, 0}, std::pair{2, 4}}) {
    EXPECT_EQ(times_of(*leg, source), times_of(*law.transmit, of));
    const auto form = leg->point_source(source);
    ASSERT_TRUE(form.has_value()) << "delays may be found on the fly as before";
    EXPECT_EQ(form->origin, law.transmit->point_source(of)->origin);
  }
  EXPECT_EQ(leg->tabulated(grid, 1), nullptr);
}

TEST(SelectedLeg, HasThePlaneWavesOfItsSources) {
  Acquisition acquisition = array(0.0);
  // A sine above 1 in the part: the last of them does not propagate.
  for (const double slowness : {0.0, 2e-5, 1e-3}) acquisition.events.push_back({PlaneWaveEvent{slowness, 0.0, std::nullopt}, {}});
  const DelayLaw law = law_of("contact", acquisition);
  const auto leg = select_sources(law.transmit, {2, 1});
  const auto wave = leg->plane_wave_on(1, grid);
  ASSERT_TRUE(wave.has_value());
  EXPECT_EQ(wave->slowness, law.transmit->plane_wave_on(1, grid)->slowness);
  EXPECT_EQ(wave->offset, law.transmit->plane_wave_on(1, grid)->offset);
  EXPECT_TRUE(leg->revolved(1).has_value());
  EXPECT_FALSE(leg->plane_wave_on(0, grid) || leg->revolved(0));
  EXPECT_TRUE(leg->reaches_nothing(0));
  EXPECT_FALSE(leg->reaches_nothing(1));
}

TEST(SelectedLeg, OfAllSourcesInTheirOrderIsTheLegItself) {
  const DelayLaw law = law_of("contact", array(0.0));
  EXPECT_EQ(select_sources(law.transmit, {0, 1, 2, 3, 4, 5}), law.transmit);
  EXPECT_NE(select_sources(law.transmit, {1, 0, 2, 3, 4, 5}), law.transmit);
  EXPECT_THROW(static_cast<void>(select_sources(law.transmit, {6})), InputError);
}

TEST(SelectedLeg, IsTheSameLegWhenMadeAgain) {
  const DelayLaw law = law_of("contact", array(0.0));
  const DelayLaw other = law_of("contact", array(0.0));
  const auto leg = select_sources(law.transmit, {4, 0});
  EXPECT_TRUE(leg->is(*select_sources(law.transmit, {4, 0})));
  EXPECT_FALSE(leg->is(*select_sources(law.transmit, {0, 4})));
  EXPECT_FALSE(leg->is(*select_sources(other.transmit, {4, 0}))) << "another object, whatever it says";
  EXPECT_FALSE(leg->is(*law.transmit));
  EXPECT_FALSE(law.transmit->is(*leg));
  EXPECT_TRUE(select_sources(leg, {1})->is(*select_sources(select_sources(law.transmit, {4, 0}), {1})));
  const DelayLaw once{"LL", leg, law.receive};
  EXPECT_EQ(once, (DelayLaw{"LL", select_sources(law.transmit, {4, 0}), law.receive}));
  EXPECT_NE(once, (DelayLaw{"LL", select_sources(law.transmit, {4, 1}), law.receive}));
  EXPECT_NE(once, (DelayLaw{"LL", nullptr, law.receive}));
}

TEST(SelectedLeg, HasTheRaysAndDeparturesOfItsSources) {
  const DelayLaw law = law_of("immersion", array(-9e-3));
  const auto selected = select_sources(law.transmit, {5, 2});
  const auto leg = selected->tabulated(grid, 1, Seconds(0.0), true);
  const auto whole = law.transmit->tabulated(grid, 1, Seconds(0.0), true);
  ASSERT_NE(leg, nullptr);
  ASSERT_EQ(leg->sources(), 2u);
  EXPECT_EQ(times_of(*leg, 0), times_of(*whole, 5));
  EXPECT_EQ(times_of(*leg, 1), times_of(*whole, 2));
  const LegRays* const rays = leg->rays(grid);
  ASSERT_NE(rays, nullptr) << "a device may find them by itself as before";
  ASSERT_EQ(rays->field->sources().size(), 2u);
  const std::vector<Point> points = grid.points();
  std::vector<double> found(points.size());
  rays->field->times(1, 2, points, found);
  const std::vector<double> wanted = times_of(*law.transmit, 2);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (rays->pixels.sides[k] == PartSide::within) {
      EXPECT_NEAR(found[k], wanted[k], 1e-12) << "as RayField::times() states";
    }
  }
  ASSERT_NE(leg->departures(), nullptr);
  std::vector<double> cosines(points.size());
  std::vector<double> of_whole(points.size());
  leg->departures()->cosines(0, points, cosines);
  whole->departures()->cosines(5, points, of_whole);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (std::isnan(of_whole[k])) {
      EXPECT_TRUE(std::isnan(cosines[k]));
    } else {
      EXPECT_EQ(cosines[k], of_whole[k]);
    }
  }
}

}  // namespace
}  // namespace echoform
