// Images of frames that are acquired from several positions of the probe, on every engine, against plain sums with the elements
// moved, and against coherent scans of the same frames.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "acquisition/positions.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/display_settings.hpp"
#include "methods/filter_settings.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/tfm/section.hpp"
#include "tests/engine/places.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double speed = 6320.0;
constexpr double shear_speed = 3130.0;
constexpr double couplant_speed = 1480.0;
constexpr std::size_t count = 7;  // elements

/// The probe's x and y turned by `tilt` about y, then by `twist` about z: the columns of that rotation, written out.
Pose pose_at(double x, double y, double z, double tilt = 0.0, double twist = 0.0) {
  Pose pose;
  pose.origin = {Metres(x), Metres(y), Metres(z)};
  pose.x = {std::cos(tilt) * std::cos(twist), std::cos(tilt) * std::sin(twist), -std::sin(tilt)};
  pose.y = {-std::sin(twist), std::cos(twist), 0.0};
  return pose;
}

/// Of a linear array on its own x axis: element k is at origin + x_k x, and looks along x cross y.
Probe moved_by_hand(Probe probe, const Pose& pose) {
  for (Element& element : probe.elements) {
    const double along = element.centre.x.value;
    const Direction& x = pose.x;
    const Direction& y = pose.y;
    element.centre = {pose.origin.x + Metres(along * x.x), pose.origin.y + Metres(along * x.y),
                      pose.origin.z + Metres(along * x.z)};
    element.normal = {x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x};
  }
  return probe;
}

class PositionImages : public EnginesAt {
 protected:
  PositionImages() {
    acquisition = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {}, 320, count)->acquisition;
    configuration.grid.x = {Metres(-5.1e-3), Metres(5.3e-3)};
    configuration.grid.z = {Metres(1.03e-3), Metres(11.9e-3)};
    configuration.grid.pixels = {21, 19};
    configuration.material = {MetresPerSecond(speed), MetresPerSecond(shear_speed)};
    configuration.imaging.threads = 2;
    section<FilterSection>(configuration).kind = FilterWish::none;
    tfm(configuration).accuracy = GetParam().accuracy;
  }

  /// All elements in turn at every position. `mixed`: positions take turns instead.
  void fire_elements(const std::vector<Pose>& positions, bool mixed = false) {
    acquisition.positions = positions;
    acquisition.events.clear();
    for (std::size_t k = 0; k < positions.size() * count; ++k) {
      TransmitEvent event;
      event.form = ElementEvent{static_cast<std::uint32_t>(mixed ? k / positions.size() : k % count)};
      event.position = static_cast<std::uint32_t>(mixed ? k % positions.size() : k / count);
      acquisition.events.push_back(event);
    }
  }

  Imaged image(const Frame& frame) {
    setup = resolve_imaging(
        {.configuration = configuration, .acquisition = acquisition, .frames_in_flight = 1, .wish = {.complex_images = true}});
    Imaged imaged;
    imaged.engine = make_engine(setup, {.automatic = false, .kind = GetParam().backend, .threads = 2}, {});
    imaged.engine->equip(imaged.slot);
    put(frame, imaged.slot);
    EXPECT_TRUE(image_now(*imaged.engine, imaged.slot));
    return imaged;
  }

  /// What a plain sum is told of one position, and the A-scans that are its.
  std::shared_ptr<ImagingPlan> plain_plan(std::size_t position) const {
    auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {}, acquisition.samples, count);
    plan->acquisition.start_time = acquisition.start_time;
    plan->acquisition.probe = moved_by_hand(acquisition.probe, acquisition.positions[position]);
    plan->grid = Grid{{(*configuration.grid.x)[0], (*configuration.grid.x)[1], configuration.grid.pixels.x},
                      {(*configuration.grid.z)[0], (*configuration.grid.z)[1], configuration.grid.pixels.z},
                      {}};
    return plan;
  }
  Frame part_of(const Frame& frame, std::size_t position) const {
    Frame part;
    std::size_t row = 0;
    for (const TransmitEvent& event : acquisition.events) {
      const std::size_t rows = event.receivers.empty() ? count : event.receivers.size();
      const auto from = frame.amplitudes.begin() + static_cast<std::ptrdiff_t>(row * acquisition.samples);
      if (event.position == position) {
        part.amplitudes.insert(part.amplitudes.end(), from, from + static_cast<std::ptrdiff_t>(rows * acquisition.samples));
      }
      row += rows;
    }
    return part;
  }

  /// The mean over positions of `of(plan, frame)`.
  template <class Of>
  std::vector<Complex> mean(const Frame& frame, const Of& of) const {
    std::vector<Complex> sum;
    for (std::size_t k = 0; k < acquisition.positions.size(); ++k) {
      const auto plan = plain_plan(k);
      const std::vector<Complex> one = of(*plan, part_of(frame, k));
      sum.resize(one.size());
      for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += one[p] / static_cast<double>(acquisition.positions.size());
    }
    return sum;
  }

  Acquisition acquisition;
  Configuration configuration;
  std::shared_ptr<const ImagingSetup> setup;
};

