// Images of simulated flow, from a configuration through its own source, against what the scene says: velocities, their sign, and
// how much of still tissue is left.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "methods/setup_report.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double pulse_repetition = 4000.0;
constexpr double frequency = 5e6;
constexpr double sound_velocity = 1540.0;
constexpr double nyquist = sound_velocity * pulse_repetition / (4.0 * frequency);  // 0.308 m/s

/// Parallel beams of a linear array over tissue, each `repeats` times.
struct FlowScene {
  std::string moving = "disks = [[0.0, 0.018, 0.004, 8.0, 0]]";
  std::string beams = "";
  std::string doppler = "";
  int repeats = 12;
};

constexpr double turning = 2.0 * std::numbers::pi * 8.0;  // of that disk, radians a second
constexpr double disk_depth = 0.018;
constexpr double disk_radius = 0.004;

Configuration flow_configuration(const FlowScene& scene) {
  return parse_configuration(
      fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.008, 0.026]
f_number = 1.5
{}
[doppler]
pulse_repetition = {}
{}
[filter]
kind = "none"
[simulator]
elements = 48
pitch = 0.3e-3
element_width = 0.27e-3
centre_frequency = 5e6
sample_rate = 20e6
samples = 704
longitudinal_velocity = 1540.0
transmit = "beams"
events = 5
aperture = 24
origins = [-0.0024, 0.0024]
receive_aperture = 24
focus = 0.018
repeats = {}
pulse_repetition = {}
encoding = "float32"
quantised = false
noise_rms = 0.0
scatterers = 10000
speckle_x = [-0.009, 0.009]
speckle_z = [0.006, 0.028]
{}
)",
                  scene.beams, pulse_repetition, scene.doppler, scene.repeats, pulse_repetition, scene.moving),
      "flow.toml");
}

struct FlowImages {
  std::shared_ptr<const ImagingSetup> setup;
  Grid grid;
  std::vector<std::string> views;
  std::vector<std::vector<float>> images;  // [line, range], by output

  [[nodiscard]] double at(std::string_view view, std::size_t pixel) const {
    const auto found = std::ranges::find(views, view);
    return images[static_cast<std::size_t>(found - views.begin())][pixel];
  }
  [[nodiscard]] double x(std::size_t pixel) const { return grid.z.at(pixel / grid.x.count).value; }
  [[nodiscard]] double z(std::size_t pixel) const { return grid.x.at(pixel % grid.x.count).value; }
};

FlowImages images_of(const Configuration& configuration, const SourceFrame& frame, BackendKind backend = BackendKind::cpu) {
  FlowImages all;
  all.setup = resolve_imaging({.configuration = configuration,
                               .acquisition = frame.acquisition,
                               .stated = {frame.material, {}},
                               .wish = {.display = false}});
  const auto engine = make_engine(all.setup, {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  all.grid = all.setup->recipe.outputs.front().description.grid;
  for (std::size_t k = 0; k < slot.outputs.size(); ++k) {
    all.views.push_back(all.setup->recipe.outputs[k].description.view);
    const auto* const from = static_cast<const float*>(slot.outputs[k].data.data());
    all.images.emplace_back(from, from + all.grid.pixels());
  }
  return all;
}

const SourceFrame& frame_of_disk() {
  static const SourceFrame frame = frame_of(simulated_source(flow_configuration({})));
  return frame;
}

/// Mean over what `takes`, weighted by power, of the velocity that is shown less the one that `truth` has, m/s.
template <class Takes, class Truth>
double mean_error(const FlowImages& images, const Takes& takes, const Truth& truth) {
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) {
    const double x = images.x(pixel);
    const double z = images.z(pixel);
    if (!takes(x, z)) continue;
    const double power = images.at("power", pixel);
    sum += power * (images.at("velocity", pixel) - truth(x, z));
    weights += power;
  }
  EXPECT_GT(weights, 0.0);
  return sum / weights;
}

const std::vector<std::string> wall_filters{"wall_filter = \"regression\"\norder = 1", "wall_filter = \"fir\"\norder = 1",
                                            "wall_filter = \"svd\"\ncomponents = 2", "wall_filter = \"none\""};
/// A delay filter that falls off within the band lowers the frequency of echoes, and velocities with it: linear by 3 % here.
const std::vector<std::string> paths{"delay_filter = \"windowed_sinc\"", "path = \"iq\"\nlines = 2\nblend = true"};

/// A line for each beam: sound of lines beside it comes from in between, from wider lobes.
const std::vector<std::string> on_beams{paths.front(), "path = \"iq\""};

/// The disk turns from +z towards +x: at x to the right of its centre it moves towards the probe, by turning * x, at every depth.
TEST(FlowImages, OfATurningDiskHaveItsVelocities) {
  for (const std::string& wall_filter : wall_filters) {
    for (const std::string& path : on_beams) {
      SCOPED_TRACE(wall_filter + ", " + path);
      const FlowImages images = images_of(flow_configuration({.beams = path, .doppler = wall_filter}), frame_of_disk());
      ASSERT_EQ(images.views, (std::vector<std::string>{"lines", "velocity", "power", "variance"}));
      double products = 0.0;
      double squares = 0.0;
      for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) {
        const double x = images.x(pixel);
        const double wanted = turning * x;
        // Above the wall filter's cutoff, and a beam's width within the disk.
        if (std::hypot(x, images.z(pixel) - disk_depth) > 0.8 * disk_radius || std::abs(wanted) < 0.25 * nyquist) continue;
        ASSERT_LT(std::abs(wanted), 0.9 * nyquist);
        products += images.at("power", pixel) * images.at("velocity", pixel) * wanted;
        squares += images.at("power", pixel) * wanted * wanted;
      }
      ASSERT_GT(squares, 0.0);
      // Velocities rise by a tenth of Nyquist over the width of a beam, and which scatterer of it is heard is chance.
      EXPECT_NEAR(products / squares, 1.0, 0.05);
    }
  }
}

