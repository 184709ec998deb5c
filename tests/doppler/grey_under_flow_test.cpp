// The grey image under flow, of a disk that turns: what moves is as bright in it as in the images of single soundings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {
namespace {

constexpr double grey_velocity = 1540.0;
constexpr double grey_sample_rate = 40e6;
constexpr std::size_t grey_samples = 1024;  // a power of two, for the plain transform below
constexpr std::size_t grey_soundings = 32;
constexpr double turning_depth = 0.012;
constexpr double turning_radius = 0.004;

/// A disk of 8 mm that turns 9.7 times a second, at 10,000 soundings a second: its rim goes 0.8 mm while a frame is taken.
std::string turning_disk(const std::string& transmit) {
  return fmt::format(R"(
[material]
longitudinal_velocity = {0}
[filter]
kind = "none"
[simulator]
elements = 48
pitch = 0.3e-3
element_width = 0.27e-3
centre_frequency = 5e6
sample_rate = {1}
samples = {2}
longitudinal_velocity = {0}
repeats = {3}
pulse_repetition = 10000.0
encoding = "float32"
quantised = false
noise_rms = 0.0
scatterers = 6000
speckle_x = [-0.006, 0.006]
speckle_z = [0.006, 0.018]
disks = [[0.0, {4}, {5}, 9.7, 0]]
{6}
)",
                     grey_velocity, grey_sample_rate, grey_samples, grey_soundings, turning_depth, turning_radius, transmit);
}

constexpr std::string_view flow_section = "[doppler]\npulse_repetition = 10000.0\n";

Configuration plane_wave_configuration(bool flow = true) {
  return parse_configuration(fmt::format(R"(
[imaging]
backend = "cpu"
[grid]
x = [-0.0042, 0.0042]
z = [0.0078, 0.0162]
pixels = [85, 169]
{}{})",
                                         flow ? flow_section : "", turning_disk("transmit = \"plane\"\nevents = 1")),
                             "disk.toml");
}

Configuration line_configuration(bool flow, const std::string& beams = "") {
  return parse_configuration(
      fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[beams]
depth = [0.0078, 0.0162]
f_number = 1.5
{}
{}{})",
                  beams, flow ? flow_section : "",
                  turning_disk("transmit = \"beams\"\nevents = 13\naperture = 24\norigins = [-0.0036, 0.0036]\n"
                               "receive_aperture = 24\nfocus = 0.012")),
      "disk.toml");
}

/// The first image of a frame.
struct GreyImage {
  Grid grid;
  std::vector<float> values;
};

