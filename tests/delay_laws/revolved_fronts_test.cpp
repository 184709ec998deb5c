// Fronts beside the plane of the elements that make them: against the first arrival from very many elements along the same line
// or curve, in double precision, whose delays are WIRE.md's formulas written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "acquisition/firing_shape.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/positions.hpp"
#include "base/vector3.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/selected_leg.hpp"
#include "rays/surface_kind.hpp"

namespace echoform::revolved_fronts {
namespace {

constexpr double degrees = std::numbers::pi / 180.0;
constexpr double c_l = 5900.0;
constexpr double c_t = 3200.0;
constexpr double c_w = 1480.0;

/// A rigid motion of the probe: its axes in the part, and where its origin is.
struct Motion {
  const char* name;
  Vector3 x;
  Vector3 y;
  Vector3 z;
  Vector3 origin;

  [[nodiscard]] Vector3 to_part(Vector3 own) const { return origin + own.x * x + own.y * y + own.z * z; }
};

std::vector<Motion> motions() {
  const double tilt = 17.0 * degrees;
  const double turn = 40.0 * degrees;
  return {
      {"in_place", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}},
      {"off_centre_above_the_part", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {3e-3, -2e-3, -4e-3}},
      {"tilted_along", {std::cos(tilt), 0, -std::sin(tilt)}, {0, 1, 0}, {std::sin(tilt), 0, std::cos(tilt)}, {1e-3, 0, -6e-3}},
      {"turned", {std::cos(turn), std::sin(turn), 0}, {-std::sin(turn), std::cos(turn), 0}, {0, 0, 1}, {-2e-3, 1e-3, 0}},
      {"across", {0, 1, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, 0}},
      {"tilted_across_and_turned",
       {std::cos(turn), std::sin(turn) * std::cos(tilt), std::sin(turn) * std::sin(tilt)},
       {-std::sin(turn), std::cos(turn) * std::cos(tilt), std::cos(turn) * std::sin(tilt)},
       {0, -std::sin(tilt), std::cos(tilt)},
       {0.5e-3, 2e-3, -3e-3}},
  };
}

/// Elements at these places in the probe's frame, whose origin is their mean, emitting along its z.
Probe probe_of(const std::vector<Vector3>& places, const Motion& motion) {
  Probe probe;
  probe.centre_frequency = Hertz(5e6);
  probe.bandwidth = Hertz(3e6);
  probe.x_axis = {motion.x.x, motion.x.y, motion.x.z};
  for (const Vector3& place : places) {
    Element element;
    element.centre = point_of(motion.to_part(place));
    element.normal = {motion.z.x, motion.z.y, motion.z.z};
    probe.elements.push_back(element);
  }
  return probe;
}

Acquisition acquisition_of(Probe probe, std::vector<TransmitForm> forms) {
  Acquisition acquisition;
  acquisition.probe = std::move(probe);
  acquisition.samples = 2048;
  acquisition.sample_rate = Hertz(50e6);
  for (TransmitForm& form : forms) acquisition.events.push_back({std::move(form), {}});
  return acquisition;
}

DelayLaw contact(const Acquisition& acquisition, const std::string& view = "LL") {
  return make_delay_law("contact", {acquisition, {MetresPerSecond(c_l), MetresPerSecond(c_t)}, view});
}

double time_to(const Leg& leg, std::size_t source, const Point& p) {
  double time = 0.0;
  leg.travel_times(source, {&p, 1}, {&time, 1});
  return time;
}

/// A row in the probe's frame: `count` elements, `pitch` apart, along `along` (a unit vector without z) through `through`.
struct Row {
  Vector3 along{1, 0, 0};
  Vector3 through{};
  std::size_t count = 64;
  double pitch = 1e-3;

