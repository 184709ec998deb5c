// Images of waves of several elements on every engine, against the plain sum with times by geometry alone: formulas in contact,
// and least times over points of a curved surface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <tuple>

#include "acquisition/firings.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/surface_kind.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr double of_degrees = std::numbers::pi / 180.0;
constexpr double of_l = 6320.0;
constexpr double of_t = 3130.0;
constexpr double of_water = 1480.0;

Point in_plane(double x, double z) {
  return {Metres(x), Metres(0.0), Metres(z)};
}

/// A plan whose laws are made once its events and its dead element are known.
std::shared_ptr<ImagingPlan> plan_with(const Place& place, std::vector<TransmitEvent> events,
                                       const std::vector<std::string>& views, const std::string& law = "contact",
                                       double height = 0.0, std::size_t dead = 12) {
  auto plan = make_plan(place, SampleEncoding::int16, MatrixKind::full, {}, 640, 12);
  plan->acquisition.events = std::move(events);
  if (dead < 12) plan->acquisition.probe.elements[dead].dead = true;
  for (Element& element : plan->acquisition.probe.elements) element.centre.z = Metres(-height);
  if (law == "immersion") {
    plan->scene.couplant = MetresPerSecond(of_water);
    plan->scene.surface = make_surface(
        {.where = "[surface]", .kind = "cylinder", .numbers = {{"radius", 20e-3}, {"x", 0.5e-3}, {"z", 0.0}}, .words = {}});
  }
  const auto legs = std::make_shared<LegCache>();
  for (const auto& view : views) {
    plan->laws.push_back(make_delay_law(law, {plan->acquisition, plan->material, view, plan->scene, legs}));
  }
  return plan;
}

double element_x(const ImagingPlan& plan, std::size_t element) {
  return plan.acquisition.probe.elements[element].centre.x.value;
}

PlainTime straight(const ImagingPlan& plan, double velocity) {
  return [&plan, velocity](std::size_t element, double x, double z) {
    return std::hypot(x - element_x(plan, element), z) / velocity;
  };
}

class EventImages : public EnginesAt {
 protected:
  static void expect_image(const Imaged& imaged, std::size_t view, const std::vector<Complex>& expected) {
    EXPECT_LT(relative_error(imaged.complex(view), expected), GetParam().tolerance) << "view " << view;
  }
};

TEST_P(EventImages, OfPlaneWavesInBothModes) {
  const std::vector<double> angles{-20.0, -5.0, 0.0, 12.0};
  std::vector<TransmitEvent> events;
  for (const double angle : angles) events.push_back({plane_wave(angle * of_degrees, MetresPerSecond(of_l)), {}});
  const auto plan = plan_with(GetParam(), events, {"LL", "TL", "LT"});
  plan->acquisition.probe.elements[5].dead = true;
  const Frame frame = random_frame(plan->acquisition, 21);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  const auto plane = [&](double velocity) -> PlainTime {
    return [&, velocity](std::size_t event, double x, double z) {
      const double sine = std::sin(angles[event] * of_degrees) / of_l * velocity;
      const double earliest = angles[event] < 0.0 ? element_x(*plan, 11) : element_x(*plan, 0);
      return ((x - earliest) * sine + z * std::sqrt(1.0 - sine * sine)) / velocity;
    };
  };
  expect_image(imaged, 0, plain_event_image(*plan, frame, plane(of_l), straight(*plan, of_l)));
  expect_image(imaged, 1, plain_event_image(*plan, frame, plane(of_t), straight(*plan, of_l)));
  expect_image(imaged, 2, plain_event_image(*plan, frame, plane(of_l), straight(*plan, of_t)));
}

