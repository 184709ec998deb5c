// When the fronts of waves of several elements pass: against their geometry written out, and against the elements' own times.
#include "delay_laws/event_leg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "acquisition/firings.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

constexpr double degrees = std::numbers::pi / 180.0;
constexpr double velocity_l = 5900.0;
constexpr double velocity_t = 3200.0;
constexpr double velocity_w = 1480.0;

Acquisition array_of(std::size_t elements, std::vector<TransmitForm> forms) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 2048;
  acquisition.sample_rate = Hertz(50e6);
  for (TransmitForm& form : forms) acquisition.events.push_back({std::move(form), {}});
  return acquisition;
}

DelayLaw contact(const Acquisition& acquisition, const std::string& view = "LL") {
  return make_delay_law("contact", {acquisition, {MetresPerSecond(velocity_l), MetresPerSecond(velocity_t)}, view});
}

DelayLaw through_water(Acquisition acquisition, double height, const std::string& view, std::shared_ptr<const Surface> surface) {
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-height);
  Scene scene;
  scene.couplant = MetresPerSecond(velocity_w);
  scene.surface = std::move(surface);
  return make_delay_law("immersion", {acquisition, {MetresPerSecond(velocity_l), MetresPerSecond(velocity_t)}, view, scene});
}

const Grid in_plane{{Metres(-8e-3), Metres(8e-3), 5}, {Metres(1e-3), Metres(25e-3), 5}, {}};

Point at(double x, double z) {
  return {Metres(x), Metres(0.0), Metres(z)};
}

double time_to(const Leg& leg, std::size_t source, const Point& point) {
  double time = 0.0;
  leg.travel_times(source, {&point, 1}, {&time, 1});
  return time;
}

double position(const Acquisition& acquisition, std::size_t element) {
  return acquisition.probe.elements[element].centre.x.value;
}

TEST(EventLeg, OfPlaneWavesInContactIsTheirFormula) {
  const double angle = 15.0 * degrees;
  const Acquisition acquisition =
      array_of(16, {plane_wave(angle, MetresPerSecond(velocity_l)), PlaneWaveEvent{0.0, 0.0, Seconds(1e-6)}});
  const DelayLaw law = contact(acquisition);
  ASSERT_EQ(law.transmit->sources(), 2U);
  EXPECT_EQ(law.receive->sources(), 16U);
  EXPECT_FALSE(law.reciprocal());
  // The first element, at the far left, fires at 0.
  const double x0 = position(acquisition, 0);
  for (const auto& [x, z] : {std::pair{0.0, 10e-3}, std::pair{-3e-3, 25e-3}, std::pair{8e-3, 1e-3}}) {
    const double expected = ((x - x0) * std::sin(angle) + z * std::cos(angle)) / velocity_l;
    EXPECT_NEAR(time_to(*law.transmit, 0, at(x, z)), expected, 1e-15);
    EXPECT_NEAR(time_to(*law.transmit, 1, at(x, z)), 1e-6 + z / velocity_l, 1e-15);
    for (const std::size_t source : {0, 1}) {
      // What the leg states, of an image in the plane, is what it does.
      ASSERT_TRUE(law.transmit->plane_wave_on(source, in_plane).has_value());
      EXPECT_EQ(law.transmit->plane_wave_on(source, in_plane)->time_to(at(x, z)), time_to(*law.transmit, source, at(x, z)));
    }
  }
  EXPECT_FALSE(law.transmit->point_source(0).has_value());
  EXPECT_FALSE(law.receive->plane_wave(0).has_value());
}