  [[nodiscard]] Vector3 at(double place) const { return through + place * along; }
  [[nodiscard]] std::vector<Vector3> places() const {
    std::vector<Vector3> all;
    for (std::size_t k = 0; k < count; ++k)
      all.push_back(at(pitch * (static_cast<double>(k) - 0.5 * static_cast<double>(count - 1))));
    return all;
  }
};

/// When a place of the row, in the probe's frame, fires: by an event's formula, 0 at the frame's origin.
using Delay = std::function<double(Vector3)>;

Delay plane_delay(double slowness_x, double slowness_y) {
  return [=](Vector3 e) { return slowness_x * e.x + slowness_y * e.y; };
}
Delay virtual_delay(Vector3 v, double velocity) {
  return [=](Vector3 e) { return (length(e - v) - length(v)) / velocity; };
}
Delay focus_delay(Vector3 f, double velocity) {
  return [=](Vector3 e) { return (length(f) - length(f - e)) / velocity; };
}

/// The front at a place of the part, from a row four times as long as the probe's, of elements 10 um apart: the least of delay +
/// way, or where `crossed` the greatest. Between two such elements it sags by (5 um)^2 / (2 r c) at most.
double dense_front(const Row& row, const Motion& motion, const Delay& delay, Vector3 p, double velocity, bool crossed = false) {
  const double half = 2.0 * row.pitch * static_cast<double>(row.count);
  double found = crossed ? -1.0 : 1.0;
  for (double place = -half; place <= half; place += 10e-6) {
    const Vector3 e = row.at(place);
    const double time = delay(e) + length(p - motion.to_part(e)) / velocity;
    found = crossed ? std::max(found, time) : std::min(found, time);
  }
  return found;
}

/// Places in front of the probe, some of them in its plane, within what the row lights.
std::vector<Vector3> places_ahead() {
  return {{-2e-3, -5e-3, 8e-3}, {1e-3, 0.0, 10e-3},   {3e-3, 7e-3, 5e-3},  {0.0, 12e-3, 1e-3},
          {-4e-3, 2e-3, 15e-3}, {2.5e-3, -9e-3, 0.0}, {0.5e-3, 1e-6, 6e-3}};
}

/// The dense row's sag at 2 mm, the nearest place of these tests, at 3200 m/s.
constexpr double exact = 2e-12;

TEST(RevolvedFronts, OfTheFigureInTheDescription) {
  // 32 elements, pitch 0.5 mm, 10 degrees at 6320 m/s, the earliest element at 0: 1628 ns at (-2, -5, 8) mm.
  Acquisition acquisition = acquisition_of({}, {plane_wave(10.0 * degrees, MetresPerSecond(6320.0))});
  acquisition.probe = make_linear_probe(32, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  const DelayLaw law = make_delay_law("contact", {acquisition, {MetresPerSecond(6320.0), {}}, "LL"});
  EXPECT_NEAR(time_to(*law.transmit, 0, point_of({-2e-3, -5e-3, 8e-3})), 1628e-9, 0.5e-9);
}

TEST(RevolvedFronts, OfPlaneWavesAreTheFirstArrival) {
  const Row row;
  for (const Motion& motion : motions()) {
    for (const double angle : {-25.0, 0.0, 10.0}) {
      const double slowness = std::sin(angle * degrees) / c_l;
      const Acquisition acquisition =
          acquisition_of(probe_of(row.places(), motion), {PlaneWaveEvent{slowness, 0.0, Seconds(0.7e-6)}});
      const DelayLaw law = contact(acquisition);
      for (const Vector3& place : places_ahead()) {
        const Vector3 p = motion.to_part(place);
        const double expected = 0.7e-6 + dense_front(row, motion, plane_delay(slowness, 0.0), p, c_l);
        EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, exact) << motion.name << ", " << angle << ", " << place.y;
      }
    }
  }
}

TEST(RevolvedFronts, OfVirtualSourcesAreTheFirstArrival) {
  const Row row;
  for (const Motion& motion : motions()) {
    for (const Vector3 v : {Vector3{2e-3, 0, -8e-3}, Vector3{-1e-3, 5e-3, -6e-3}, Vector3{0, -4e-3, 0}, Vector3{1e-3, 0, 0}}) {
      const Acquisition acquisition =
          acquisition_of(probe_of(row.places(), motion), {PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(-0.3e-6)}});
      const DelayLaw law = contact(acquisition);
      for (const Vector3& place : places_ahead()) {
        const Vector3 p = motion.to_part(place);
        const double expected = -0.3e-6 + dense_front(row, motion, virtual_delay(v, c_l), p, c_l);
        EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, exact) << motion.name << ", " << v.z << ", " << place.y;
      }
    }
  }
}

