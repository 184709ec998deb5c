// Images of flow of pixels, of plane waves that are compounded and repeated, against what the scene says: a disk that turns has
// at each place the axial velocity turning * x.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "methods/registry.hpp"
#include "methods/setup_report.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr int pixel_waves = 3;
constexpr int pixel_samples = 10;
constexpr double sample_rate_of_pixels = 4000.0;                                // of the samples of an ensemble
constexpr double pixel_nyquist = 1540.0 * sample_rate_of_pixels / (4.0 * 5e6);  // 0.308 m/s
constexpr double pixel_turning = 2.0 * std::numbers::pi * 8.0;                  // radians a second
constexpr double pixel_disk_depth = 0.018;
constexpr double pixel_disk_radius = 0.004;

/// Waves fire in turn, so that those of an image are close to each other.
Configuration pixel_flow_configuration(const std::string& doppler, const std::string& imaging = "", bool flow = true) {
  return parse_configuration(
      fmt::format(R"(
[imaging]
backend = "cpu"
accuracy = 1e-4
{}
[material]
longitudinal_velocity = 1540.0
[grid]
x = [-0.0036, 0.0036]
z = [0.014, 0.022]
pixels = [37, 81]
[apodization]
angle_limit = 20.0
{}
{}
[filter]
kind = "none"
[simulator]
elements = 48
pitch = 0.3e-3
element_width = 0.27e-3
centre_frequency = 5e6
sample_rate = 40e6
samples = 1280
longitudinal_velocity = 1540.0
transmit = "plane"
events = {}
angles = [-6.0, 6.0]
repeats = {}
repeats_in_turn = true
pulse_repetition = {}
encoding = "float32"
quantised = false
noise_rms = 0.0
scatterers = 8000
speckle_x = [-0.007, 0.007]
speckle_z = [0.008, 0.028]
disks = [[0.0, {}, {}, 8.0, 0]]
)",
                  imaging,
                  flow ? fmt::format("[doppler]\npulse_repetition = {}", pixel_waves * sample_rate_of_pixels) : std::string(),
                  doppler, pixel_waves, pixel_samples, pixel_waves * sample_rate_of_pixels, pixel_disk_depth, pixel_disk_radius),
      "pixels.toml");
}

const SourceFrame& frame_of_pixel_disk() {
  static const SourceFrame frame = frame_of(simulated_source(pixel_flow_configuration("")));
  return frame;
}

struct PixelFlowImages {
  std::shared_ptr<const ImagingSetup> setup;
  Grid grid;
  std::vector<std::string> views;
  std::vector<std::vector<float>> images;  // [z, x], by output

  [[nodiscard]] const std::vector<float>& of(std::string_view view) const {
    return images[static_cast<std::size_t>(std::ranges::find(views, view) - views.begin())];
  }
  [[nodiscard]] double x(std::size_t pixel) const { return grid.x.at(pixel % grid.x.count).value; }
  [[nodiscard]] double z(std::size_t pixel) const { return grid.z.at(pixel / grid.x.count).value; }
};

PixelFlowImages pixel_flow_images(const Configuration& configuration, BackendKind backend = BackendKind::cpu,
                                  const SourceFrame& frame = frame_of_pixel_disk()) {
  PixelFlowImages all;
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

const std::vector<std::string> pixel_wall_filters{"wall_filter = \"none\"", "wall_filter = \"regression\"\norder = 1",
                                                  "wall_filter = \"fir\"\norder = 1", "wall_filter = \"svd\"\ncomponents = 1"};

/// It turns from +z towards +x: to the right of its centre it moves towards the probe.
TEST(PixelFlow, OfATurningDiskHasItsAxialVelocities) {
  for (const std::string& wall_filter : pixel_wall_filters) {
    SCOPED_TRACE(wall_filter);
    const PixelFlowImages images = pixel_flow_images(pixel_flow_configuration(wall_filter));
    ASSERT_EQ(images.views, (std::vector<std::string>{"LL", "velocity", "power", "variance"}));
    const double slowest = wall_filter.find("none") == std::string::npos ? 0.25 * pixel_nyquist : 0.0;
    // Of either side of the disk, by power. Velocities rise by a fifteenth of Nyquist over the width of a beam, and which
    // scatterers of it are heard is chance: single columns of pixels are off by as much.
    for (const double side : {-1.0, 1.0}) {
      double off = 0.0;
      double weights = 0.0;
      for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) {
        const double wanted = pixel_turning * images.x(pixel);
        const double away = std::hypot(images.x(pixel), images.z(pixel) - pixel_disk_depth);
        if (side * wanted <= slowest || away > 0.8 * pixel_disk_radius) continue;
        const double power = images.of("power")[pixel];
        off += power * (images.of("velocity")[pixel] - wanted);
        weights += power;
      }
      ASSERT_GT(weights, 0.0);
      EXPECT_LT(std::abs(off / weights), 0.03 * pixel_nyquist);
    }
  }
}