/// 33 elements on an arc, and a plane wave of all of them for `velocity` that passes the origin of coordinates at 1 us.
Acquisition arc_of(double angle, double velocity) {
  PlaneWaveEvent wave = plane_wave(angle, MetresPerSecond(velocity));
  wave.slowness_z = std::cos(angle) / velocity;
  Acquisition acquisition = array_of(33, {});
  acquisition.probe = make_curvilinear_probe(33, Metres(0.5e-3), Metres(20e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  double z = 0.0;  // of the probe's origin, the mean of all elements
  for (const Element& element : acquisition.probe.elements) z += element.centre.z.value / 33.0;
  wave.delay = Seconds(1e-6 + z * std::cos(angle) / velocity);
  acquisition.events = {{wave, {}}};
  return acquisition;
}

TEST(EventLeg, OfPlaneWavesOfACurvedArrayIsTheirFormulaInItsPlane) {
  for (const double angle : {-15.0 * degrees, 0.0, 10.0 * degrees}) {
    const DelayLaw law = contact(arc_of(angle, velocity_l));
    for (const auto& [x, z] : {std::pair{0.0, 10e-3}, std::pair{-3e-3, 25e-3}, std::pair{8e-3, 1e-3}}) {
      EXPECT_NEAR(time_to(*law.transmit, 0, at(x, z)), 1e-6 + (x * std::sin(angle) + z * std::cos(angle)) / velocity_l, 1e-15);
    }
    // An image takes no table for it.
    EXPECT_TRUE(law.transmit->plane_wave_on(0, in_plane).has_value());
  }
}

TEST(EventLeg, OfACurvedArraysPlaneWaveIsTheFirstArrivalBesideItsPlaneAndAtAnotherVelocity) {
  const double angle = 10.0 * degrees;
  const Acquisition acquisition = arc_of(angle, velocity_l);
  const auto first = [&](const Point& p, double velocity) {
    double least = 1.0;
    for (const Element& e : acquisition.probe.elements) {
      const double fires = 1e-6 + (e.centre.x.value * std::sin(angle) + e.centre.z.value * std::cos(angle)) / velocity_l;
      const double way = std::hypot(p.x.value - e.centre.x.value, p.y.value, p.z.value - e.centre.z.value);
      least = std::min(least, fires + way / velocity);
    }
    return least;
  };
  const DelayLaw law = contact(acquisition);
  const Point beside{Metres(3e-3), Metres(-6e-3), Metres(15e-3)};
  EXPECT_NEAR(time_to(*law.transmit, 0, beside), first(beside, velocity_l), 1e-15);
  // Ahead of the array, where it lights the part.
  for (const Point& p : {at(1e-3, 8e-3), at(3e-3, 15e-3), at(-2e-3, 20e-3)}) {
    EXPECT_NEAR(time_to(*contact(acquisition, "TL").transmit, 0, p), first(p, velocity_t), 1e-15);
  }
}

TEST(EventLeg, OfTwoNeighboursOfACurvedArrayIsThatOfTheirChord) {
  Acquisition acquisition = arc_of(0.0, velocity_l);
  std::get<PlaneWaveEvent>(acquisition.events[0].form).elements = {20, 21};
  const DelayLaw law = contact(acquisition);
  // Along the chord the wave goes by as it passes its ends, and ahead of it at what is left of the slowness.
  const Point a = acquisition.probe.elements[20].centre;
  const Point b = acquisition.probe.elements[21].centre;
  const double dx = (b.x - a.x).value;
  const double dz = (b.z - a.z).value;
  const double chord = std::hypot(dx, dz);
  const double along = dz / velocity_l / chord;
  const double ahead = std::sqrt(1.0 / (velocity_l * velocity_l) - along * along);
  const Point p = at(4e-3, 12e-3);
  const double px = (p.x - a.x).value;
  const double pz = (p.z - a.z).value;
  const double expected =
      1e-6 + a.z.value / velocity_l + along * (px * dx + pz * dz) / chord + ahead * (pz * dx - px * dz) / chord;
  EXPECT_NEAR(time_to(*law.transmit, 0, p), expected, 1e-15);
}

TEST(EventLeg, OneFiringLaunchesBothModesEachAtItsAngle) {
  const double angle = 20.0 * degrees;
  const Acquisition acquisition = array_of(16, {plane_wave(angle, MetresPerSecond(velocity_l))});
  const double slow = std::asin(std::sin(angle) * velocity_t / velocity_l);
  const DelayLaw law = contact(acquisition, "TL");
  const double x0 = position(acquisition, 0);
  EXPECT_NEAR(time_to(*law.transmit, 0, at(2e-3, 14e-3)), ((2e-3 - x0) * std::sin(slow) + 14e-3 * std::cos(slow)) / velocity_t,
              1e-15);
}

TEST(EventLeg, BeyondARightAngleNothingPropagates) {
  // 40 degrees of velocity_t waves are 1.185 in the sine of velocity_l ones.
  const Acquisition acquisition = array_of(16, {plane_wave(40.0 * degrees, MetresPerSecond(velocity_t))});
  const DelayLaw of_l = contact(acquisition, "LL");
  EXPECT_TRUE(std::isnan(time_to(*of_l.transmit, 0, at(0.0, 10e-3))));
  EXPECT_TRUE(of_l.transmit->reaches_nothing(0));
  EXPECT_FALSE(of_l.transmit->plane_wave(0).has_value());
  const DelayLaw of_t = contact(acquisition, "TT");
  EXPECT_FALSE(std::isnan(time_to(*of_t.transmit, 0, at(0.0, 10e-3))));
  EXPECT_FALSE(of_t.transmit->reaches_nothing(0));
}

TEST(EventLeg, OfVirtualSourcesIsACircleAroundThem) {
  const MetresPerSecond velocity(velocity_l);
  const Acquisition acquisition = array_of(16, {PointWaveEvent{at(1e-3, -8e-3), velocity, std::nullopt}});
  const DelayLaw law = contact(acquisition);
  // The earliest element is the one nearest to the source, 1 mm aside: x = 0.75 or 1.25 mm.
  const double nearest = std::hypot(0.25e-3, 8e-3);
  for (const auto& [x, z] : {std::pair{0.0, 10e-3}, std::pair{-6e-3, 25e-3}}) {
    EXPECT_NEAR(time_to(*law.transmit, 0, at(x, z)), (std::hypot(x - 1e-3, z + 8e-3) - nearest) / velocity_l, 1e-15);
  }
  EXPECT_TRUE(law.transmit->point_source_on(0, in_plane).has_value());
  EXPECT_FALSE(law.transmit->plane_wave(0).has_value());
}

TEST(EventLeg, OfAFocusConvergesAndPartsAgain) {
  const Point focus = at(2e-3, 12e-3);
  const Acquisition acquisition = array_of(32, {PointWaveEvent{focus, MetresPerSecond(velocity_l), std::nullopt}});
  const DelayLaw law = contact(acquisition);
  const auto firings = firings_of(acquisition, 0);
  const double x0 = position(acquisition, 0);
  const double meet = firings[0].delay + std::hypot(2e-3 - x0, 12e-3) / velocity_l;
  EXPECT_NEAR(time_to(*law.transmit, 0, focus), meet, 1e-12);
  // Along the way from the aperture's middle through the focus, before and behind it.
  const double length = std::hypot(2e-3, 12e-3);
  for (const double along : {-6e-3, -1e-3, 3e-3, 10e-3}) {
    const Point p = at(2e-3 + along * 2e-3 / length, 12e-3 + along * 12e-3 / length);
    EXPECT_NEAR(time_to(*law.transmit, 0, p), meet + along / velocity_l, 1e-11);
  }
  // Outside of the rays from the outermost elements through the focus nothing arrives: at half the depth the beam goes from about
  // half way to the first element to half way to the last.
  const double left = 2e-3 + 0.5 * (x0 - 2e-3);
  EXPECT_FALSE(std::isnan(time_to(*law.transmit, 0, at(left + 0.3e-3, 6e-3))));
  EXPECT_TRUE(std::isnan(time_to(*law.transmit, 0, at(left - 0.3e-3, 6e-3))));
  // The beam is no narrower than a wavelength times the distance over the aperture.
  const double half = 0.5 * velocity_l / 5e6 * 12e-3 / (31 * 0.5e-3);
  EXPECT_FALSE(std::isnan(time_to(*law.transmit, 0, at(2e-3 + 0.7 * half, 12e-3))));
  EXPECT_TRUE(std::isnan(time_to(*law.transmit, 0, at(2e-3 + 1.6 * half, 12e-3))));
}

TEST(EventLeg, OfStatedDelaysFindsTheFocusTheyMake) {
  const Point focus = at(-1e-3, 15e-3);
  const Acquisition of_focus = array_of(32, {PointWaveEvent{focus, MetresPerSecond(velocity_l), std::nullopt}});
  LawEvent stated;
  for (const Firing& firing : firings_of(of_focus, 0)) {
    stated.elements.push_back(firing.element);
    stated.delays.push_back(static_cast<float>(firing.delay));
  }
  const DelayLaw known = contact(of_focus);
  const DelayLaw found = contact(array_of(32, {stated}));
  // Delays in single precision are good to 1e-13 s; the focus is found to a micrometre.
  for (const Point& p : {at(-1e-3, 8e-3), focus, at(-1.2e-3, 25e-3)}) {
    EXPECT_NEAR(time_to(*found.transmit, 0, p), time_to(*known.transmit, 0, p), 1e-9);
  }
}

TEST(EventLeg, OfStatedDelaysIsTheFrontByHuygens) {
  // A plane wave by its delays: below the aperture the least of the elements' times is within the front's sagitta between them.
  const double angle = 10.0 * degrees;
  const Acquisition plane = array_of(64, {plane_wave(angle, MetresPerSecond(velocity_l))});
  LawEvent stated;
  for (const Firing& firing : firings_of(plane, 0)) {
    stated.elements.push_back(firing.element);
    stated.delays.push_back(static_cast<float>(firing.delay));
  }
  const DelayLaw exact = contact(plane);
  const DelayLaw front = contact(array_of(64, {stated}));
  for (const auto& [x, z] : {std::pair{0.0, 10e-3}, std::pair{4e-3, 20e-3}}) {
    const double sagitta = std::pow(0.25e-3, 2) / (2.0 * z * std::pow(std::cos(angle), 1)) / velocity_l;
    const double time = time_to(*front.transmit, 0, at(x, z));
    EXPECT_GE(time, time_to(*exact.transmit, 0, at(x, z)) - 1e-12);
    EXPECT_LE(time, time_to(*exact.transmit, 0, at(x, z)) + sagitta + 1e-12);
  }
}

TEST(EventLeg, OfPlaneWavesByQuantisedDelaysStaysNearThem) {
  // Rounded to 10 ns the delays bend here and there, and a far enough point has them all alike: no focus is made of that.
  constexpr double tick = 10e-9;
  for (const double angle : {-12.3, -5.0, 3.7, 10.0, 17.1}) {
    const Acquisition plane = array_of(16, {plane_wave(angle * degrees, MetresPerSecond(velocity_l))});
    LawEvent stated;
    for (const Firing& firing : firings_of(plane, 0)) {
      stated.elements.push_back(firing.element);
      stated.delays.push_back(static_cast<float>(std::round(firing.delay / tick) * tick));
    }
    const DelayLaw exact = contact(plane);
    const DelayLaw rounded = contact(array_of(16, {stated}));
    for (const Point& p : {at(0.0, 5e-3), at(0.5e-3, 8e-3), at(-0.5e-3, 11e-3)}) {
      // Half a tick, and the sagitta of the front between elements at the least depth.
      const double sagitta = std::pow(0.25e-3, 2) / (2.0 * 5e-3) / velocity_l;
      EXPECT_NEAR(time_to(*rounded.transmit, 0, p), time_to(*exact.transmit, 0, p), 0.5 * tick + sagitta) << angle;
    }
  }
}

TEST(EventLeg, OfAFocusNeedsNoCentreFrequency) {
  Acquisition known = array_of(32, {PointWaveEvent{at(2e-3, 12e-3), MetresPerSecond(velocity_l), std::nullopt}});
  Acquisition unknown = known;
  unknown.probe.centre_frequency = Hertz(0.0);
  const Point behind = at(2.5e-3, 15e-3);
  EXPECT_EQ(time_to(*contact(unknown).transmit, 0, behind), time_to(*contact(known).transmit, 0, behind));
}

TEST(EventLeg, OfAFocusAmongTheElementsHasCrossedAtOnce) {
  const Acquisition acquisition = array_of(8, {PointWaveEvent{at(0.0, 1e-12), MetresPerSecond(velocity_l), std::nullopt}});
  const Firing middle = firings_of(acquisition, 0)[3];
  EXPECT_NEAR(time_to(*contact(acquisition).transmit, 0, at(0.0, 9e-3)),
              middle.delay + std::hypot(position(acquisition, 3), 9e-3) / velocity_l, 1e-15);
}

TEST(EventLeg, ThroughAFlatSurfaceBendsBySnell) {
  const double angle = 8.0 * degrees;
  const double height = 20e-3;
  const Acquisition acquisition = array_of(128, {plane_wave(angle, MetresPerSecond(velocity_w))});
  const DelayLaw law =
      through_water(acquisition, height, "LL", make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}}));
  const double inside = std::asin(std::sin(angle) * velocity_l / velocity_w);
  const double x0 = position(acquisition, 0);
  // Within what the aperture lights: below its middle, moved by the angle.
  for (const auto& [x, z] : {std::pair{3e-3, 5e-3}, std::pair{12e-3, 12e-3}}) {
    const double expected =
        (x - x0) * std::sin(angle) / velocity_w + height * std::cos(angle) / velocity_w + z * std::cos(inside) / velocity_l;
    const double time = time_to(*law.transmit, 0, at(x, z));
    EXPECT_GE(time, expected - 1e-12);
    // Between two elements the front sags by less than p^2 / (8 r) in the couplant.
    EXPECT_LE(time, expected + std::pow(0.5e-3, 2) / (8.0 * height) / velocity_w + 1e-12);
  }
}