TEST(RevolvedFronts, OfFociConvergeOnARingAndPartBehindIt) {
  const Row row;
  for (const Motion& motion : motions()) {
    for (const Vector3 f : {Vector3{1e-3, 0, 12e-3}, Vector3{0, 6e-3, 9e-3}}) {
      const double away = std::hypot(f.y, f.z);
      const Acquisition acquisition =
          acquisition_of(probe_of(row.places(), motion), {PointWaveEvent{point_of(f), MetresPerSecond(c_l), Seconds(4e-6)}});
      const DelayLaw law = contact(acquisition);
      for (const double around : {0.0, 25.0, -60.0, 85.0}) {
        for (const double out : {0.4, 0.8, 1.0, 1.3, 2.0}) {
          const double radius = out * away;
          const Vector3 own{f.x + 0.1e-3 * (out - 1.0), radius * std::sin(around * degrees), radius * std::cos(around * degrees)};
          const Vector3 p = motion.to_part(own);
          const double expected = 4e-6 + dense_front(row, motion, focus_delay(f, c_l), p, c_l, out > 1.0);
          // Half of the beam's mean over the elements: delays are the formula's to rounding of single steps.
          EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, 1e-12) << motion.name << ", " << around << ", " << out;
        }
      }
      // Beside the outermost rays through the ring nothing arrives, all around.
      const double beside = 0.5 * static_cast<double>(row.count) * row.pitch / away;
      for (const double around : {0.0, 50.0}) {
        const Vector3 own{f.x + 1.2 * beside * away, 2.0 * away * std::sin(around * degrees),
                          2.0 * away * std::cos(around * degrees)};
        EXPECT_TRUE(std::isnan(time_to(*law.transmit, 0, point_of(motion.to_part(own))))) << motion.name << ", " << around;
      }
    }
  }
}

TEST(RevolvedFronts, OfDelaysOfNoFormFindTheirRing) {
  // Stated one by one, in single precision: 1e-13 s; the focus is found to a micrometre.
  const Row row;
  const Motion motion = motions()[0];
  const Vector3 f{-1e-3, 0, 14e-3};
  LawEvent focused;
  LawEvent bent;
  const std::vector<Vector3> places = row.places();
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    focused.elements.push_back(k);
    focused.delays.push_back(static_cast<float>(8e-6 + focus_delay(f, c_l)(places[k])));
    bent.elements.push_back(k);
    // Later towards both ends: diverges, and from no point.
    bent.delays.push_back(static_cast<float>(0.9e-6 * std::pow(std::abs(places[k].x) / 32e-3, 1.5)));
  }
  const Acquisition acquisition = acquisition_of(probe_of(places, motion), {focused, bent});
  const DelayLaw law = contact(acquisition);
  for (const Vector3 p : {Vector3{-1e-3, -6e-3, 8e-3}, Vector3{-1.1e-3, 10e-3, 20e-3}}) {
    const bool crossed = std::hypot(p.y, p.z) > 14e-3;
    const double expected = 8e-6 + dense_front(row, motion, focus_delay(f, c_l), p, c_l, crossed);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, 1e-9);
    double first = 1.0;
    for (std::uint32_t k = 0; k < places.size(); ++k)
      first = std::min(first, static_cast<double>(bent.delays[k]) + length(p - places[k]) / c_l);
    EXPECT_NEAR(time_to(*law.transmit, 1, point_of(p)), first, 1e-15);
  }
}

/// Rows, columns and a diagonal of a matrix array of 9 x 7 elements, 0.8 and 1.1 mm apart.
std::vector<Vector3> matrix_places() {
  std::vector<Vector3> places;
  for (int row = 0; row < 7; ++row) {
    for (int column = 0; column < 9; ++column) places.push_back({0.8e-3 * (column - 4), 1.1e-3 * (row - 3), 0.0});
  }
  return places;
}

struct Line {
  const char* name;
  std::vector<std::uint32_t> elements;
  Row row;
};