/// Of the images of single soundings, each of which is that of three waves.
TEST(PixelFlow, HasTheMeanOfItsSoundingsEnvelopesBesideIt) {
  const PixelFlowImages images = pixel_flow_images(pixel_flow_configuration(""));
  const SourceFrame& frame = frame_of_pixel_disk();
  std::vector<double> mean(images.grid.pixels());
  for (std::size_t sounding = 0; sounding < pixel_samples; ++sounding) {
    SourceFrame one{frame.acquisition, frame.material, {}};
    one.acquisition.events.assign(frame.acquisition.events.begin(), frame.acquisition.events.begin() + pixel_waves);
    const auto bytes = static_cast<std::ptrdiff_t>(frame.bytes.size() / pixel_samples);
    const auto from = frame.bytes.begin() + bytes * static_cast<std::ptrdiff_t>(sounding);
    one.bytes.assign(from, from + bytes);
    const PixelFlowImages single = pixel_flow_images(pixel_flow_configuration("", "", false), BackendKind::cpu, one);
    ASSERT_EQ(single.views, std::vector<std::string>{"LL"});
    for (std::size_t pixel = 0; pixel < mean.size(); ++pixel) mean[pixel] += single.of("LL")[pixel] / pixel_samples;
  }
  double off = 0.0;
  double norm = 0.0;
  for (std::size_t pixel = 0; pixel < mean.size(); ++pixel) {
    off += std::pow(images.of("LL")[pixel] - mean[pixel], 2);
    norm += std::pow(mean[pixel], 2);
  }
  EXPECT_GT(norm, 0.0);
  // Rounding of single precision.
  EXPECT_LT(std::sqrt(off / norm), 1e-5);
}

/// Straight above and below, a pulse's way out is shorter by v T and so is its way back, each in its own mode.
TEST(PixelFlow, SaysHowFarVelocitiesOfAViewGo) {
  const SourceFrame& frame = frame_of_pixel_disk();
  Material material = frame.material;
  material.shear_velocity = MetresPerSecond(700.0);
  const auto limit_of = [&](const std::string& view) {
    const auto setup = resolve_imaging({.configuration = pixel_flow_configuration("", fmt::format("views = [\"{}\"]", view)),
                                        .acquisition = frame.acquisition,
                                        .stated = {material, {}},
                                        .wish = {.display = false}});
    EXPECT_EQ(setup->recipe.outputs[1].description.view, "velocity");
    EXPECT_EQ(setup->recipe.outputs[2].description.limit, 0.0) << "a power does not wrap round";
    return setup->recipe.outputs[1].description.limit;
  };
  // Half a turn of the carrier in the time between two samples.
  const double way = 0.5 / 5e6 * sample_rate_of_pixels;
  EXPECT_NEAR(limit_of("LL"), pixel_nyquist, 1e-9);
  EXPECT_NEAR(limit_of("TT"), way / (1.0 / 700.0 + 1.0 / 700.0), 1e-9);
  EXPECT_NEAR(limit_of("LT"), way / (1.0 / 1540.0 + 1.0 / 700.0), 1e-9);
}

TEST(PixelFlow, FromAGpuIsThatOfTheCpu) {
  ECHOFORM_REQUIRE_GPU();
  for (const std::string& wall_filter : pixel_wall_filters) {
    SCOPED_TRACE(wall_filter);
    const Configuration configuration = pixel_flow_configuration(wall_filter);
    const PixelFlowImages expected = pixel_flow_images(configuration);
    const PixelFlowImages images = pixel_flow_images(configuration, BackendKind::cuda);
    ASSERT_EQ(images.views, expected.views);
    double off = 0.0;
    double off_power = 0.0;
    double powers = 0.0;
    for (std::size_t pixel = 0; pixel < images.grid.pixels(); ++pixel) {
      const double power = expected.of("power")[pixel];
      const double turn = images.of("velocity")[pixel] - expected.of("velocity")[pixel];
      off += power * std::abs(std::remainder(turn, 2.0 * pixel_nyquist));
      off_power += std::abs(images.of("power")[pixel] - power);
      powers += power;
    }
    EXPECT_LT(off_power, 1e-2 * powers);
    EXPECT_LT(off, 1e-2 * pixel_nyquist * powers);
  }
}

std::string pixel_refusal(const std::string& imaging) {
  return input_error([&] {
    (void)resolve_imaging({.configuration = pixel_flow_configuration("", imaging),
                           .acquisition = frame_of_pixel_disk().acquisition,
                           .stated = {frame_of_pixel_disk().material, {}}});
  });
}

TEST(PixelFlow, TakesAllEventsOfOneView) {
  EXPECT_EQ(pixel_refusal("compounded = 2"),
            "pixels.toml: [imaging] compounded: found 2 with [doppler] pulse_repetition; expected all events");
  EXPECT_EQ(pixel_refusal("events = [0, 1]"),
            "pixels.toml: [imaging] events: found a choice with [doppler] pulse_repetition; expected all events: they are the "
            "samples of ensembles");
  EXPECT_EQ(pixel_refusal("adaptive = \"coherence_factor\""),
            "pixels.toml: [imaging] adaptive: found \"coherence_factor\" with [doppler] pulse_repetition; expected no adaptive "
            "weights: they change from sample to sample");
  EXPECT_EQ(
      pixel_refusal("views = [\"TT-T\"]"),
      "pixels.toml: [imaging] views: found \"TT-T\" with [doppler] pulse_repetition; expected a view straight to the pixels "
      "and back: off a wall, what moves along z turns nothing");
}

TEST(PixelFlow, TakesNothingFromTheHeap) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const SourceFrame& frame = frame_of_pixel_disk();
  const auto engine = make_engine(
      resolve_imaging(
          {.configuration = pixel_flow_configuration(""), .acquisition = frame.acquisition, .stated = {frame.material, {}}}),
      {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  for (int warm = 0; warm < 2; ++warm) ASSERT_TRUE(image_now(*engine, slot));
  const std::uint64_t before = allocations();
  for (int counted = 0; counted < 2; ++counted) static_cast<void>(image_now(*engine, slot));
  EXPECT_EQ(allocations() - before, 0U);
}

}  // namespace
}  // namespace echoform::test