GreyImage grey_image(const Configuration& configuration, const SourceFrame& frame, BackendKind backend = BackendKind::cpu) {
  const auto setup = resolve_imaging({.configuration = configuration,
                                      .acquisition = frame.acquisition,
                                      .stated = {frame.material, {}},
                                      .wish = {.display = false}});
  const auto engine = make_engine(setup, {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  GreyImage image{setup->recipe.outputs.front().description.grid, {}};
  const auto* const from = static_cast<const float*>(slot.outputs.front().data.data());
  image.values.assign(from, from + image.grid.pixels());
  return image;
}

/// Mean powers in rings of 1 mm about the disk's centre, outwards.
class Rings {
 public:
  static constexpr std::size_t count = 4;

  void add(double x, double z, double power) {
    const auto ring = static_cast<std::size_t>(std::hypot(x, z - turning_depth) / 1e-3);
    if (ring >= count) return;
    sums_[ring] += power;
    ++counts_[ring];
  }
  [[nodiscard]] double mean(std::size_t ring) const { return sums_[ring] / static_cast<double>(counts_[ring]); }

 private:
  std::array<double, count> sums_{};
  std::array<std::size_t, count> counts_{};
};

/// Mean of envelopes against root mean squares: where nothing stays alike from sounding to sounding speckle loses pi / 4, 1.05
/// dB, and while the rim moves by a few beams a part of that.
constexpr double rings_agree = 1.0;  // dB

void expect_as_bright(const Rings& grey, const Rings& single) {
  for (std::size_t ring = 0; ring < Rings::count; ++ring) {
    EXPECT_NEAR(10.0 * std::log10(grey.mean(ring) / single.mean(ring)), 0.0, rings_agree) << "ring " << ring;
  }
}

// ---- plain double precision: analytic signals by a transform of powers of two, and a sum over receivers by linear
// interpolation.

using Samples = std::vector<std::complex<double>>;

/// e^(i 2 pi k / grey_samples)
const Samples& turns() {
  static const Samples all = [] {
    Samples values;
    for (std::size_t k = 0; k < grey_samples; ++k)
      values.push_back(std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(grey_samples)));
    return values;
  }();
  return all;
}

void transform(Samples& values, double sign) {
  const std::size_t count = values.size();
  if (count == 1) return;
  Samples even(count / 2);
  Samples odd(count / 2);
  for (std::size_t k = 0; k < count / 2; ++k) {
    even[k] = values[2 * k];
    odd[k] = values[2 * k + 1];
  }
  transform(even, sign);
  transform(odd, sign);
  for (std::size_t k = 0; k < count / 2; ++k) {
    const std::complex<double>& turn = turns()[k * (grey_samples / count)];
    const std::complex<double> turned = (sign > 0.0 ? turn : std::conj(turn)) * odd[k];
    values[k] = even[k] + turned;
    values[k + count / 2] = even[k] - turned;
  }
}

Samples analytic(std::span<const float> row) {
  Samples values(row.begin(), row.end());
  transform(values, -1.0);
  const std::size_t half = values.size() / 2;
  for (std::size_t k = 1; k < values.size(); ++k) values[k] *= k < half ? 2.0 : k == half ? 1.0 : 0.0;
  transform(values, 1.0);
  for (auto& value : values) value /= static_cast<double>(values.size());
  return values;
}

/// Mean powers of the images of single soundings, over all of them: a plane wave straight down, whose elements all fire at 0.
Rings rings_of_single_soundings(const SourceFrame& frame, const Grid& grid) {
  const Acquisition& acquisition = frame.acquisition;
  const std::size_t receivers = acquisition.probe.elements.size();
  const double start = (acquisition.start_time - acquisition.time_offset).value;
  std::vector<float> samples(frame.bytes.size() / sizeof(float));
  std::memcpy(samples.data(), frame.bytes.data(), frame.bytes.size());
  const std::size_t pixels = grid.pixels();
  // [sounding][pixel]. Where a pixel's echo lies in a receiver's A-scan is the same in all soundings.
  std::vector<Samples> images(grey_soundings, Samples(pixels));
  std::vector<std::size_t> whole(pixels);
  std::vector<double> parts(pixels);
  const std::size_t* const whole_of = whole.data();
  const double* const part_of = parts.data();
  for (std::size_t receiver = 0; receiver < receivers; ++receiver) {
    const double at = acquisition.probe.elements[receiver].centre.x.value;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      const Point place = grid.at(pixel);
      const double time = (place.z.value + std::hypot(place.x.value - at, place.z.value)) / grey_velocity;
      const double u = (time - start) * grey_sample_rate;
      const bool heard = u >= 0.0 && u < static_cast<double>(grey_samples - 1);
      whole[pixel] = heard ? static_cast<std::size_t>(u) : grey_samples;
      parts[pixel] = u - std::floor(u);
    }
    for (std::size_t sounding = 0; sounding < grey_soundings; ++sounding) {
      const Samples signal = analytic(std::span(samples).subspan((sounding * receivers + receiver) * grey_samples, grey_samples));
      // In plain numbers, real and imaginary in turn: without optimisation each operation of std::complex is some calls.
      const auto* const from = reinterpret_cast<const double*>(signal.data());
      auto* const image = reinterpret_cast<double*>(images[sounding].data());
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const std::size_t k = whole_of[pixel];
        if (k == grey_samples) continue;
        const double part = part_of[pixel];
        image[2 * pixel] += (1.0 - part) * from[2 * k] + part * from[2 * k + 2];
        image[2 * pixel + 1] += (1.0 - part) * from[2 * k + 1] + part * from[2 * k + 3];
      }
    }
  }
  Rings rings;
  for (const Samples& image : images) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      const Point place = grid.at(pixel);
      rings.add(place.x.value, place.z.value, std::norm(image[pixel] / static_cast<double>(receivers)));
    }
  }
  return rings;
}

const SourceFrame& plane_wave_frame() {
  static const SourceFrame frame = frame_of(simulated_source(plane_wave_configuration()));
  return frame;
}