std::vector<Line> lines_of_matrix() {
  std::vector<Line> lines{{"row", {}, {}}, {"column", {}, {}}, {"diagonal", {}, {}}};
  for (std::uint32_t column = 0; column < 9; ++column) lines[0].elements.push_back(5 * 9 + column);
  for (std::uint32_t row = 0; row < 7; ++row) lines[1].elements.push_back(row * 9 + 1);
  for (std::uint32_t k = 0; k < 7; ++k) lines[2].elements.push_back(k * 9 + k + 1);
  lines[0].row = {{1, 0, 0}, {0, 2.2e-3, 0}, 64, 1e-3};
  lines[1].row = {{0, 1, 0}, {-2.4e-3, 0, 0}, 64, 1e-3};
  const double length = std::hypot(0.8, 1.1);
  lines[2].row = {{0.8 / length, 1.1 / length, 0}, {0, 0, 0}, 64, 1e-3};
  return lines;
}

TEST(RevolvedFronts, OfOneRowOrColumnOfAMatrixArrayAreAboutThatLine) {
  const std::vector<Vector3> places = matrix_places();
  const double sx = 0.15 / c_l;
  const double sy = -0.25 / c_l;
  for (const Motion& motion : motions()) {
    for (const Line& line : lines_of_matrix()) {
      const Vector3 v{1e-3, -2e-3, -5e-3};
      const Vector3 f{1e-3, -1e-3, 9e-3};
      const Acquisition acquisition = acquisition_of(
          probe_of(places, motion), {PlaneWaveEvent{sx, sy, Seconds(0.0), line.elements},
                                     PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(0.0), line.elements},
                                     PointWaveEvent{point_of(f), MetresPerSecond(c_l), Seconds(3e-6), line.elements}});
      const DelayLaw law = contact(acquisition);
      // Half way to the ring on which the focus lies, and as far again behind it, at some angles about the line.
      const Vector3 along = line.row.along;
      const Vector3 from = f - line.row.through;
      const Vector3 foot = line.row.at(from.x * along.x + from.y * along.y);
      for (const double around : {0.0, 30.0, -70.0}) {
        const Vector3 out =
            std::cos(around * degrees) * Vector3{0, 0, 1} + std::sin(around * degrees) * Vector3{-along.y, along.x, 0};
        for (const double share : {0.5, 2.0}) {
          const Vector3 p = motion.to_part(foot + share * length(f - foot) * out);
          EXPECT_NEAR(time_to(*law.transmit, 2, point_of(p)),
                      3e-6 + dense_front(line.row, motion, focus_delay(f, c_l), p, c_l, share > 1.0), exact)
              << motion.name << ", " << line.name << ", " << around;
        }
      }
      for (const Vector3& place : places_ahead()) {
        const Vector3 p = motion.to_part(place);
        EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), dense_front(line.row, motion, plane_delay(sx, sy), p, c_l), exact)
            << motion.name << ", " << line.name << ", " << place.y;
        EXPECT_NEAR(time_to(*law.transmit, 1, point_of(p)), dense_front(line.row, motion, virtual_delay(v, c_l), p, c_l), exact)
            << motion.name << ", " << line.name << ", " << place.y;
      }
    }
  }
}

TEST(RevolvedFronts, OfTheLivingElementsOfAMatrixArray) {
  // All but one column are dead: what fires stands in it, and the origin's delay is still that of all.
  Acquisition acquisition =
      acquisition_of(probe_of(matrix_places(), motions()[0]), {PlaneWaveEvent{0.15 / c_l, -0.25 / c_l, std::nullopt}});
  for (std::size_t k = 0; k < acquisition.probe.elements.size(); ++k) acquisition.probe.elements[k].dead = k % 9 != 1;
  const Line column = lines_of_matrix()[1];
  const DelayLaw law = contact(acquisition);
  const double earliest = 0.15 / c_l * -3.2e-3 - 0.25 / c_l * 3.3e-3;
  for (const Vector3& p : places_ahead()) {
    const double expected = dense_front(column.row, motions()[0], plane_delay(0.15 / c_l, -0.25 / c_l), p, c_l) - earliest;
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, exact) << p.y;
  }
}

