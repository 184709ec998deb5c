// Arrays of known drawings.
#include "methods/array_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace echoform {
namespace {

/// `columns` along x and `rows` along y, row by row as files have them.
Probe field_of(std::size_t columns, std::size_t rows, double pitch_x, double pitch_y, double width, double length) {
  Probe probe;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      Element element;
      element.centre = {Metres(pitch_x * (static_cast<double>(column) - 0.5 * static_cast<double>(columns - 1))),
                        Metres(pitch_y * (static_cast<double>(row) - 0.5 * static_cast<double>(rows - 1))), Metres()};
      element.width = Metres(width);
      element.length = Metres(length);
      probe.elements.push_back(element);
    }
  }
  return probe;
}

TEST(ArrayShape, OfALineIsFromEdgeToEdge) {
  const Probe probe = make_linear_probe(64, Metres(0.65e-3), Metres(0.6e-3), Hertz(5e6), Hertz(3e6));
  EXPECT_TRUE(array_shape(probe).line);
  EXPECT_NEAR(array_shape(probe).pitch.value, 0.65e-3, 1e-12);
  EXPECT_NEAR(array_shape(probe).aperture.value, 41.55e-3, 1e-12);  // 63 * 0.65 + 0.6
  const Probe points = make_linear_probe(64, Metres(0.65e-3), Metres(0.0), Hertz(5e6), Hertz(3e6));
  EXPECT_NEAR(array_shape(points).aperture.value, 41.6e-3, 1e-12);  // 64 * 0.65
  const Probe single = make_linear_probe(1, Metres(0.65e-3), Metres(6e-3), Hertz(5e6), Hertz(3e6));
  EXPECT_EQ(array_shape(single).pitch.value, 0.0);
  EXPECT_NEAR(array_shape(single).aperture.value, 6e-3, 1e-15);
}

TEST(ArrayShape, OfATurnedLineIsAlongIt) {
  Probe probe = make_linear_probe(2, Metres(0.5e-3), Metres(0.0), Hertz(5e6), Hertz(3e6));
  probe.elements[1].centre = probe.elements[0].centre;
  probe.elements[1].centre.x += Metres(0.3e-3);
  probe.elements[1].centre.z += Metres(0.4e-3);
  EXPECT_NEAR(array_shape(probe).pitch.value, 0.5e-3, 1e-15);
  // About z, in any order of its elements.
  Probe across = make_linear_probe(32, Metres(0.5e-3), Metres(0.0), Hertz(5e6), Hertz(3e6));
  for (Element& element : across.elements) {
    element.centre.y = 0.8 * element.centre.x;
    element.centre.x = 0.6 * element.centre.x;
  }
  std::shuffle(across.elements.begin(), across.elements.end(), std::mt19937(3));
  EXPECT_TRUE(array_shape(across).line);
  EXPECT_NEAR(array_shape(across).pitch.value, 0.5e-3, 1e-12);
  EXPECT_NEAR(array_shape(across).aperture.value, 16e-3, 1e-12);
}

TEST(ArrayShape, OfACurvedLineIsAlongTheCurve) {
  Probe probe;
  const double radius = 30e-3;
  for (int k = 0; k < 61; ++k) {
    const double angle = (k - 30) * std::numbers::pi / 180.0;
    Element element;
    element.centre = {Metres(radius * std::sin(angle)), Metres(), Metres(-radius * (1.0 - std::cos(angle)))};
    element.normal = {std::sin(angle), 0.0, std::cos(angle)};
    probe.elements.push_back(element);
  }
  EXPECT_TRUE(array_shape(probe).line);
  EXPECT_NEAR(array_shape(probe).pitch.value, 2.0 * radius * std::sin(std::numbers::pi / 360.0), 1e-12);  // chords
}

/// Detectors on a circle in the plane of x and z that face its middle, at these angles in radians.
Probe ring_of(const std::vector<double>& angles, double radius) {
  Probe probe;
  for (const double angle : angles) {
    Element element;
    element.centre = {Metres(radius * std::cos(angle)), Metres(), Metres(radius * std::sin(angle))};
    element.normal = {-std::cos(angle), 0.0, -std::sin(angle)};
    probe.elements.push_back(element);
  }
  return probe;
}

TEST(ArrayShape, OfARingIsAlongTheRing) {
  constexpr std::size_t count = 173;
  const double radius = 4.8e-3;
  const double step = 2.0 * std::numbers::pi / count;
  std::vector<double> angles(count);
  for (std::size_t k = 0; k < count; ++k) angles[k] = step * static_cast<double>(k);
  std::mt19937 random(7);
  std::shuffle(angles.begin(), angles.end(), random);
  const ArrayShape even = array_shape(ring_of(angles, radius));
  EXPECT_TRUE(even.line);
  EXPECT_TRUE(even.even);
  EXPECT_NEAR(even.pitch.value, 2.0 * radius * std::sin(0.5 * step), 1e-12);  // chords
  // Pulled about by a quarter of their distance: neighbours are half of it to one and a half apart.
  std::uniform_real_distribution<double> off(-0.25 * step, 0.25 * step);
  for (double& angle : angles) angle += off(random);
  const ArrayShape uneven = array_shape(ring_of(angles, radius));
  EXPECT_FALSE(uneven.even);
  EXPECT_GT(uneven.nearest.value, 0.49 * step * radius);
  EXPECT_LT(uneven.farthest.value, 1.51 * step * radius);
  // Three quarters of a turn.
  for (std::size_t k = 0; k < count; ++k) angles[k] = 0.75 * step * static_cast<double>(k);
  const ArrayShape arc = array_shape(ring_of(angles, radius));
  EXPECT_TRUE(arc.even);
  EXPECT_NEAR(arc.pitch.value, 2.0 * radius * std::sin(0.375 * step), 1e-12);
  // Four detectors whose directions cancel to the last bit.
  EXPECT_NEAR(array_shape(ring_of({0.0, 0.5 * std::numbers::pi, std::numbers::pi, 1.5 * std::numbers::pi}, radius)).pitch.value,
              std::numbers::sqrt2 * radius, 1e-12);
}