const std::vector<Pose>& five_poses() {
  static const std::vector<Pose> poses{pose_at(-2e-3, 0.0, 0.0), pose_at(0.0, 0.0, 0.0), pose_at(1.7e-3, 0.0, -0.4e-3, 0.2),
                                       pose_at(0.5e-3, 1.1e-3, 0.0, 0.0, 0.6), pose_at(-0.3e-3, -0.8e-3, -0.2e-3, -0.3, 1.5)};
  return poses;
}

TEST_P(PositionImages, AreTheMeanOfThoseWithTheElementsMoved) {
  tfm(configuration).views = {"LL", "LT"};
  for (const bool mixed : {false, true}) {
    fire_elements(five_poses(), mixed);
    const Frame frame = random_frame(acquisition, 61);
    const Imaged imaged = image(frame);
    for (const std::size_t view : {0, 1}) {
      const auto expected = mean(frame, [&](const ImagingPlan& plan, const Frame& part) {
        return plain_image(plan, part, speed, view == 0 ? speed : shear_speed);
      });
      const double error = relative_error(imaged.complex(view), expected);
      RecordProperty("error", fmt::format("{:.2g}", error));
      EXPECT_LT(error, GetParam().tolerance) << "view " << view << ", mixed " << mixed;
    }
  }
}

TEST_P(PositionImages, WeighEveryElementWhereItIs) {
  auto& apodization = tfm(configuration).apodization;
  apodization.directivity = true;
  apodization.window = ApodizationWindow::hann;
  apodization.angle_limit = 70.0;
  // In the plane, where an element is as wide as it looks: |sinc(w sin(a) / lambda)| cos(a), by its own normal.
  fire_elements({pose_at(-2e-3, 0.0, 0.0, 0.25), pose_at(0.0, 0.0, 0.0), pose_at(2.5e-3, 0.0, -0.5e-3, -0.3)});
  acquisition.probe.elements[2].dead = true;
  const Frame frame = random_frame(acquisition, 62);
  const Imaged imaged = image(frame);
  const auto expected = mean(frame, [&](ImagingPlan& plan, const Frame& part) {
    return plain_image(plan, part, speed, speed, [&](std::size_t k, double x, double y, double z) {
      const Element& element = plan.acquisition.probe.elements[k];
      const double dx = x - element.centre.x.value;
      const double dz = z - element.centre.z.value;
      const double cosine = (dx * element.normal.x + dz * element.normal.z) / std::hypot(dx, y, dz);
      if (cosine < std::cos(70.0 * std::numbers::pi / 180.0)) return 0.0;
      const double argument = std::numbers::pi * element.width.value * std::sqrt(1.0 - cosine * cosine) * 5e6 / speed;
      const double window = std::pow(std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) / count), 2);
      return window * cosine * (argument > 1e-9 ? std::abs(std::sin(argument) / argument) : 1.0);
    });
  });
  EXPECT_LT(relative_error(imaged.complex(), expected), GetParam().tolerance);
}