TEST(RevolvedFronts, OfWholeMatrixArraysStayPlane) {
  const double sx = 0.15 / c_l;
  const double sy = -0.25 / c_l;
  const double sz = std::sqrt(1.0 / (c_l * c_l) - sx * sx - sy * sy);
  const Vector3 v{1e-3, -2e-3, -5e-3};
  const Acquisition acquisition =
      acquisition_of(probe_of(matrix_places(), motions()[0]),
                     {PlaneWaveEvent{sx, sy, Seconds(0.0)}, PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(0.0)}});
  const DelayLaw law = contact(acquisition);
  for (const Vector3& p : places_ahead()) {
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), sx * p.x + sy * p.y + sz * p.z, 1e-18);
    EXPECT_NEAR(time_to(*law.transmit, 1, point_of(p)), (length(p - v) - length(v)) / c_l, 1e-18);
  }
  EXPECT_TRUE(law.transmit->plane_wave(0).has_value());
  EXPECT_TRUE(law.transmit->point_source(1).has_value());
  EXPECT_FALSE(law.transmit->revolved(0).has_value());
}

TEST(RevolvedFronts, KnowNothingOfASlownessAcrossTheirRow) {
  const Row row;
  const Motion motion = motions()[0];
  const double sx = 0.2 / c_l;
  // The second is beyond a right angle by its length, and not by what the elements send; the third by that too.
  const Acquisition acquisition = acquisition_of(
      probe_of(row.places(), motion), {PlaneWaveEvent{sx, 0.4 / c_l, Seconds(0.0)}, PlaneWaveEvent{sx, 1.3 / c_l, Seconds(0.0)},
                                       PlaneWaveEvent{1.01 / c_l, 0.0, Seconds(0.0)}});
  const DelayLaw law = contact(acquisition);
  for (const Vector3& p : places_ahead()) {
    const double expected = dense_front(row, motion, plane_delay(sx, 0.0), p, c_l);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), expected, exact);
    EXPECT_NEAR(time_to(*law.transmit, 1, point_of(p)), expected, exact);
    EXPECT_TRUE(std::isnan(time_to(*law.transmit, 2, point_of(p))));
  }
  EXPECT_TRUE(law.transmit->reaches_nothing(2));
}

TEST(RevolvedFronts, BeginOnTheLineItself) {
  const Row row;
  const double sx = 0.3 / c_l;
  const Vector3 v{2e-3, 0, -7e-3};
  const Acquisition acquisition =
      acquisition_of(probe_of(row.places(), motions()[0]),
                     {PlaneWaveEvent{sx, 0.0, Seconds(0.0)}, PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(0.0)}});
  const DelayLaw law = contact(acquisition);
  // Where an element stands the front is when that fires.
  for (const double x : {-3.5e-3, 0.0, 6.5e-3}) {
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of({x, 0, 0})), sx * x, 1e-18);
    EXPECT_NEAR(time_to(*law.transmit, 1, point_of({x, 0, 0})), virtual_delay(v, c_l)({x, 0, 0}), 1e-18);
  }
}

TEST(RevolvedFronts, BehindTheProbeAreAsInFrontOfIt) {
  const Row row;
  const Motion motion = motions()[0];
  const double sx = 0.1 / c_l;
  const DelayLaw law = contact(acquisition_of(probe_of(row.places(), motion), {PlaneWaveEvent{sx, 0.0, Seconds(0.0)}}));
  for (const Vector3 p : {Vector3{1e-3, 0, -2e-3}, Vector3{1e-3, 3e-3, -2e-3}}) {
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), dense_front(row, motion, plane_delay(sx, 0.0), p, c_l), exact);
  }
}

TEST(RevolvedFronts, ForPositionsAreAboutTheProbeWhereItStands) {
  const Row row{{1, 0, 0}, {}, 48, 0.7e-3};
  const double turn = 30.0 * degrees;
  Pose pose;
  pose.origin = point_of({1e-3, 4e-3, 0});
  pose.x = {std::cos(turn), std::sin(turn), 0.0};
  pose.y = {-std::sin(turn), std::cos(turn), 0.0};
  const double sx = -0.2 / c_l;
  Acquisition acquisition = acquisition_of(probe_of(row.places(), motions()[0]), {PlaneWaveEvent{sx, 0.0, Seconds(0.0)}});
  acquisition.positions = {pose};
  const PositionPart part = part_at(acquisition, 0);
  const Motion motion{"placed", {pose.x.x, pose.x.y, 0}, {pose.y.x, pose.y.y, 0}, {0, 0, 1}, {1e-3, 4e-3, 0}};
  const DelayLaw law = contact(part.acquisition);
  for (const Vector3& place : places_ahead()) {
    const Vector3 p = motion.to_part(place);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), dense_front(row, motion, plane_delay(sx, 0.0), p, c_l), exact);
  }
}