std::shared_ptr<const Surface> flat() {
  return make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}});
}

/// Time from a place `height` above a flat surface to a place `depth` below it and `aside` of it, by Fermat: the least over where
/// it enters, which a golden section finds.
double through_flat(double height, double depth, double aside) {
  const auto time = [&](double x) { return std::hypot(x, height) / velocity_w + std::hypot(aside - x, depth) / velocity_l; };
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = std::min(0.0, aside);
  double high = std::max(0.0, aside);
  for (int round = 0; round < 60; ++round) {
    const double one = high - golden * (high - low);
    const double other = low + golden * (high - low);
    (time(one) < time(other) ? high : low) = time(one) < time(other) ? other : one;
  }
  return time(0.5 * (low + high));
}

TEST(EventLeg, OfAFocusInTheCouplantGoesOnFromThere) {
  const double height = 20e-3;
  const double above = 5e-3;
  const Point focus = at(1e-3, height - above);  // in the probe's frame
  const Acquisition stated = array_of(32, {PointWaveEvent{focus, MetresPerSecond(velocity_w), Seconds(0.0)}});
  LawEvent delays;
  for (const Firing& firing : firings_of(stated, 0)) {
    delays.elements.push_back(firing.element);
    delays.delays.push_back(static_cast<float>(firing.delay));
  }
  const double meet = std::hypot(1e-3, height - above) / velocity_w;  // after what passes the origin at 0
  const DelayLaw known = through_water(stated, height, "LL", flat());
  const DelayLaw found = through_water(array_of(32, {delays}), height, "LL", flat());
  for (const auto& [x, z] : {std::pair{1e-3, 8e-3}, std::pair{6e-3, 10e-3}, std::pair{-8e-3, 15e-3}}) {
    const double expected = meet + through_flat(above, z, x - 1e-3);
    EXPECT_NEAR(time_to(*known.transmit, 0, at(x, z)), expected, 1e-12);
    // The focus is found to a micrometre.
    EXPECT_NEAR(time_to(*found.transmit, 0, at(x, z)), expected, 1e-9);
  }
  Grid grid;
  grid.x = {Metres(-4e-3), Metres(4e-3), 9};
  grid.y = {Metres(0.0), Metres(0.0), 1};
  grid.z = {Metres(2e-3), Metres(9e-3), 8};
  const auto table = known.transmit->tabulated(grid, 1);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(known.transmit->table_bytes(grid), 72 * sizeof(float));
  EXPECT_NEAR(time_to(*table, 0, at(1e-3, 5e-3)), time_to(*known.transmit, 0, at(1e-3, 5e-3)), 1e-12);
}