TEST(FlowImages, FromAGpuAreThoseOfTheCpu) {
  ECHOFORM_REQUIRE_GPU();
  for (const std::string& wall_filter : wall_filters) {
    for (const std::string& path : on_beams) {
      SCOPED_TRACE(wall_filter + ", " + path);
      const Configuration configuration = flow_configuration({.beams = path, .doppler = wall_filter});
      const FlowImages expected = images_of(configuration, frame_of_disk());
      const FlowImages images = images_of(configuration, frame_of_disk(), BackendKind::cuda);
      ASSERT_EQ(images.views, expected.views);
      double off = 0.0;
      double powers = 0.0;
      double off_power = 0.0;
      for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) {
        const double power = expected.at("power", pixel);
        // Velocities wrap round at Nyquist, and are as uncertain as there is little power.
        off += power * std::abs(std::remainder(images.at("velocity", pixel) - expected.at("velocity", pixel), 2.0 * nyquist));
        off_power += std::abs(images.at("power", pixel) - power);
        powers += power;
      }
      // Lines are alike to 1e-4, and wall filters leave what is as weak beside the tissue.
      EXPECT_LT(off_power, 1e-2 * powers);
      EXPECT_LT(off, 1e-2 * nyquist * powers);
    }
  }
}

/// A vessel that goes down to the right at 45 degrees, with what the scene says of it.
constexpr double vessel_radius = 0.004;
constexpr double vessel_peak = 0.25;
const double slope = std::sqrt(0.5);

std::string vessel(double peak, double decibels) {
  return fmt::format("vessels = [[-0.0085, 0.0095, 0.0085, 0.0265, {}, {}, {}]]", vessel_radius, peak, decibels);
}

double from_axis(double x, double z) {
  return std::abs((x - (z - 0.018)) * slope);
}

/// Along the lines, towards the probe: what flows to the right flows down.
double axial(double x, double z) {
  const double part = from_axis(x, z) / vessel_radius;
  return -vessel_peak * (1.0 - part * part) * slope;
}

TEST(FlowImages, OfAVesselHaveItsAxialVelocities) {
  // Blood is 20 dB weaker than what is about it, and flows away from the probe or towards it.
  for (const double direction : {1.0, -1.0}) {
    const bool all = direction > 0.0;
    const SourceFrame frame = frame_of(simulated_source(flow_configuration({.moving = vessel(direction * vessel_peak, -20.0)})));
    for (const std::string& wall_filter : wall_filters) {
      if (wall_filter.find("none") != std::string::npos || (!all && &wall_filter != wall_filters.data())) continue;
      for (const std::string& path : on_beams) {
        SCOPED_TRACE(wall_filter + ", " + path);
        const FlowImages images = images_of(flow_configuration({.beams = path, .doppler = wall_filter}), frame);
        const double error = mean_error(
            images, [](double x, double z) { return from_axis(x, z) < 0.5 * vessel_radius; },
            [&](double x, double z) { return direction * axial(x, z); });
        EXPECT_LT(std::abs(error), 0.03 * nyquist);
      }
    }
  }
}

/// What stands still is gone, as far as single precision has it: nothing of it moves, and there is no noise.
TEST(FlowImages, OfStillTissueAreEmpty) {
  const FlowScene still{.moving = ""};
  const SourceFrame frame = frame_of(simulated_source(flow_configuration(still)));
  const auto power = [&](const std::string& wall_filter, const std::string& path) {
    const FlowImages images = images_of(flow_configuration({.moving = "", .beams = path, .doppler = wall_filter}), frame);
    double sum = 0.0;
    for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) sum += images.at("power", pixel);
    return sum;
  };
  for (const std::string& path : paths) {
    const double before = power("wall_filter = \"none\"", path);
    for (std::size_t k = 0; k < 3; ++k) {
      const double left = 10.0 * std::log10(power(wall_filters[k], path) / before + 1e-30);
      EXPECT_LT(left, -120.0) << wall_filters[k] << path;
    }
  }
}