TEST_P(PositionImages, OfPlaneWavesInTheProbesFrame) {
  const std::vector<Pose> positions{pose_at(-1e-3, 0.0, 0.0), pose_at(1.2e-3, 0.0, -0.1e-3, 0.15),
                                    pose_at(0.4e-3, 0.6e-3, 0.0, 0.0, 1.2)};
  // Not the same waves everywhere, and one that a few elements record.
  struct Wave {
    std::uint32_t position;
    double angle;
  };
  const std::vector<Wave> waves{{0, -0.2}, {2, 0.1}, {0, 0.0}, {1, 0.15}, {2, -0.25}, {1, 0.0}, {2, 0.3}};
  acquisition.positions = positions;
  for (const Wave& wave : waves) {
    TransmitEvent event{plane_wave(wave.angle, MetresPerSecond(speed)), {}, wave.position};
    if (wave.angle == 0.3) event.receivers = {5, 1, 2};
    acquisition.events.push_back(std::move(event));
  }
  const Frame frame = random_frame(acquisition, 63);
  const Imaged imaged = image(frame);
  std::vector<Complex> sum(21 * 19);
  for (std::uint32_t position = 0; position < positions.size(); ++position) {
    const auto plan = plain_plan(position);
    std::vector<double> angles;
    for (std::size_t k = 0; k < waves.size(); ++k) {
      if (waves[k].position != position) continue;
      angles.push_back(waves[k].angle);
      plan->acquisition.events.push_back(acquisition.events[k]);
      plan->acquisition.events.back().position = 0;
    }
    const Pose& pose = positions[position];
    const Direction depth = cross(pose.x, pose.y);
    const PlainTime out = [&](std::size_t event, double x, double z) {
      const Direction from{x - pose.origin.x.value, -pose.origin.y.value, z - pose.origin.z.value};
      const double sine = std::sin(angles[event]);
      const double earliest = -0.5 * 0.6e-3 * (count - 1) * std::abs(sine);  // of the elements, which fires at 0
      // A front of revolution about the line of the elements: of a probe that is turned the image lies beside its plane.
      const double away = std::hypot(dot(from, depth), dot(from, pose.y));
      return (dot(from, pose.x) * sine + away * std::cos(angles[event]) - earliest) / speed;
    };
    const PlainTime back = [&](std::size_t receiver, double x, double z) {
      const Point& at = plan->acquisition.probe.elements[receiver].centre;
      return std::hypot(x - at.x.value, at.y.value, z - at.z.value) / speed;
    };
    const Frame part = part_of(frame, position);
    const auto one = plain_event_image(*plan, part, out, back);
    const double rows = static_cast<double>(part.amplitudes.size() / acquisition.samples);
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += one[p] * rows / static_cast<double>(6 * count + 3);
  }
  EXPECT_LT(relative_error(imaged.complex(), sum), GetParam().tolerance);
}

TEST_P(PositionImages, OfSparseFiringsAreDividedByTheirAScansHoweverManyPositionsThereAre) {
  for (const std::size_t stated : {1, 2, 3}) {
    for (const bool own_receivers : {false, true}) {
      acquisition.positions.assign(five_poses().begin(), five_poses().begin() + static_cast<std::ptrdiff_t>(stated));
      acquisition.events.clear();
      std::size_t a_scans = 0;
      for (std::uint32_t position = 0; position < stated; ++position) {
        for (const std::uint32_t element : {1U, 4U + position % 2}) {
          TransmitEvent event{ElementEvent{element}, {}, position};
          if (own_receivers) event.receivers = {element, (element + 2) % static_cast<std::uint32_t>(count)};
          a_scans += own_receivers ? 2 : count;
          acquisition.events.push_back(std::move(event));
        }
      }
      const Frame frame = random_frame(acquisition, 66);
      const Imaged imaged = image(frame);
      std::vector<Complex> sum(21 * 19);
      for (std::size_t position = 0; position < stated; ++position) {
        const auto plan = plain_plan(position);
        for (const TransmitEvent& event : acquisition.events) {
          if (event.position != position) continue;
          plan->acquisition.events.push_back(event);
          plan->acquisition.events.back().position = 0;
        }
        const auto from = [&](std::size_t element, double x, double z) {
          const Point& at = plan->acquisition.probe.elements[element].centre;
          return std::hypot(x - at.x.value, at.y.value, z - at.z.value) / speed;
        };
        const PlainTime out = [&](std::size_t event, double x, double z) {
          return from(std::get<ElementEvent>(plan->acquisition.events[event].form).element, x, z);
        };
        const Frame part = part_of(frame, position);
        const auto one = plain_event_image(*plan, part, out, from);
        const double rows = static_cast<double>(part.amplitudes.size() / acquisition.samples);
        for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += one[p] * rows / static_cast<double>(a_scans);
      }
      EXPECT_LT(relative_error(imaged.complex(), sum), GetParam().tolerance)
          << stated << " positions" << (own_receivers ? ", receivers of their own" : "");
    }
  }
}

