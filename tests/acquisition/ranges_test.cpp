// Numbers that no instrument has: each is refused where it comes in, before images are made of it.
#include "acquisition/ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;

Acquisition good() {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(8, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 64;
  acquisition.sample_rate = Hertz(50e6);
  return acquisition;
}

std::string refusal_of(const Acquisition& acquisition, const AcquisitionLimits& limits = {}) {
  return test::input_error([&] { validate(acquisition, limits, "Hello"); });
}

using Change = std::function<void(Acquisition&, double)>;

TEST(Ranges, OfEveryNumberAnAcquisitionStates) {
  const auto with_event = [](Acquisition& a, TransmitForm form) { a.events = {{std::move(form), {}}}; };
  struct Case {
    const char* name;
    Change change;
    std::vector<double> taken;
    std::vector<double> refused;
  };
  constexpr double tiny = 1e-300;
  constexpr double huge = 1e300;
  const std::vector<Case> cases{
      {"sample rate",
       [](Acquisition& a, double v) { a.sample_rate = Hertz(v); },
       {1.0, 1e12},
       {1e-20, tiny, 0.999, 1e13, huge, -1.0}},
      {"sample scale", [](Acquisition& a, double v) { a.sample_scale = v; }, {1e-30, -1e30, 1.0}, {tiny, huge, -1e-31, 0.0}},
      {"centre frequency",
       [](Acquisition& a, double v) { a.probe.centre_frequency = Hertz(v); },
       {0.0, 1.0, 1e12},
       {1e-20, tiny, huge, -1.0}},
      {"bandwidth", [](Acquisition& a, double v) { a.probe.bandwidth = Hertz(v); }, {0.0, 1.0, 1e12}, {1e-20, tiny, huge, -1.0}},
      {"element 2", [](Acquisition& a, double v) { a.probe.elements[2].centre.x = Metres(v); }, {-1e3, 1e3}, {1e4, huge, -huge}},
      {"element 2", [](Acquisition& a, double v) { a.probe.elements[2].width = Metres(v); }, {0.0, 1e3}, {1e4, huge, -1.0}},
      {"element 2", [](Acquisition& a, double v) { a.probe.elements[2].length = Metres(v); }, {0.0, 1e3}, {1e4, huge, -1.0}},
      {"event 0",
       [&](Acquisition& a, double v) {
         with_event(a, PointWaveEvent{.point = {}, .velocity = MetresPerSecond(v), .delay = std::nullopt});
       },
       {1.0, 1e5},
       {1e-20, tiny, 0.5, 1e6, huge, 0.0}},
      {"event 0",
       [&](Acquisition& a, double v) {
         with_event(a, LawEvent{.elements = {0, 1}, .weights = {1.0F, static_cast<float>(v)}});
       },
       {1e-8, 1e8},
       {1e-20, 1e20, 0.0}},
      {"event 0",
       [&](Acquisition& a, double v) {
         with_event(a, PassiveEvent{Metres(v), 0.0});
       },
       {0.0, 7e-7, 1.0},
       {tiny, 1e-20, 2.0, -1.0}},
      {"event 0",
       [&](Acquisition& a, double v) {
         with_event(a, PassiveEvent{Metres(7e-7), v});
       },
       {0.0, 1e-3, 1e3},
       {tiny, 1e-20, 1e4, -1.0}},
  };
  for (const Case& one : cases) {
    for (const double value : one.taken) {
      Acquisition acquisition = good();
      one.change(acquisition, value);
      EXPECT_EQ(refusal_of(acquisition), "") << one.name << " " << value;
    }
    auto refused = one.refused;
    refused.push_back(std::numeric_limits<double>::quiet_NaN());
    refused.push_back(std::numeric_limits<double>::infinity());
    for (const double value : refused) {
      Acquisition acquisition = good();
      one.change(acquisition, value);
      EXPECT_THAT(refusal_of(acquisition), HasSubstr(std::string("Hello ") + one.name)) << value;
    }
  }
}

TEST(Ranges, OfVelocitiesOfTheMaterial) {
  const auto refusal = [](double longitudinal, double shear) {
    return test::input_error([&] { validate(Material{MetresPerSecond(longitudinal), MetresPerSecond(shear)}, "data:"); });
  };
  EXPECT_EQ(refusal(0.0, 0.0), "") << "unknown";
  EXPECT_EQ(refusal(6320.0, 3130.0), "");
  EXPECT_EQ(refusal(1e-20, 0.0), "data: longitudinal velocity: found 1e-20 m/s; expected 0 (unknown), or 1 to 100000 m/s");
  EXPECT_THAT(refusal(6320.0, 1e300), HasSubstr("data: shear velocity: found 1e+300 m/s"));
  EXPECT_THAT(refusal(std::numeric_limits<double>::quiet_NaN(), 0.0), HasSubstr("longitudinal velocity: found nan"));
}

/// Seconds of this thread's processor.
double processor_time(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = now();
  work();
  return now() - before;
}

TEST(ValidateEvents, FindWhatTheProbeDecidesOnceAndNotForEachEvent) {
  // A Hello of many plane waves: whether the array is flat is a matter of its elements, of which there are 1024 or 2.
  const auto cost = [](std::size_t elements) {
    Acquisition acquisition = good();
    acquisition.probe = make_linear_probe(elements, Metres(0.1e-3), Metres(0.1e-3), Hertz(5e6), Hertz(3e6));
    acquisition.events.assign(4096, {plane_wave(0.1, MetresPerSecond(6320.0)), {0}});
    return processor_time([&] {
      for (int turn = 0; turn < 20; ++turn) ASSERT_EQ(refusal_of(acquisition), "");
    });
  };
  const double few = cost(2);
  // Of the processor's time, which other processes do not count in. Looking at the elements themselves once takes a fiftieth of
  // this; found for each event it would be some thirty times as much.
  EXPECT_LT(cost(1024), 5.0 * few);
}

}  // namespace
}  // namespace echoform