TEST(FlowImages, SayHowFastFlowMayBe) {
  const Configuration configuration = flow_configuration({.doppler = "order = 2"});
  const FlowImages images = images_of(configuration, frame_of_disk());
  const SetupReport report = find_method("beams")->report(*images.setup);
  EXPECT_NEAR(report.values["doppler"]["nyquist"].get<double>(), nyquist, 1e-9);
  EXPECT_EQ(report.values["doppler"]["ensemble"], 12);
  const OutputDescription& velocity = images.setup->recipe.outputs[1].description;
  EXPECT_EQ(velocity.pixels, (Meaning{"velocity", "m/s"}));
  EXPECT_NEAR(velocity.limit, nyquist, 1e-9);
  EXPECT_TRUE(velocity.lines.has_value());
  EXPECT_EQ(images.setup->recipe.outputs[2].description.limit, 0.0) << "a power does not wrap round";
  for (const float value : images.images[1]) ASSERT_LE(std::abs(value), nyquist * 1.000001);
}

std::string refusal_of(const Configuration& configuration, const Acquisition& acquisition) {
  return input_error([&] { (void)resolve_imaging({.configuration = configuration, .acquisition = acquisition}); });
}

/// Of beams whose events fire `of_data` times a second by the data, 0 where those do not say; `doppler` is the section. With
/// `once` each beam is fired once.
std::shared_ptr<const ImagingSetup> setup_with(const std::string& doppler, double of_data, bool once = false) {
  const Configuration configuration = parse_configuration(
      "[imaging]\nmethod = \"beams\"\nbackend = \"cpu\"\n[material]\nlongitudinal_velocity = 1540.0\n[beams]\ndepth = [0.008, "
      "0.026]\n[filter]\nkind = \"none\"\n" +
          doppler,
      "flow.toml");
  Acquisition acquisition = frame_of_disk().acquisition;
  acquisition.pulse_repetition = Hertz(of_data);
  if (once) acquisition.events = {acquisition.events[0], acquisition.events[12], acquisition.events[24]};
  return resolve_imaging({.configuration = configuration, .acquisition = acquisition});
}

double nyquist_of(const std::shared_ptr<const ImagingSetup>& setup) {
  return find_method("beams")->report(*setup).values["doppler"]["nyquist"].get<double>();
}

TEST(FlowImages, GoByTheRateThatTheDataState) {
  for (const std::string doppler : {"[doppler]\n", "[doppler]\norder = 2\n"}) {
    const auto setup = setup_with(doppler, 5000.0);
    EXPECT_NEAR(nyquist_of(setup), sound_velocity * 5000.0 / (4.0 * frequency), 1e-9) << doppler;
    const SetupReport report = find_method("beams")->report(*setup);
    EXPECT_EQ(report.values["doppler"]["pulse_repetition"].get<double>(), 5000.0);
    EXPECT_TRUE(report.values["doppler"]["pulse_repetition_of_data"].get<bool>());
    EXPECT_THAT(setup->warnings, testing::Not(testing::Contains(testing::HasSubstr("pulse"))));
  }
  // The configuration's counts, and says so.
  const auto replaced = setup_with("[doppler]\npulse_repetition = 4000.0\n", 5000.0);
  EXPECT_NEAR(nyquist_of(replaced), nyquist, 1e-9);
  EXPECT_THAT(replaced->notes, testing::Contains("flow.toml: [doppler] pulse_repetition = 4000 Hz replaces 5000 Hz of the data"));
  // Without the section, and with a rate of 0, there is no flow.
  for (const std::string doppler : {"", "[doppler]\npulse_repetition = 0\norder = 2\n"}) {
    const auto setup = setup_with(doppler, 5000.0, true);
    EXPECT_EQ(setup->recipe.outputs.front().description.view, "lines");
    EXPECT_TRUE(find_method("beams")->report(*setup).values["doppler"].is_null());
  }
}