TEST_P(PositionImages, ThroughACurvedSurface) {
  // Least times over points of the surface: 7 elements at 3 positions.
  acquisition.start_time = Seconds(3e-6);
  acquisition.samples = 640;
  tfm(configuration).delay_law = "immersion";
  tfm(configuration).travel_times = TravelTimes::exact;
  configuration.couplant.velocity = MetresPerSecond(couplant_speed);
  configuration.surface.kind = "cylinder";
  configuration.surface.numbers = {{"radius", 20e-3}, {"x", 0.5e-3}, {"z", 0.0}};
  configuration.grid.z = {Metres(2e-3), Metres(11.9e-3)};
  configuration.grid.pixels = {11, 9};
  fire_elements({pose_at(-3e-3, 0.0, -4e-3, 0.1), pose_at(0.3e-3, 0.0, -3.5e-3), pose_at(3.1e-3, 0.0, -4e-3, -0.15)});
  const Frame frame = random_frame(acquisition, 64);
  const Imaged imaged = image(frame);
  std::map<std::tuple<double, double, double, double>, double> known;
  // The crown's top is at (0.5 mm, 0), its axis 20 mm below.
  const auto time = [&](const Point& from, double x, double z) {
    const auto [place, is_new] = known.try_emplace({from.x.value, from.z.value, x, z});
    if (!is_new) return place->second;
    double best = std::numeric_limits<double>::infinity();
    double at = 0.0;
    double step = 1e-2;  // radians from the top
    for (int k = -80; k <= 80; ++k) {
      const double angle = k * step;
      const double sx = 0.5e-3 + 20e-3 * std::sin(angle);
      const double sz = 20e-3 - 20e-3 * std::cos(angle);
      const double t = std::hypot(sx - from.x.value, sz - from.z.value) / couplant_speed + std::hypot(x - sx, z - sz) / speed;
      if (t < best) {
        best = t;
        at = angle;
      }
    }
    for (int turn = 0; turn < 40; ++turn) {
      step *= 0.6;
      for (const double angle : {at - step, at + step}) {
        const double sx = 0.5e-3 + 20e-3 * std::sin(angle);
        const double sz = 20e-3 - 20e-3 * std::cos(angle);
        const double t = std::hypot(sx - from.x.value, sz - from.z.value) / couplant_speed + std::hypot(x - sx, z - sz) / speed;
        if (t < best) {
          best = t;
          at = angle;
        }
      }
    }
    return place->second = best;
  };
  const auto expected = mean(frame, [&](const ImagingPlan& plan, const Frame& part) {
    const PlainWeight way = [&](std::size_t k, double x, double /*y*/, double z) {
      // Outside of the part there is no way.
      if (std::hypot(x - 0.5e-3, z - 20e-3) > 20e-3) return std::numeric_limits<double>::quiet_NaN();
      return time(plan.acquisition.probe.elements[k].centre, x, z);
    };
    return plain_image_of(plan, part, way, way);
  });
  // Times in tables of single precision (half of 2^-24 of their range, 1e-13 s) and least times to 1e-12 s move no image by 1e-4.
  const double error = relative_error(imaged.complex(), expected);
  RecordProperty("error", fmt::format("{:.2g}", error));
  EXPECT_LT(error, std::max(1e-4, GetParam().tolerance));
}