TEST(RevolvedFronts, AreThoseOfTheLegsModeByItsSlowness) {
  const Row row;
  const Motion motion = motions()[1];
  const double sx = std::sin(12.0 * degrees) / c_l;
  const DelayLaw law = contact(acquisition_of(probe_of(row.places(), motion), {PlaneWaveEvent{sx, 0.0, Seconds(0.0)}}), "TL");
  for (const Vector3& place : places_ahead()) {
    const Vector3 p = motion.to_part(place);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), dense_front(row, motion, plane_delay(sx, 0.0), p, c_t), exact);
  }
}

TEST(RevolvedFronts, OfVirtualSourcesInAnotherModeAreTheFirstArrivalOverTheElements) {
  const Row row;
  const std::vector<Vector3> places = row.places();
  const Vector3 v{2e-3, 0, -8e-3};
  const DelayLaw law = contact(
      acquisition_of(probe_of(places, motions()[0]), {PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(0.0)}}), "TL");
  for (const Vector3& p : places_ahead()) {
    double first = 1.0;
    for (const Vector3& e : places) first = std::min(first, virtual_delay(v, c_l)(e) + length(p - e) / c_t);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), first, 1e-15);
  }
}

Grid grid_of(double y_first, double y_last, std::size_t planes, double z_first = 2e-3) {
  return {{Metres(-5e-3), Metres(5e-3), 11}, {Metres(z_first), Metres(12e-3), 6}, {Metres(y_first), Metres(y_last), planes}};
}

TEST(RevolvedFronts, HaveAFormThatSuitsTheGrid) {
  const Row row;
  const Vector3 v{2e-3, 0, -8e-3};
  const Acquisition acquisition = acquisition_of(
      probe_of(row.places(), motions()[0]),
      {PlaneWaveEvent{0.1 / c_l, 0.0, Seconds(0.0)}, PointWaveEvent{point_of(v), MetresPerSecond(c_l), Seconds(0.0)}});
  const auto leg = contact(acquisition).transmit;
  const auto chosen = select_sources(leg, {1, 0});
  // In the plane they are what they were; above the line, and beside the plane, no such form holds.
  const Grid in_plane = grid_of(0.0, 0.0, 1);
  ASSERT_TRUE(leg->plane_wave_on(0, in_plane) && leg->point_source_on(1, in_plane));
  EXPECT_TRUE(chosen->plane_wave_on(1, in_plane) && chosen->point_source_on(0, in_plane) && chosen->revolved(0));
  for (const Grid& grid : {grid_of(-3e-3, 3e-3, 3), grid_of(1e-3, 1e-3, 1), grid_of(0.0, 0.0, 1, -2e-3)}) {
    EXPECT_FALSE(leg->plane_wave_on(0, grid) || leg->point_source_on(1, grid));
    EXPECT_FALSE(chosen->plane_wave_on(1, grid) || chosen->point_source_on(0, grid));
  }
  EXPECT_FALSE(leg->plane_wave(0) || leg->point_source(1));
  ASSERT_TRUE(leg->revolved(0) && leg->revolved(1));
  for (const Vector3& p : places_ahead()) {
    const auto form = leg->revolved(0);
    EXPECT_EQ(std::get<PlaneWaveForm>(form->in_plane).time_to(form->about.turned(point_of(p))), time_to(*leg, 0, point_of(p)));
  }
  // Nothing is tabulated of them.
  EXPECT_EQ(leg->table_bytes(grid_of(-3e-3, 3e-3, 3)), 0U);
}

// ---- convex arrays

