// Echoes of many scatterers, against a direct sum of pulses in double precision that is written out here.
#include "simulators/scatterer_synthesis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform {
namespace {

SimulatorConfiguration small_source() {
  SimulatorConfiguration c;
  c.elements = 12;
  c.pitch = Metres(0.3e-3);
  c.element_width = Metres(0.25e-3);
  c.centre_frequency = Hertz(5e6);
  c.samples = 900;
  c.sample_rate = Hertz(40e6);
  c.start_time = Seconds(3e-6);
  c.time_offset = Seconds(0.2e-6);
  c.material.longitudinal_velocity = MetresPerSecond(1540.0);
  c.spreading = Spreading::spherical;
  c.encoding = SampleEncoding::float32;
  c.quantised = false;
  c.noise_rms = 0.0;
  c.full_scale = 1e3;
  c.phantom = {};
  return c;
}

std::vector<Scatterer> some_scatterers(std::size_t count, double low = 1e-3, double high = 20e-3) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> x(-6e-3, 6e-3);
  std::uniform_real_distribution<double> z(low, high);
  std::uniform_real_distribution<double> strength(-1.0, 1.0);
  std::vector<Scatterer> all(count);
  for (Scatterer& scatterer : all)
    scatterer = {{Metres(x(random)), Metres(0.2 * x(random)), Metres(z(random))}, strength(random)};
  return all;
}

/// D G of one leg, by the formulas of echo_model.hpp.
double leg_factor(const SimulatorConfiguration& c, const Element& element, const Point& place) {
  const double dx = (place.x - element.centre.x).value;
  const double dy = (place.y - element.centre.y).value;
  const double dz = (place.z - element.centre.z).value;
  const double way = std::sqrt(dx * dx + dy * dy + dz * dz);
  const double wavelength = c.material.longitudinal_velocity.value / c.centre_frequency.value;
  const double spread = 10e-3 / std::max(way, wavelength / 4.0);
  if (!c.directivity) return spread;
  const auto sinc = [](double u) { return std::abs(u) < 1e-9 ? 1.0 : std::sin(std::numbers::pi * u) / (std::numbers::pi * u); };
  const double cosine = (dx * element.normal.x + dz * element.normal.z) / way;
  if (cosine <= 0.0) return 0.0;
  const double along = (dx * element.normal.z - dz * element.normal.x) / way;
  return spread * cosine * sinc(element.width.value * along / wavelength) * sinc(element.length.value * dy / way / wavelength);
}

std::vector<double> direct_row(const SimulatorConfiguration& c, const Acquisition& a, std::size_t event, std::size_t receiver,
                               const std::vector<Scatterer>& scatterers) {
  std::vector<double> row(a.samples);
  const double f = c.centre_frequency.value;
  const double s = std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * c.fractional_bandwidth * f);
  const auto way = [](const Element& element, const Point& place) {
    return std::hypot((place.x - element.centre.x).value, (place.y - element.centre.y).value, (place.z - element.centre.z).value);
  };
  if (a.probe.elements[receiver].dead) return row;
  const Element& receives = a.probe.elements[receiver];
  for (const Firing& firing : firings_of(a, event)) {
    const Element& fires = a.probe.elements[firing.element];
    if (fires.dead) continue;
    for (const Scatterer& scatterer : scatterers) {
      const double amplitude = firing.weight * scatterer.reflectivity * leg_factor(c, fires, scatterer.place) *
                               leg_factor(c, receives, scatterer.place);
      const double arrival = firing.delay + (way(fires, scatterer.place) + way(receives, scatterer.place)) / 1540.0;
      for (std::size_t n = 0; n < row.size(); ++n) {
        const double t = a.start_time.value - a.time_offset.value + static_cast<double>(n) / a.sample_rate.value - arrival;
        if (std::abs(t) > 7.0 * s) continue;
        row[n] += amplitude * std::exp(-0.5 * t * t / (s * s)) * std::cos(2.0 * std::numbers::pi * f * t);
      }
    }
  }
  return row;
}

EchoModelOptions model_of(const SimulatorConfiguration& c) {
  return {c.material.longitudinal_velocity, c.spreading, c.directivity};
}

/// Energy of what is wrong in all rows, over that of what is right.
double error_energy(const SimulatorConfiguration& c, const std::vector<Scatterer>& scatterers, bool event_by_event = false) {
  validate(c, "test");
  const Acquisition a = acquisition_of(c);
  const ScattererSynthesis synthesis(a, placed_probe(c), model_of(c), c.fractional_bandwidth);
  std::vector<float> frame(synthesis.frame_samples());
  if (event_by_event) {
    for (std::size_t event = 0; event < a.event_count(); ++event) synthesis.add_event(event, scatterers, frame);
  } else {
    synthesis.add(scatterers, frame, 2);
  }
  double wrong = 0.0;
  double right = 0.0;
  std::size_t place = 0;
  for (const EventReceiver pair : FrameLayout(a).pairs()) {
    for (const double expected : direct_row(c, a, pair.event, pair.receiver, scatterers)) {
      const double off = static_cast<double>(frame[place++]) - expected;
      wrong += off * off;
      right += expected * expected;
    }
  }
  EXPECT_EQ(place, frame.size());
  EXPECT_GT(right, 0.0);
  return wrong / right;
}

constexpr double minus_60_db = 1e-6;

TEST(ScattererSynthesis, OfAFullMatrixIsTheSumOfItsPulses) {
  EXPECT_LT(error_energy(small_source(), some_scatterers(60)), minus_60_db);
}