TEST_P(PositionImages, AreThoseOfACoherentScan) {
  const std::vector<Pose> positions = line_of_poses(5, Metres(0.7e-3), {0.6, 0.0, -0.8});
  fire_elements(positions);
  const Frame frame = random_frame(acquisition, 65);
  const Imaged imaged = image(frame);

  Configuration scanned = configuration;
  ScanSection& scan = section<ScanSection>(scanned);
  scan.path = ScanPath::line;
  scan.direction = {0.6, 0.0, -0.8};
  scan.encoder_step = Metres(0.7e-3);
  scan.composition = Composition::coherent;
  Acquisition alone = acquisition;
  alone.positions.clear();
  alone.events.clear();
  ScanRecords records;
  const auto of_scan = resolve_imaging({.configuration = scanned,
                                        .acquisition = alone,
                                        .frames_in_flight = 1,
                                        .wish = {.complex_images = true},
                                        .scans = &records});
  const auto engine = make_engine(of_scan, {.automatic = false, .kind = GetParam().backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    std::copy_n(frame.bytes.begin() + static_cast<std::ptrdiff_t>(k * alone.frame_bytes()), alone.frame_bytes(),
                static_cast<std::byte*>(slot.samples.data()));
    slot.position = static_cast<EncoderCount>(k);
    ASSERT_TRUE(image_now(*engine, slot));
  }
  const auto* const mean = static_cast<const std::complex<float>*>(
      slot.outputs.at(of_scan->recipe.find("LL", OutputKind::complex_image).value()).data.data());
  const std::vector<Complex> expected(mean, mean + 21 * 19);
  // The same images, added in single precision in another order. In half precision each frame has a scale of its own.
  const double limit = GetParam().accuracy < 1e-3 || GetParam().backend == BackendKind::cpu ? 1e-5 : GetParam().tolerance;
  const double error = relative_error(imaged.complex(), expected);
  RecordProperty("error", fmt::format("{:.2g}", error));
  EXPECT_LT(error, limit);
}

TEST_P(PositionImages, OfChosenEventsLeaveOutWhatFiresNoneOfThem) {
  fire_elements({pose_at(-1e-3, 0.0, 0.0), pose_at(0.0, 0.0, 0.0), pose_at(1e-3, 0.0, 0.0)});
  tfm(configuration).events = {1, 3, 14, 20};  // two of the first position, two of the last
  const Frame frame = random_frame(acquisition, 66);
  const Imaged imaged = image(frame);
  std::vector<Complex> sum(21 * 19);
  for (const std::size_t position : {0, 2}) {
    const auto plan = plain_plan(position);
    const Frame part = part_of(frame, position);
    const PlainTime back = [&](std::size_t receiver, double x, double z) {
      const Point& at = plan->acquisition.probe.elements[receiver].centre;
      return std::hypot(x - at.x.value, z - at.z.value) / speed;
    };
    plan->acquisition.events = element_events(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6});
    const auto one = plain_event_image(*plan, part, back, back, [&](std::size_t event) {
      return position == 0 ? (event == 1 || event == 3 ? 1.0 : 0.0) : event == 0 || event == 6 ? 1.0 : 0.0;
    });
    // The mean over the A-scans that are imaged: 4 events of 7.
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += one[p] * static_cast<double>(count * count) / (4.0 * count);
  }
  EXPECT_LT(relative_error(imaged.complex(), sum), GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(, PositionImages, testing::ValuesIn(places()), place_name);

TEST(Positions, WhatCannotBeImagedIsOneLine) {
  Acquisition acquisition = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::full, {}, 320, 4)->acquisition;
  acquisition.positions = {pose_at(0.0, 0.0, 0.0), pose_at(1e-3, 0.0, 0.0)};
  for (std::uint32_t position = 0; position < 2; ++position) {
    for (TransmitEvent event : hadamard_events(4)) {
      event.position = position;
      acquisition.events.push_back(event);
    }
  }
  Configuration configuration;
  configuration.material.longitudinal_velocity = MetresPerSecond(speed);
  const auto message = [&] {
    return input_error([&] {
      static_cast<void>(resolve_imaging({.configuration = configuration, .acquisition = acquisition, .frames_in_flight = 1}));
    });
  };
  EXPECT_EQ(
      message(),
      "data: transmit events: found rows of a code at several positions of the probe; expected firings of single elements or "
      "waves there, or codes at one position");
  acquisition.events.clear();
  for (std::uint32_t k = 0; k < 8; ++k) acquisition.events.push_back({ElementEvent{k % 4}, {}, k / 4});
  EXPECT_EQ(message(), "");
  configuration.acquisition.position_count = 1;
  EXPECT_EQ(message(),
            "configuration: [acquisition] position_count: found 1; expected 2, as many positions as a frame of the data has");
  configuration.acquisition.position_count = 3;
  EXPECT_EQ(message(),
            "configuration: [acquisition] position_step: found no value for 3 positions; expected the way from one to the "
            "next, in m");
  configuration.acquisition.position_step = Metres(1e-3);
  EXPECT_EQ(message(),
            "configuration: [acquisition] position_count: found 3; expected 2, as many positions as a frame of the data has");
  configuration.acquisition.position_count = 2;
  EXPECT_EQ(message(), "");
  configuration.acquisition.positions = {{0.0, 0.0, 0.0}};
  EXPECT_EQ(message(),
            "configuration: [acquisition] position_count: found a line of positions beside a list; expected position_count "
            "or positions");
  configuration.acquisition.position_count.reset();
  configuration.acquisition.position_step.reset();
  configuration.acquisition.positions = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
  EXPECT_EQ(message(),
            "configuration: [acquisition] positions, position 1: found 4 numbers; expected 3, the probe's origin in m, or "
            "9: its directions of x and of y besides");
  configuration.acquisition.positions = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0}};
  EXPECT_EQ(message(),
            "configuration position 1: found element 0 emitting towards z = -1; expected a probe that is not upside down: "
            "emission into the part (+z)");
  configuration.acquisition.positions.reset();
  section<ScanSection>(configuration).path = ScanPath::line;
  configuration.grid.x = {Metres(-5e-3), Metres(5e-3)};
  configuration.grid.z = {Metres(1e-3), Metres(9e-3)};
  EXPECT_EQ(message(),
            "configuration: [scan] path: found a scan of frames that have 2 positions of the probe each; expected no path, "
            "or frames of one position");
}