TEST(FlowImages, RefuseRatesThatCannotBeAndDoubtThoseThatNobodyMeans) {
  const auto refused = [](const std::string& doppler, double of_data) {
    return input_error([&] { (void)setup_with(doppler, of_data); });
  };
  EXPECT_EQ(
      refused("[doppler]\norder = 2\n", 0.0),
      "flow.toml: [doppler] pulse_repetition: found none, and none that the data state; expected transmit events a second, by "
      "which flow is found (or 0, for images without flow)");
  // 704 samples at 20 MHz last 35.15 us.
  EXPECT_EQ(
      refused("[doppler]\npulse_repetition = 100e3\n", 0.0),
      "flow.toml: [doppler] pulse_repetition: found 100000 Hz, an event each 10 us, beside A-scans that end 35.15 us after the "
      "pulse; expected at most 2.845e+04 Hz: the transmit events of all ensembles, one after the other");
  EXPECT_THAT(refused("[doppler]\n", 30e3),
              testing::StartsWith("data: pulse repetition: found 30000 Hz, an event each 33.33 us"));
  EXPECT_EQ(refused("[doppler]\npulse_repetition = 28400\n", 0.0), "");
  EXPECT_NO_THROW((void)setup_with("", 100e3, true)) << "nothing goes by it";
  const auto warnings = [](const std::string& doppler, double of_data) { return setup_with(doppler, of_data)->warnings; };
  EXPECT_THAT(warnings("[doppler]\npulse_repetition = 10\n", 0.0),
              testing::Contains("flow.toml: [doppler] pulse_repetition = 10 Hz: kHz, for 10000 Hz?"));
  EXPECT_THAT(warnings("[doppler]\n", 4.0), testing::Contains("data: pulse repetition = 4 Hz: kHz, for 4000 Hz?"));
  EXPECT_THAT(warnings("[doppler]\npulse_repetition = 500\n", 0.0), testing::Not(testing::Contains(testing::HasSubstr("kHz"))));
}

TEST(FlowImages, WantEnsemblesOfOneLength) {
  const Configuration configuration = flow_configuration({});
  Acquisition acquisition = frame_of_disk().acquisition;
  ASSERT_EQ(acquisition.events.size(), 60U);
  acquisition.events.pop_back();
  EXPECT_EQ(refusal_of(configuration, acquisition),
            "flow.toml: transmit events that are alike: found 12 of event 0 and 11 of event 48; expected as many of each");
  acquisition = frame_of_disk().acquisition;
  std::swap(acquisition.events[11], acquisition.events[12]);
  EXPECT_EQ(refusal_of(configuration, acquisition),
            "flow.toml: transmit events that are alike: found events 10 and 12; expected ones that are 1 apart, as others are");
  acquisition.events.resize(1);
  EXPECT_EQ(refusal_of(configuration, acquisition),
            "flow.toml: transmit events that are alike: found 1 of event 0; expected 2 to 128, the samples of an ensemble for "
            "[doppler]");
  const auto refused = [](const std::string& keys, const std::string& beams = "") {
    return refusal_of(flow_configuration({.beams = beams, .doppler = keys}), frame_of_disk().acquisition);
  };
  EXPECT_EQ(refused("order = 11"), "flow.toml: [doppler] order: found 11; expected at most 10 for ensembles of 12");
  EXPECT_EQ(refused("wall_filter = \"svd\"\ncomponents = 12"),
            "flow.toml: [doppler] components: found 12; expected at most 11 for ensembles of 12");
  EXPECT_EQ(refused("", "adaptive = \"coherence_factor\""),
            "flow.toml: [beams] adaptive: found \"coherence_factor\" with [doppler] pulse_repetition; expected no adaptive "
            "weights: they change from sample to sample of an ensemble");
}

/// Beams that take turns: the samples of an ensemble are as many events apart as there are beams.
TEST(FlowImages, OfBeamsThatTakeTurnsAreSlower) {
  const Configuration configuration = flow_configuration({});
  Acquisition acquisition = frame_of_disk().acquisition;
  std::vector<TransmitEvent> turns;
  for (std::size_t n = 0; n < 12; ++n) {
    for (std::size_t beam = 0; beam < 5; ++beam) turns.push_back(acquisition.events[12 * beam]);
  }
  acquisition.events = turns;
  const auto setup = resolve_imaging({.configuration = configuration, .acquisition = acquisition});
  const SetupReport report = find_method("beams")->report(*setup);
  EXPECT_NEAR(report.values["doppler"]["nyquist"].get<double>(), nyquist / 5.0, 1e-9);
}

TEST(FlowImages, TakeNothingFromTheHeap) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const SourceFrame& frame = frame_of_disk();
  for (const std::string& wall_filter : wall_filters) {
    for (const std::string& path : paths) {
      const Configuration configuration = flow_configuration({.beams = path, .doppler = wall_filter});
      const auto engine = make_engine(resolve_imaging({.configuration = configuration, .acquisition = frame.acquisition}),
                                      {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
      FrameSlot slot;
      engine->equip(slot);
      std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
      for (int warm = 0; warm < 2; ++warm) ASSERT_TRUE(image_now(*engine, slot));
      const std::uint64_t before = allocations();
      for (int counted = 0; counted < 2; ++counted) static_cast<void>(image_now(*engine, slot));
      EXPECT_EQ(allocations() - before, 0U) << wall_filter << path;
    }
  }
}

}  // namespace
}  // namespace echoform::test