TEST(ScattererSynthesis, OfHalfAMatrixWithDeadElements) {
  SimulatorConfiguration c = small_source();
  c.matrix = MatrixKind::half;
  c.dead_elements = {2, 7};
  EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db);
}

TEST(ScattererSynthesis, OfBeamsIsTheSumOfTheirElements) {
  SimulatorConfiguration c = small_source();
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 5;
  c.dead_elements = {3};
  for (const double focus : {15e-3, -4e-3, std::numeric_limits<double>::infinity()}) {
    c.transmit.focus = Metres(focus);
    c.transmit.angles = {-40.0, 30.0};
    EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db) << focus;
    EXPECT_LT(error_energy(c, some_scatterers(40), true), minus_60_db) << focus;
  }
  c.transmit.angles.reset();
  c.transmit.focus = Metres(10e-3);
  c.transmit.aperture = 6;
  c.transmit.receive_aperture = 4;
  EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db);
}

TEST(ScattererSynthesis, OfACurvilinearArrayAndOfAMatrixArray) {
  SimulatorConfiguration c = small_source();
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 3;
  c.radius = Metres(8e-3);
  c.transmit.aperture = 6;
  EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db);
  c = small_source();
  c.elements = 4;
  c.rows = 3;
  c.element_length = Metres(0.2e-3);
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 2;
  c.transmit.angles = {-10.0, 20.0};
  c.transmit.beams.angles_across = {-15.0, 15.0};
  c.transmit.beams.across = 2;
  EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db);
}

TEST(ScattererSynthesis, OfLawsWithWeightsAndNegativeDelays) {
  SimulatorConfiguration c = small_source();
  c.events = {{LawEvent{{0, 4, 9}, {-1.5e-6F, 0.4e-6F, 3e-6F}, {1.0F, 0.5F, 2.0F}}, {1, 2, 11}},
              {LawEvent{{1, 2}, {}, {-1.0F, -1.0F}}, {}}};
  EXPECT_LT(error_energy(c, some_scatterers(40)), minus_60_db);
}

TEST(ScattererSynthesis, OfPulsesThatReachBeyondHalfTheSamplingRate) {
  SimulatorConfiguration c = small_source();
  c.sample_rate = Hertz(12e6);
  c.fractional_bandwidth = 1.2;
  c.start_time = Seconds(0.0);
  EXPECT_LT(error_energy(c, some_scatterers(30)), minus_60_db);
}

TEST(ScattererSynthesis, OfNarrowPulses) {
  SimulatorConfiguration c = small_source();
  c.fractional_bandwidth = 0.05;
  c.directivity = false;
  EXPECT_LT(error_energy(c, some_scatterers(30)), minus_60_db);
}

TEST(ScattererSynthesis, ScatterersOutOfTheGateAreNotHeard) {
  SimulatorConfiguration c = small_source();
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 3;
  c.transmit.angles = {-60.0, 60.0};
  // 900 samples from 3 us on end at 19.6 mm; what would be moved round the ends is as strong as any.
  std::vector<Scatterer> scatterers = some_scatterers(20, 21e-3, 60e-3);
  const auto near = some_scatterers(20, 0.1e-3, 0.9e-3);
  scatterers.insert(scatterers.end(), near.begin(), near.end());
  scatterers.push_back({{Metres(0.0), Metres(0.0), Metres(8.0)}, 1e6});
  const Acquisition a = acquisition_of(c);
  const ScattererSynthesis synthesis(a, placed_probe(c), model_of(c), c.fractional_bandwidth);
  std::vector<float> frame(synthesis.frame_samples());
  synthesis.add(scatterers, frame, 1);
  std::size_t place = 0;
  for (const EventReceiver pair : FrameLayout(a).pairs()) {
    for (const double expected : direct_row(c, a, pair.event, pair.receiver, scatterers)) {
      EXPECT_NEAR(static_cast<double>(frame[place++]), expected, 1e-2);
    }
  }
}

/// One echo wherever it lies between two samples.
TEST(ScattererSynthesis, EveryEchoIsRightToAThousandth) {
  SimulatorConfiguration c = small_source();
  c.elements = 1;
  c.directivity = false;
  c.start_time = Seconds(8e-6);
  const Acquisition a = acquisition_of(c);
  const ScattererSynthesis synthesis(a, placed_probe(c), model_of(c), c.fractional_bandwidth);
  double worst = 0.0;
  for (int k = 0; k < 97; ++k) {
    const std::vector<Scatterer> one{{{Metres(0.0), Metres(0.0), Metres(10e-3 + 0.3e-6 * k)}, 1.0}};
    std::vector<float> frame(synthesis.frame_samples());
    synthesis.add(one, frame, 1);
    const std::vector<double> expected = direct_row(c, a, 0, 0, one);
    for (std::size_t n = 0; n < frame.size(); ++n) worst = std::max(worst, std::abs(static_cast<double>(frame[n]) - expected[n]));
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(worst, 1e-3);
  EXPECT_GT(worst, 1e-6);
}

TEST(ScattererSynthesis, DoesNotDependOnThreads) {
  SimulatorConfiguration c = small_source();
  const Acquisition a = acquisition_of(c);
  const ScattererSynthesis synthesis(a, placed_probe(c), model_of(c), c.fractional_bandwidth);
  std::vector<float> one(synthesis.frame_samples());
  std::vector<float> three(synthesis.frame_samples());
  synthesis.add(some_scatterers(20), one, 1);
  synthesis.add(some_scatterers(20), three, 3);
  EXPECT_EQ(one, three);
}

}  // namespace
}  // namespace echoform