TEST(EventLeg, OfASteeredFocusInTheCouplantLightsItsOwnSideAlone) {
  // Seen from 16 elements, 7.5 mm long, 8 mm to the side and 12 mm below: from 19 to 44 degrees in the couplant. T waves enter up
  // to 27.6 degrees; straight below, nothing arrives.
  const double height = 16e-3;
  const Acquisition stated = array_of(16, {PointWaveEvent{at(8e-3, 12e-3), MetresPerSecond(velocity_w), std::nullopt}});
  const DelayLaw law = through_water(stated, height, "TT", flat());
  const auto below = [&](double angle, double z) {
    const double sine = std::sin(angle) * velocity_t / velocity_w;
    return at(8e-3 + 4e-3 * std::tan(angle) + z * sine / std::sqrt(1.0 - sine * sine), z);
  };
  EXPECT_FALSE(std::isnan(time_to(*law.transmit, 0, below(23.0 * degrees, 10e-3))));
  EXPECT_TRUE(std::isnan(time_to(*law.transmit, 0, below(0.0, 10e-3))));
  EXPECT_TRUE(std::isnan(time_to(*law.transmit, 0, below(-23.0 * degrees, 10e-3))));
}

TEST(EventLeg, FromAFocusInTheCouplantRunsOnAsARay) {
  // 6 mm in front of an array that stands 20 mm above the part.
  const Acquisition acquisition = array_of(32, {PointWaveEvent{at(1e-3, 6e-3), MetresPerSecond(velocity_w), Seconds(0.5e-6)}});
  const DelayLaw law =
      through_water(acquisition, 20e-3, "LL", make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}}));
  const double at_focus = 0.5e-6 + std::hypot(1e-3, 6e-3) / velocity_w;
  for (const auto& [x, z] : {std::pair{1e-3, 5e-3}, std::pair{4e-3, 9e-3}}) {
    // Least time over points of the surface, from (1, -14) mm.
    double least = 1.0;
    for (double s = -5e-3; s < 10e-3; s += 1e-6) {
      least = std::min(least, std::hypot(s - 1e-3, 14e-3) / velocity_w + std::hypot(x - s, z) / velocity_l);
    }
    EXPECT_NEAR(time_to(*law.transmit, 0, at(x, z)), at_focus + least, 1e-12);
  }
  // Farther aside than the rays of the outermost elements: they leave the focus at up to 55 degrees, which no ray from there has
  // that enters the part as L; 16 mm of 6 mm deep is beyond every one of 10 elements.
  const Acquisition narrow = array_of(10, {PointWaveEvent{at(0.0, 12e-3), MetresPerSecond(velocity_w), std::nullopt}});
  const DelayLaw of_few =
      through_water(narrow, 20e-3, "LL", make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}}));
  // atan(2.25 / 12) = 10.6 degrees in water, 47.2 in the part.
  EXPECT_FALSE(std::isnan(time_to(*of_few.transmit, 0, at(1.5e-3 + 0.95 * 9e-3 * std::tan(47.2 * degrees), 9e-3))));
  EXPECT_TRUE(std::isnan(time_to(*of_few.transmit, 0, at(1.5e-3 + 1.05 * 9e-3 * std::tan(47.2 * degrees), 9e-3))));
  Grid grid;
  grid.x = {Metres(-4e-3), Metres(4e-3), 9};
  grid.y = {Metres(0.0), Metres(0.0), 1};
  grid.z = {Metres(2e-3), Metres(9e-3), 8};
  const auto table = law.transmit->tabulated(grid, 1);
  for (const Point& point : grid.points()) {
    EXPECT_NEAR(time_to(*table, 0, point), time_to(*law.transmit, 0, point), 1e-12);
  }
}