TEST(Positions, AreCheckedByName) {
  Acquisition acquisition = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::full, {}, 320, 2)->acquisition;
  const auto message = [&](const std::vector<Pose>& positions, std::size_t at_each = 2) {
    acquisition.positions = positions;
    acquisition.events.clear();
    for (std::uint32_t k = 0; k < positions.size() * at_each; ++k) {
      acquisition.events.push_back({ElementEvent{k % 2}, {}, static_cast<std::uint32_t>(k / std::max<std::size_t>(1, at_each))});
    }
    return input_error([&] { validate(acquisition, {}, "Hello"); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message({pose_at(0, 0, 0), pose_at(1e-3, 0, 0)}), "");
  EXPECT_EQ(message({pose_at(0, 0, 0), pose_at(nan, 0, 0)}),
            "Hello position 1: found an origin at nan m; expected finite places within 1000 m");
  EXPECT_EQ(message({pose_at(0, 0, 0, nan)}), "Hello position 0: found a direction of x of length nan; expected a unit vector");
  Pose skew;
  skew.y = {std::sin(0.1), std::cos(0.1), 0.0};
  EXPECT_EQ(
      message({skew}),
      "Hello position 0: found directions of x and y that are not across each other: x . y = 0.09983; expected a right angle");
  Pose over;
  over.y = {0.0, -1.0, 0.0};
  EXPECT_EQ(message({over}),
            "Hello position 0: found element 0 emitting towards z = -1; expected a probe that is not upside down: emission into "
            "the part "
            "(+z)");
  EXPECT_EQ(message(std::vector<Pose>(257)), "Hello positions: found 257; expected at most 256 a frame (more are a scan)");
  EXPECT_EQ(message({pose_at(0, 0, 0), pose_at(1e-3, 0, 0)}), "");
  acquisition.events[3].form = ElementEvent{0};
  EXPECT_THROW(validate(acquisition, {}, "Hello"), InputError);  // element 0 twice at one position
  acquisition.events.resize(2);
  EXPECT_THROW(validate(acquisition, {}, "Hello"), InputError);  // nothing fires at the other
  acquisition.positions.clear();
  acquisition.events[1].position = 1;
  EXPECT_THROW(validate(acquisition, {}, "Hello"), InputError);
}

}  // namespace
}  // namespace echoform::test