TEST_P(EventImages, OfPlaneWavesOfACurvedArrayArriveByTheirAnglesFromTheOrigin) {
  const std::vector<double> angles{-20.0, -5.0, 0.0, 12.0};
  const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {}, 640, 12);
  Probe& probe = plan->acquisition.probe;
  probe = make_curvilinear_probe(12, Metres(0.6e-3), Metres(6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  double z = 0.0;  // of the probe's own origin, the mean of all elements
  for (const Element& element : probe.elements) z += element.centre.z.value / 12.0;
  for (const double angle : angles) {
    PlaneWaveEvent wave = plane_wave(angle * of_degrees, MetresPerSecond(of_l));
    wave.slowness_z = std::cos(angle * of_degrees) / of_l;
    wave.delay = Seconds(1e-6 + z * wave.slowness_z);
    plan->acquisition.events.push_back({wave, {}});
  }
  plan->laws.push_back(
      make_delay_law("contact", {plan->acquisition, plan->material, "LL", plan->scene, std::make_shared<LegCache>()}));
  const PlainTime wave = [&](std::size_t event, double x, double depth) {
    return 1e-6 + (x * std::sin(angles[event] * of_degrees) + depth * std::cos(angles[event] * of_degrees)) / of_l;
  };
  const PlainTime back = [&](std::size_t element, double x, double depth) {
    const double turn = (static_cast<double>(element) - 5.5) * 0.6e-3 / 6e-3;
    return std::hypot(x - 6e-3 * std::sin(turn), depth - 6e-3 * (std::cos(turn) - 1.0)) / of_l;
  };
  const Frame frame = random_frame(plan->acquisition, 21);
  expect_image(image_of(GetParam(), plan, frame), 0, plain_event_image(*plan, frame, wave, back));
}

TEST_P(EventImages, OfMorePlaneWavesThanReceiversWeighedAndHeardByAFew) {
  constexpr std::size_t waves = 19;
  std::vector<TransmitEvent> events;
  std::vector<double> slownesses;
  for (std::size_t k = 0; k < waves; ++k)
    slownesses.push_back(std::sin((3.0 * static_cast<double>(k) - 27.0) * of_degrees) / of_l);
  slownesses.push_back(1.3 / of_l);  // in L nothing propagates
  for (const double slowness : slownesses) events.push_back({PlaneWaveEvent{slowness, 0.0, Seconds(1.1e-6)}, {}});
  events[4].receivers = {2, 9, 5};
  const auto plan = plan_with(GetParam(), events, {"LL", "TL", "LT"});
  // No whole number of tiles of any size.
  plan->grid = {{Metres(-5.1e-3), Metres(5.3e-3), 45}, {Metres(1.03e-3), Metres(11.9e-3), 37}, {}};
  // One of them 0; sixteenths of the greatest, which half precision holds.
  for (std::size_t k = 0; k <= waves; ++k) plan->event_weights.push_back(0.25F * static_cast<float>(k) - 0.75F);
  const Frame frame = random_frame(plan->acquisition, 28);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  const auto plane = [&](double velocity) -> PlainTime {
    return [&, velocity](std::size_t event, double x, double z) {
      const double sine = slownesses[event] * velocity;
      if (sine > 1.0) return std::numeric_limits<double>::quiet_NaN();
      return 1.1e-6 + (x * sine + z * std::sqrt(1.0 - sine * sine)) / velocity;
    };
  };
  const auto weight = [&](std::size_t event) { return static_cast<double>(plan->event_weights[event]); };
  expect_image(imaged, 0, plain_event_image(*plan, frame, plane(of_l), straight(*plan, of_l), weight));
  expect_image(imaged, 1, plain_event_image(*plan, frame, plane(of_t), straight(*plan, of_l), weight));
  expect_image(imaged, 2, plain_event_image(*plan, frame, plane(of_l), straight(*plan, of_t), weight));
}

TEST_P(EventImages, OfVirtualSourcesWithReceiversOfTheirOwn) {
  const std::vector<Point> sources{in_plane(-2e-3, -4e-3), in_plane(0.0, -6e-3), in_plane(3e-3, -9e-3)};
  std::vector<TransmitEvent> events;
  for (const Point& source : sources) events.push_back({PointWaveEvent{source, MetresPerSecond(of_l), Seconds(0.3e-6)}, {}});
  events[1].receivers = {7, 3, 0, 11, 10};
  const auto plan = plan_with(GetParam(), events, {"LL"});
  const Frame frame = random_frame(plan->acquisition, 22);
  const PlainTime away = [&](std::size_t event, double x, double z) {
    const double vx = sources[event].x.value;
    const double vz = sources[event].z.value;
    return 0.3e-6 + (std::hypot(x - vx, z - vz) - std::hypot(vx, vz)) / of_l;
  };
  expect_image(image_of(GetParam(), plan, frame), 0, plain_event_image(*plan, frame, away, straight(*plan, of_l)));
}

TEST_P(EventImages, OfAFocusAndOfSingleElementsBesideIt) {
  const Point focus = in_plane(0.5e-3, 6e-3);
  const auto plan =
      plan_with(GetParam(), {{PointWaveEvent{focus, MetresPerSecond(of_l), std::nullopt}, {}}, {ElementEvent{4}, {}}}, {"LL"});
  const Frame frame = random_frame(plan->acquisition, 23);
  const double far = std::hypot(element_x(*plan, 0) - 0.5e-3, 6e-3);  // the first element is the farthest, and fires at 0
  const double left = (0.5e-3 - element_x(*plan, 0)) / 6e-3;          // slopes of the outermost rays
  const double right = (0.5e-3 - element_x(*plan, 11)) / 6e-3;
  // The mean direction of the waves at the focus, and the outermost rays across it.
  double way_x = 0.0;
  double way_z = 0.0;
  for (std::size_t element = 0; element < 12; ++element) {
    const double length = std::hypot(0.5e-3 - element_x(*plan, element), 6e-3);
    way_x += (0.5e-3 - element_x(*plan, element)) / length;
    way_z += 6e-3 / length;
  }
  const double turn = std::atan2(way_x, way_z);
  const double slope_left = std::tan(std::atan(left) - turn);
  const double slope_right = std::tan(std::atan(right) - turn);
  const double half_width = 0.5 * of_l / 5e6 / (slope_left - slope_right);
  const PlainTime transmit = [&](std::size_t event, double x, double z) {
    if (event == 1) return std::hypot(x - element_x(*plan, 4), z) / of_l;
    const double along = std::sin(turn) * (x - 0.5e-3) + std::cos(turn) * (z - 6e-3);
    const double aside = std::cos(turn) * (x - 0.5e-3) - std::sin(turn) * (z - 6e-3);
    const double half = std::max(0.5 * std::abs(along * (slope_left - slope_right)), half_width);
    if (std::abs(aside - 0.5 * along * (slope_left + slope_right)) > half) return std::numeric_limits<double>::quiet_NaN();
    return (far + std::copysign(std::hypot(x - 0.5e-3, z - 6e-3), along)) / of_l;
  };
  expect_image(image_of(GetParam(), plan, frame), 0, plain_event_image(*plan, frame, transmit, straight(*plan, of_l)));
}

TEST_P(EventImages, OfChosenEventsWeighedByTheirOrder) {
  std::vector<TransmitEvent> events;
  for (const double angle : {-20.0, -10.0, 0.0, 10.0, 20.0}) {
    events.push_back({PlaneWaveEvent{std::sin(angle * of_degrees) / of_l, 0.0, Seconds(1e-6)}, {}});
  }
  events[3].receivers = {1, 2, 3};
  const auto plan = plan_with(GetParam(), events, {"LL"});
  plan->events = {1, 3, 4};
  plan->event_weights = {0.25F, 1.0F, -0.5F};
  const Frame frame = random_frame(plan->acquisition, 25);
  const PlainTime plane = [&](std::size_t event, double x, double z) {
    const double angle = (static_cast<double>(event) * 10.0 - 20.0) * of_degrees;
    return 1e-6 + (x * std::sin(angle) + z * std::cos(angle)) / of_l;
  };
  const std::vector<double> weights{0.0, 0.25, 0.0, 1.0, -0.5};
  auto expected =
      plain_event_image(*plan, frame, plane, straight(*plan, of_l), [&](std::size_t event) { return weights[event]; });
  // Of the A-scans of a frame, 4 x 12 + 3, those of the chosen events are 27.
  for (Complex& value : expected) value *= 51.0 / 27.0;
  expect_image(image_of(GetParam(), plan, frame), 0, expected);
}

TEST_P(EventImages, OfChosenElementsAreThoseOfSparseFirings) {
  const auto chosen = plan_with(GetParam(), {}, {"LL", "LT"});
  chosen->events = {1, 6, 7};
  const auto sparse = plan_with(GetParam(), element_events(std::vector<std::uint32_t>{1, 6, 7}), {"LL", "LT"});
  const Frame frame = random_frame(chosen->acquisition, 26);
  Frame part;
  const std::size_t shot = chosen->acquisition.elements() * chosen->acquisition.bytes_per_a_scan();
  for (const std::size_t event : {1, 6, 7}) {
    part.bytes.insert(part.bytes.end(), frame.bytes.begin() + static_cast<std::ptrdiff_t>(event * shot),
                      frame.bytes.begin() + static_cast<std::ptrdiff_t>((event + 1) * shot));
  }
  expect_same(image_of(GetParam(), chosen, frame).slot, image_of(GetParam(), sparse, part).slot);
}

TEST_P(EventImages, OfChosenFiringsWithReceiversOfTheirOwnCountTheOthersAsZeros) {
  const std::vector<std::uint32_t> firing{4, 0, 7, 9, 2};
  const auto plan = plan_with(GetParam(), element_events(firing), {"LL", "LT"});
  for (std::size_t event = 0; event < firing.size(); ++event) {
    plan->acquisition.events[event].receivers = {firing[event], static_cast<std::uint32_t>(event)};
  }
  plan->events = {0, 3};
  const Frame frame = random_frame(plan->acquisition, 29);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  const PlainTime away = [&](std::size_t event, double x, double z) {
    return std::hypot(x - element_x(*plan, firing[event]), z) / of_l;
  };
  // The mean over all A-scans of the frame, of which those of two events are not zero.
  const auto weight = [](std::size_t event) { return event == 0 || event == 3 ? 1.0 : 0.0; };
  expect_image(imaged, 0, plain_event_image(*plan, frame, away, straight(*plan, of_l), weight));
  expect_image(imaged, 1, plain_event_image(*plan, frame, away, straight(*plan, of_t), weight));
}

/// What is received of a full matrix when elements fire by the rows of a code: sums of its shots.
std::vector<std::byte> coded_frame(const Acquisition& acquisition, const std::vector<float>& full) {
  const std::size_t n = acquisition.elements();
  const std::size_t shot = n * acquisition.samples;
  std::vector<float> coded(acquisition.events.size() * shot);
  for (std::size_t event = 0; event < acquisition.events.size(); ++event) {
    for (const Firing& firing : firings_of(acquisition, event)) {
      if (acquisition.probe.elements[firing.element].dead) continue;
      for (std::size_t k = 0; k < shot; ++k) {
        coded[event * shot + k] += static_cast<float>(firing.weight) * full[firing.element * shot + k];
      }
    }
  }
  std::vector<std::byte> bytes(coded.size() * sizeof(float));
  std::memcpy(bytes.data(), coded.data(), bytes.size());
  return bytes;
}

TEST_P(EventImages, OfCodesAreThoseOfFullMatrixCapture) {
  // Sums of a few integers in float32 are exact, and so is Hadamard's way back; another code costs some roundings.
  std::vector<TransmitEvent> sparse_code;
  for (std::int8_t element = 0; element < 16; ++element) {
    CodeEvent row{std::vector<std::int8_t>(16, 1)};
    row.signs[static_cast<std::size_t>(element)] = element % 2 == 0 ? -1 : 0;
    sparse_code.push_back({row, {}});
  }
  for (const auto& events : {hadamard_events(16), sparse_code}) {
    for (const bool dead : {false, true}) {
      auto plan = make_plan(GetParam(), SampleEncoding::float32, MatrixKind::full, {"LL", "LT", "TL"}, 320, 16);
      plan->accuracy = std::min(plan->accuracy, 1e-4);  // the float path
      auto whole = std::make_shared<ImagingPlan>(*plan);
      plan->acquisition.events = events;
      if (dead) {
        // Of a row less, the rest is told apart by more rows than needed.
        plan->acquisition.probe.elements[5].dead = true;
        whole->acquisition.probe.elements[5].dead = true;
      }
      const Frame frame = random_frame(whole->acquisition, 27);
      std::vector<float> samples(frame.amplitudes.begin(), frame.amplitudes.end());
      const Imaged decoded = image_of(GetParam(), plan, {coded_frame(plan->acquisition, samples), {}});
      const Imaged expected = image_of(GetParam(), whole, frame);
      for (std::size_t view = 0; view < 3; ++view) {
        const auto* const image = expected.complex(view);
        const std::vector<Complex> known(image, image + whole->grid.pixels());
        EXPECT_LT(relative_error(decoded.complex(view), known), 1e-5) << "view " << view << (dead ? ", an element dead" : "");
      }
    }
  }
}

/// Least time over points of the circle's upper half, one every 20 um of the way, and a parabola through the least three.
double through_cylinder(double from_x, double from_z, double x, double z, double velocity) {
  constexpr double radius = 20e-3;
  const auto time_by = [&](double angle) {
    const double sx = 0.5e-3 + radius * std::sin(angle);
    const double sz = radius - radius * std::cos(angle);
    return std::hypot(sx - from_x, sz - from_z) / of_water + std::hypot(x - sx, z - sz) / velocity;
  };
  constexpr double step = 1e-3;
  double least = std::numeric_limits<double>::infinity();
  double place = 0.0;
  for (double angle = -0.8; angle <= 0.8; angle += step) {
    const double time = time_by(angle);
    if (time < least) {
      least = time;
      place = angle;
    }
  }
  const double before = time_by(place - step);
  const double behind = time_by(place + step);
  const double bend = before - 2.0 * least + behind;
  return bend > 0.0 ? least - 0.125 * (before - behind) * (before - behind) / bend : least;
}

TEST_P(EventImages, OfPlaneWavesVirtualSourcesAndLawsThroughACylinder) {
  constexpr double height = 8e-3;
  LawEvent law{{2, 3, 4, 5, 6, 7}, {0.0F, 0.1e-6F, 0.05e-6F, 0.2e-6F, 0.1e-6F, 0.3e-6F}, {1.0F, 0.5F, 1.0F, 0.8F, 1.0F, 1.0F}};
  const auto plan = plan_with(GetParam(),
                              {{plane_wave(4.0 * of_degrees, MetresPerSecond(of_water)), {}},
                               {PointWaveEvent{in_plane(1e-3, -12e-3), MetresPerSecond(of_water), std::nullopt}, {}},
                               {law, {}}},
                              {"LL", "LT"}, "immersion", height, 6);
  // Within the part: below the cylinder's flank at the grid's ends.
  plan->grid = {{Metres(-3e-3), Metres(3.3e-3), 13}, {Metres(1.5e-3), Metres(8.9e-3), 11}, {}};
  plan->acquisition.start_time = Seconds(9e-6);
  const Frame frame = random_frame(plan->acquisition, 24);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  const auto of_elements = [&](double velocity) -> PlainTime {
    return [&, velocity, known = std::make_shared<std::map<std::tuple<std::size_t, double, double>, double>>()](
               std::size_t element, double x, double z) {
      const auto [place, is_new] = known->try_emplace({element, x, z});
      if (is_new) place->second = through_cylinder(element_x(*plan, element), -height, x, z, velocity);
      return place->second;
    };
  };
  std::vector<std::vector<std::pair<std::size_t, double>>> fired(3);
  const double sine = std::sin(4.0 * of_degrees);
  for (std::size_t element = 0; element < 12; ++element) {
    fired[0].emplace_back(element, (element_x(*plan, element) - element_x(*plan, 0)) * sine / of_water);
    // x = 0.9 mm is nearest to the source.
    const double longer = std::hypot(element_x(*plan, element) - 1e-3, 12e-3) - std::hypot(0.1e-3, 12e-3);
    fired[1].emplace_back(element, longer / of_water);
  }
  for (std::size_t k = 0; k < 6; ++k) fired[2].emplace_back(k + 2, static_cast<double>(law.delays[k]));
  const PlainTime way_out = of_elements(of_l);
  const PlainTime transmit = [&](std::size_t event, double x, double z) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [element, delay] : fired[event]) {
      if (element != 6) least = std::min(least, delay + way_out(element, x, z));
    }
    return least;
  };
  expect_image(imaged, 0, plain_event_image(*plan, frame, transmit, way_out));
  expect_image(imaged, 1, plain_event_image(*plan, frame, transmit, of_elements(of_t)));
}

INSTANTIATE_TEST_SUITE_P(All, EventImages, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace echoform::test