TEST(EventLeg, OfWavesThatCrossWithoutAFocusIsTheirStationaryTime) {
  // By delays for water the waves would meet 10 mm below the surface; they are refracted, and those from farther outside cross
  // the axis the earlier. Right below, neighbours arrive together from the middle: the last ones, the outermost being up to a
  // microsecond earlier.
  const double height = 15e-3;
  const Acquisition acquisition = array_of(33, {PointWaveEvent{at(0.0, 25e-3), MetresPerSecond(velocity_w), std::nullopt}});
  const DelayLaw law = through_water(acquisition, height, "LL", flat());
  const std::vector<Firing> firings = firings_of(acquisition, 0);
  for (const double z : {8e-3, 15e-3, 30e-3}) {
    const Point p = at(0.0, z);
    const double middle = firings[16].delay + height / velocity_w + z / velocity_l;
    const double outer = firings[0].delay + time_to(*law.receive, 0, p);
    ASSERT_LT(outer, middle - 0.2e-6);
    // Element 16 stands above, and neighbours may be later by rounding alone.
    EXPECT_NEAR(time_to(*law.transmit, 0, p), middle, 1e-12) << z;
  }
}

TEST(EventLeg, OfAPlaneWaveThatABoreFocusesGoesOnBehind) {
  // Within 60 mm of radius waves of water meet at some 18 mm below the wall: (1480 / 5900) / (1 - 1480 / 5900) of it is 20 mm.
  const double height = 20e-3;
  const DelayLaw law = through_water(
      array_of(33, {plane_wave(0.0, MetresPerSecond(velocity_w))}), height, "LL",
      make_surface(
          {.where = "[surface]", .kind = "cylinder", .numbers = {{"radius", 60e-3}, {"z", 0.0}}, .words = {{"side", "inside"}}}));
  for (const double z : {8e-3, 60e-3}) {
    // On the axis, from the element above: the first of all before the focus, the last one behind.
    const double middle = time_to(*law.receive, 16, at(0.0, z));
    if (z < 20e-3) {
      ASSERT_GT(time_to(*law.receive, 0, at(0.0, z)), middle);
    } else {
      ASSERT_LT(time_to(*law.receive, 0, at(0.0, z)), middle);
    }
    EXPECT_NEAR(time_to(*law.transmit, 0, at(0.0, z)), middle, 1e-12) << z;
  }
}