void expect_the_disk_of_plane_waves(BackendKind backend) {
  const SourceFrame& frame = plane_wave_frame();
  ASSERT_EQ(frame.acquisition.events.size(), grey_soundings);
  const GreyImage grey = grey_image(plane_wave_configuration(), frame, backend);
  Rings rings;
  for (std::size_t pixel = 0; pixel < grey.values.size(); ++pixel) {
    const Point place = grey.grid.at(pixel);
    rings.add(place.x.value, place.z.value, std::pow(grey.values[pixel], 2));
  }
  expect_as_bright(rings, rings_of_single_soundings(frame, grey.grid));
}

TEST(GreyUnderFlow, OfPlaneWavesShowsADiskThatTurnsAsBrightAsSingleSoundingsDo) {
  expect_the_disk_of_plane_waves(BackendKind::cpu);
}

TEST(GreyUnderFlow, OfPlaneWavesShowsADiskThatTurnsOnAGpu) {
  ECHOFORM_REQUIRE_GPU();
  expect_the_disk_of_plane_waves(BackendKind::cuda);
}

const SourceFrame& line_frame() {
  static const SourceFrame frame = frame_of(simulated_source(line_configuration(true)));
  return frame;
}

/// The events of one sounding of every beam alone. Beams follow each other, each with all of its soundings.
SourceFrame one_sounding(const SourceFrame& frame, std::size_t sounding) {
  SourceFrame one{frame.acquisition, frame.material, {}};
  one.acquisition.events.clear();
  const std::size_t event_bytes = frame.bytes.size() / frame.acquisition.events.size();
  for (std::size_t event = sounding; event < frame.acquisition.events.size(); event += grey_soundings) {
    one.acquisition.events.push_back(frame.acquisition.events[event]);
    const auto from = frame.bytes.begin() + static_cast<std::ptrdiff_t>(event * event_bytes);
    one.bytes.insert(one.bytes.end(), from, from + static_cast<std::ptrdiff_t>(event_bytes));
  }
  return one;
}

void expect_the_disk_of_lines(const std::string& beams, BackendKind backend) {
  SCOPED_TRACE(beams);
  const GreyImage grey = grey_image(line_configuration(true, beams), line_frame(), backend);
  std::vector<double> mean(grey.values.size());
  Rings of_grey;
  Rings of_single;
  const auto add = [&](Rings& rings, std::size_t pixel, double amplitude) {
    const Grid& grid = grey.grid;  // [line, range]
    rings.add(grid.z.at(pixel / grid.x.count).value, grid.x.at(pixel % grid.x.count).value, amplitude * amplitude);
  };
  for (std::size_t sounding = 0; sounding < grey_soundings; ++sounding) {
    const GreyImage single = grey_image(line_configuration(false, beams), one_sounding(line_frame(), sounding));
    ASSERT_EQ(single.grid, grey.grid);
    for (std::size_t pixel = 0; pixel < mean.size(); ++pixel) {
      mean[pixel] += single.values[pixel] / static_cast<double>(grey_soundings);
      add(of_single, pixel, single.values[pixel]);
    }
  }
  double off = 0.0;
  double norm = 0.0;
  for (std::size_t pixel = 0; pixel < mean.size(); ++pixel) {
    add(of_grey, pixel, grey.values[pixel]);
    off += std::pow(grey.values[pixel] - mean[pixel], 2);
    norm += std::pow(mean[pixel], 2);
  }
  expect_as_bright(of_grey, of_single);
  // Rounding of single precision; on a GPU lines are those of the CPU to 1e-4.
  EXPECT_LT(std::sqrt(off / norm), backend == BackendKind::cuda ? 2e-4 : 1e-5);
}

/// As lines are formed, blended of two beams, and in baseband.
const std::vector<std::string> grey_lines{"", "lines = 2\nblend = true", "path = \"iq\""};

TEST(GreyUnderFlow, OfScanLinesIsTheMeanOfTheSoundingsEnvelopes) {
  for (const std::string& beams : grey_lines) expect_the_disk_of_lines(beams, BackendKind::cpu);
}

TEST(GreyUnderFlow, OfScanLinesOnAGpuIsThatToo) {
  ECHOFORM_REQUIRE_GPU();
  for (const std::string& beams : grey_lines) expect_the_disk_of_lines(beams, BackendKind::cuda);
}

}  // namespace
}  // namespace echoform::test