/// 96 elements over 64 degrees of a circle of 30 mm about (0, 0, -30) mm, or `count` of them as densely as one likes.
std::vector<Vector3> convex_places(std::size_t count) {
  std::vector<Vector3> places;
  for (std::size_t k = 0; k < count; ++k) {
    const double angle = 64.0 * degrees * ((static_cast<double>(k) + 0.5) / static_cast<double>(count) - 0.5);
    places.push_back({30e-3 * std::sin(angle), 0.0, 30e-3 * (std::cos(angle) - 1.0)});
  }
  return places;
}

Probe convex_probe(std::size_t count) {
  Probe probe = probe_of(convex_places(count), motions()[0]);
  for (Element& element : probe.elements) {
    const double x = element.centre.x.value;
    const double z = element.centre.z.value + 30e-3;
    element.normal = {x / 30e-3, 0.0, z / 30e-3};
  }
  return probe;
}

TEST(RevolvedFronts, OfConvexArraysAreTheFirstArrivalBesideTheirPlane) {
  const Probe probe = convex_probe(96);
  const double above = frame_of(probe).origin.z.value;  // the frame's origin is the elements' mean
  const Vector3 v{1e-3, 0, -22e-3};                     // in the part
  const Vector3 own = v - Vector3{0, 0, above};
  const Acquisition acquisition = acquisition_of(probe, {PointWaveEvent{point_of(own), MetresPerSecond(c_l), Seconds(0.0)}});
  const DelayLaw law = contact(acquisition);
  const std::vector<Vector3> dense = convex_places(40001);
  const double of_origin = length(own) / c_l;
  for (const Vector3& p : places_ahead()) {
    double first = 1.0;
    for (const Vector3& e : dense) first = std::min(first, (length(e - v) + length(p - e)) / c_l - of_origin);
    const double time = time_to(*law.transmit, 0, point_of(p));
    if (p.y == 0.0) {
      EXPECT_NEAR(time, first, exact);
      EXPECT_NEAR(time, length(p - v) / c_l - of_origin, 1e-18);
    } else {
      // Between two elements the front sags: by half of their 0.35 mm squared, over twice the nearer way, in time.
      EXPECT_GE(time, first - 1e-15) << p.y;
      EXPECT_LE(time, first + std::pow(0.175e-3, 2) / (2.0 * 5e-3) / c_l) << p.y;
    }
  }
}

TEST(RevolvedFronts, OfConvexArraysWithAFocusFollowTheirElements) {
  const Probe probe = convex_probe(96);
  const double above = frame_of(probe).origin.z.value;
  const Vector3 f{0.0, 0, 40e-3};
  const Vector3 own = f - Vector3{0, 0, above};
  const Acquisition acquisition = acquisition_of(probe, {PointWaveEvent{point_of(own), MetresPerSecond(c_l), Seconds(10e-6)}});
  const DelayLaw law = contact(acquisition);
  const std::vector<Vector3> dense = convex_places(40001);
  // Before the focus the first arrival, beside the plane too.
  for (const Vector3 p : {Vector3{0.0, 3e-3, 15e-3}, Vector3{0.5e-3, -6e-3, 20e-3}}) {
    double first = 1.0;
    for (const Vector3& e : dense) first = std::min(first, 10e-6 + (length(own) - length(f - e) + length(p - e)) / c_l);
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), first, 1e-9) << p.y;
  }
}

// ---- through surfaces

std::shared_ptr<const Surface> flat() {
  return make_surface({.where = "[surface]", .kind = "plane", .numbers = {}, .words = {}});
}

/// Seconds from a place above the plane z = 0 to one below it, by Fermat: the least over where it enters, along the straight line
/// between both as seen from above, by golden section.
double through_flat(Vector3 from, Vector3 to) {
  const double aside = std::hypot(to.x - from.x, to.y - from.y);
  const auto time = [&](double x) { return std::hypot(x, from.z) / c_w + std::hypot(aside - x, to.z) / c_l; };
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = 0.0;
  double high = aside;
  for (int round = 0; round < 70; ++round) {
    const double one = high - golden * (high - low);
    const double other = low + golden * (high - low);
    (time(one) < time(other) ? high : low) = time(one) < time(other) ? other : one;
  }
  return time(0.5 * (low + high));
}

DelayLaw through_water(const Acquisition& acquisition) {
  Scene scene;
  scene.couplant = MetresPerSecond(c_w);
  scene.surface = flat();
  return make_delay_law("immersion", {acquisition, {MetresPerSecond(c_l), MetresPerSecond(c_t)}, "LL", scene});
}