TEST(EventLeg, ItsTableIsItsTimes) {
  const Acquisition acquisition =
      array_of(24, {plane_wave(5.0 * degrees, MetresPerSecond(velocity_w)),
                    PointWaveEvent{at(0.0, -5e-3), MetresPerSecond(velocity_w), std::nullopt}, ElementEvent{3}});
  const DelayLaw law =
      through_water(acquisition, 15e-3, "LT", make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}}));
  Grid grid;
  grid.x = {Metres(-4e-3), Metres(4e-3), 9};
  grid.y = {Metres(0.0), Metres(0.0), 1};
  grid.z = {Metres(2e-3), Metres(9e-3), 8};
  const auto table = law.transmit->tabulated(grid, 1);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->sources(), 3U);
  EXPECT_EQ(law.transmit->table_bytes(grid), 3 * 72 * sizeof(float));
  const std::vector<Point> points = grid.points();
  for (std::size_t source = 0; source < 3; ++source) {
    for (const Point& point : points) {
      EXPECT_NEAR(time_to(*table, source, point), time_to(*law.transmit, source, point), 1e-12);
    }
    EXPECT_EQ(time_to(*table, source, at(0.3e-3, 5e-3)), time_to(*law.transmit, source, at(0.3e-3, 5e-3))) << "off the grid";
  }
}