TEST(ArrayShape, NeighboursAreTheNearestOnesWhateverTheOrder) {
  EXPECT_EQ(neighbour_distance(make_linear_probe(1, Metres(0.5e-3), Metres(), Hertz(5e6), Hertz(3e6))).value, 0.0);
  Probe probe = field_of(9, 7, 1.9e-3, 2.5e-3, 0.0, 0.0);
  std::mt19937 random(3);
  std::shuffle(probe.elements.begin(), probe.elements.end(), random);
  EXPECT_NEAR(neighbour_distance(probe).value, 1.9e-3, 1e-15);
  // Each twice, as senders and receivers of one place are.
  Probe twice = probe;
  twice.elements.insert(twice.elements.end(), probe.elements.begin(), probe.elements.end());
  EXPECT_NEAR(neighbour_distance(twice).value, 1.9e-3, 1e-15);
  // Anywhere in a box: the median of what comparing all with all gives.
  std::uniform_real_distribution<double> place(-10e-3, 10e-3);
  std::vector<double> nearest;
  for (Element& element : probe.elements) element.centre = {Metres(place(random)), Metres(place(random)), Metres(place(random))};
  for (const Element& one : probe.elements) {
    double found = 1.0;
    for (const Element& other : probe.elements) {
      const Point& a = one.centre;
      const Point& b = other.centre;
      if (&one != &other) found = std::min(found, std::hypot((a.x - b.x).value, (a.y - b.y).value, (a.z - b.z).value));
    }
    nearest.push_back(found);
  }
  std::sort(nearest.begin(), nearest.end());
  EXPECT_EQ(neighbour_distance(probe).value, nearest[nearest.size() / 2]);
}

TEST(ArrayShape, OfAFieldHasTwoAxes) {
  // 29 x 29 elements: rows follow each other, and from the end of one to the begin of the next the file jumps by 28 mm.
  Probe probe = field_of(29, 29, 1e-3, 1e-3, 0.9e-3, 0.9e-3);
  ArrayShape shape = array_shape(probe);
  EXPECT_FALSE(shape.line);
  EXPECT_NEAR(shape.aperture.value, 28.9e-3, 1e-12);
  EXPECT_NEAR(shape.aperture_across.value, 28.9e-3, 1e-12);
  EXPECT_NEAR(shape.pitch.value, 1e-3, 1e-12);
  EXPECT_NEAR(shape.pitch_across.value, 1e-3, 1e-12);
  // Two lines are a field; sizes that are not known are a pitch.
  probe = field_of(64, 2, 0.5e-3, 4e-3, 0.0, 0.0);
  shape = array_shape(probe);
  EXPECT_FALSE(shape.line);
  EXPECT_NEAR(shape.aperture.value, 32e-3, 1e-12);
  EXPECT_NEAR(shape.aperture_across.value, 8e-3, 1e-12);
  // Tilted about y by 30 degrees, on a wedge.
  for (Element& element : probe.elements) {
    const double along = element.centre.x.value;
    element.centre.x = Metres(along * std::cos(std::numbers::pi / 6.0));
    element.centre.z = Metres(along * std::sin(std::numbers::pi / 6.0) - 20e-3);
    element.normal = {-std::sin(std::numbers::pi / 6.0), 0.0, std::cos(std::numbers::pi / 6.0)};
  }
  EXPECT_NEAR(array_shape(probe).pitch.value, 0.5e-3, 1e-12);
  EXPECT_NEAR(array_shape(probe).aperture.value, 32e-3, 1e-12);
}

TEST(ArrayShape, OfAnIrregularFieldHasNoPitch) {
  Probe probe = field_of(8, 8, 1e-3, 1e-3, 0.5e-3, 0.5e-3);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> off(-0.4e-3, 0.4e-3);
  for (Element& element : probe.elements) {
    element.centre.x += Metres(off(random));
    element.centre.y += Metres(off(random));
  }
  EXPECT_EQ(array_shape(probe).pitch.value, 0.0);
  EXPECT_GT(array_shape(probe).aperture.value, 6.5e-3);
  EXPECT_LT(array_shape(probe).aperture.value, 8.5e-3);
}

TEST(ArrayRows, AreWhatThePlaneOfTheImageSees) {
  const Probe probe = field_of(5, 3, 1e-3, 2e-3, 0.0, 0.0);
  std::vector<bool> take(15, true);
  take[2] = take[7] = take[12] = false;  // the middle column
  take[0] = false;
  const auto rows = array_rows(probe, take);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].elements, (std::vector<std::size_t>{5, 10}));
  EXPECT_EQ(rows[1].elements, (std::vector<std::size_t>{1, 6, 11}));
  EXPECT_NEAR(rows[2].at.x, 1e-3, 1e-15);
}

TEST(ArrayShape, OfSomeElementsIsThatOfTheArrayThatTheyAre) {
  const Probe probe = make_linear_probe(12, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  std::vector<bool> take(12);
  for (const std::size_t k : {1U, 5U, 9U}) take[k] = true;
  const ArrayShape even = array_shape(subarray(probe, take));
  EXPECT_NEAR(even.pitch.value, 2e-3, 1e-12);
  EXPECT_NEAR(even.aperture.value, 4.4e-3, 1e-12);
  EXPECT_TRUE(even.even);
  take[10] = true;
  EXPECT_FALSE(array_shape(subarray(probe, take)).even);
}

}  // namespace
}  // namespace echoform