TEST(RevolvedFronts, ThroughASurfaceAreTheFirstArrivalOverTheElements) {
  const double height = 12e-3;
  std::vector<Vector3> places = Row{{1, 0, 0}, {}, 64, 0.5e-3}.places();
  const Vector3 v{1e-3, 0, -9e-3};
  const double sx = std::sin(5.0 * degrees) / c_w;
  Motion motion = motions()[0];
  motion.origin.z = -height;
  const Acquisition acquisition =
      acquisition_of(probe_of(places, motion),
                     {PlaneWaveEvent{sx, 0.0, Seconds(0.0)}, PointWaveEvent{point_of(v), MetresPerSecond(c_w), Seconds(0.0)}});
  const DelayLaw law = through_water(acquisition);
  for (const Vector3 p : {Vector3{1e-3, 5e-3, 8e-3}, Vector3{-3e-3, -2e-3, 4e-3}, Vector3{2e-3, 0, 6e-3}}) {
    double plane = 1.0;
    double diverging = 1.0;
    for (const Vector3& e : places) {
      const double way = through_flat(e - Vector3{0, 0, height}, p);
      plane = std::min(plane, plane_delay(sx, 0.0)(e) + way);
      diverging = std::min(diverging, virtual_delay(v, c_w)(e) + way);
    }
    EXPECT_NEAR(time_to(*law.transmit, 0, point_of(p)), plane, 1e-12) << p.y;
    EXPECT_NEAR(time_to(*law.transmit, 1, point_of(p)), diverging, 1e-12) << p.y;
  }
}

TEST(RevolvedFronts, ThroughASurfaceOfAFocusFollowTheElementsBesideThePlane) {
  const double height = 12e-3;
  const Row row{{1, 0, 0}, {}, 64, 0.5e-3};
  const std::vector<Vector3> places = row.places();
  Motion motion = motions()[0];
  motion.origin.z = -height;
  // One focus in the couplant, one by whose delays the elements' waves meet in the part.
  const Vector3 in_water{0.5e-3, 0, 9e-3};
  const Vector3 in_part{1e-3, 0, 9e-3};
  LawEvent law_event;
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    law_event.elements.push_back(k);
    law_event.delays.push_back(static_cast<float>(15e-6 - through_flat(places[k] - Vector3{0, 0, height}, in_part)));
  }
  const Acquisition acquisition = acquisition_of(
      probe_of(places, motion), {PointWaveEvent{point_of(in_water), MetresPerSecond(c_w), Seconds(5e-6)}, law_event});
  const DelayLaw law = through_water(acquisition);
  const Grid grid{{Metres(0.0), Metres(1e-3), 2}, {Metres(4e-3), Metres(5e-3), 2}, {Metres(-4e-3), Metres(4e-3), 3}};
  const auto table = law.transmit->tabulated(grid, 1);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(law.transmit->table_bytes(grid), 2 * 12 * sizeof(float));
  for (const Point& pixel : grid.points()) {
    const Vector3 p = vector_of(pixel);
    // Stationary over the elements: of the focus in the water, behind which waves have crossed, the last one, before that in the
    // part the first one. Between two elements 0.5 mm apart it moves by less than 3 ns.
    double last = -1.0;
    double first = 1.0;
    for (const Vector3& e : places) {
      const double way = through_flat(e - Vector3{0, 0, height}, p);
      last = std::max(last, 5e-6 + focus_delay(in_water, c_w)(e) + way);
      first = std::min(first, 15e-6 - through_flat(e - Vector3{0, 0, height}, in_part) + way);
    }
    EXPECT_NEAR(time_to(*law.transmit, 0, pixel), last, 3e-9) << p.x << ", " << p.y << ", " << p.z;
    EXPECT_NEAR(time_to(*law.transmit, 1, pixel), first, 3e-9) << p.x << ", " << p.y << ", " << p.z;
    for (const std::size_t source : {0, 1})
      EXPECT_NEAR(time_to(*table, source, pixel), time_to(*law.transmit, source, pixel), 1e-12);
  }
}

}  // namespace
}  // namespace echoform::revolved_fronts