TEST(EventLeg, ThatAreNotChosenReachNowhereAndTakeNoTable) {
  Acquisition acquisition = array_of(8, {PointWaveEvent{at(0.0, 25e-3), MetresPerSecond(velocity_w), std::nullopt},
                                         plane_wave(0.0, MetresPerSecond(velocity_w)), LawEvent{{2, 3}}});
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-15e-3);
  Scene scene;
  scene.couplant = MetresPerSecond(velocity_w);
  DelayLawRequest request{acquisition, {MetresPerSecond(velocity_l), MetresPerSecond(velocity_t)}, "LL", scene};
  const DelayLaw all = make_delay_law("immersion", request);
  request.legs = std::make_shared<LegCache>();
  request.chosen = {1};
  const DelayLaw one = make_delay_law("immersion", request);
  ASSERT_EQ(one.transmit->sources(), 3U);
  EXPECT_EQ(time_to(*one.transmit, 1, at(0.0, 5e-3)), time_to(*all.transmit, 1, at(0.0, 5e-3)));
  EXPECT_TRUE(std::isnan(time_to(*one.transmit, 0, at(0.0, 5e-3))));
  EXPECT_TRUE(std::isnan(time_to(*one.transmit, 2, at(0.0, 5e-3))));
  Grid grid;
  grid.x = {Metres(-4e-3), Metres(4e-3), 9};
  grid.y = {Metres(0.0), Metres(0.0), 1};
  grid.z = {Metres(2e-3), Metres(9e-3), 8};
  EXPECT_EQ(one.transmit->table_bytes(grid), 72 * sizeof(float));
}

TEST(EventLeg, DeadElementsDoNotFire) {
  Acquisition acquisition = array_of(4, {LawEvent{{0, 3}}, LawEvent{{0}}});
  acquisition.probe.elements[0].dead = true;
  const DelayLaw law = contact(acquisition);
  EXPECT_NEAR(time_to(*law.transmit, 0, at(0.0, 6e-3)), std::hypot(0.75e-3, 6e-3) / velocity_l, 1e-15);
  EXPECT_TRUE(std::isnan(time_to(*law.transmit, 1, at(0.0, 6e-3))));
}

TEST(EventLeg, ViewsOfOneTransmitPathShareTheirLeg) {
  const Acquisition acquisition = array_of(8, {plane_wave(0.0, MetresPerSecond(velocity_l))});
  const auto legs = std::make_shared<LegCache>();
  const Material material{MetresPerSecond(velocity_l), MetresPerSecond(velocity_t)};
  const DelayLaw one = make_delay_law("contact", {acquisition, material, "LL", {}, legs});
  const DelayLaw other = make_delay_law("contact", {acquisition, material, "LT", {}, legs});
  EXPECT_EQ(one.transmit, other.transmit);
  EXPECT_NE(one.receive, other.receive);
}

}  // namespace
}  // namespace echoform
