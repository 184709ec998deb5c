// Soundings of a beam that are added with signs: of pulses of opposite polarity what is linear cancels, what is even stays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "methods/setup_report.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

/// Parallel beams of a linear array over points, each `repeats` times.
Configuration pulse_configuration(const std::string& beams, int repeats, const std::string& doppler = "") {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.008, 0.026]
f_number = 1.5
{}
{}
[filter]
kind = "none"
[simulator]
elements = 48
pitch = 0.3e-3
element_width = 0.27e-3
centre_frequency = 2.5e6
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
encoding = "float32"
quantised = false
noise_rms = 0.0
points = [[0.0, 0.012, 1.0], [0.001, 0.018, 0.7]]
)",
                                         beams, doppler.empty() ? "" : "[doppler]\n" + doppler, repeats),
                             "pulses.toml");
}

std::vector<float> lines_of(const Configuration& configuration, const SourceFrame& frame,
                            BackendKind backend = BackendKind::cpu) {
  const auto setup = resolve_imaging({.configuration = configuration,
                                      .acquisition = frame.acquisition,
                                      .stated = {frame.material, {}},
                                      .wish = {.display = false}});
  const auto engine = make_engine(setup, {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  const auto* const from = static_cast<const float*>(slot.outputs.front().data.data());
  return {from, from + setup->recipe.outputs.front().description.grid.pixels()};
}

/// The frame with each sample s of sounding n as odd[n] s + even s^2: soundings of a beam are as many events in a row.
SourceFrame heard(SourceFrame frame, const std::vector<double>& odd, double even) {
  const std::size_t event_samples = frame.bytes.size() / sizeof(float) / frame.acquisition.events.size();
  auto* const samples = reinterpret_cast<float*>(frame.bytes.data());
  for (std::size_t event = 0; event < frame.acquisition.events.size(); ++event) {
    for (std::size_t n = event * event_samples; n < (event + 1) * event_samples; ++n) {
      const double s = samples[n];
      samples[n] = static_cast<float>(odd[event % odd.size()] * s + even * s * s);
    }
  }
  return frame;
}

const SourceFrame& source_of(int repeats) {
  static const SourceFrame once = frame_of(simulated_source(pulse_configuration("", 1)));
  static const SourceFrame twice = frame_of(simulated_source(pulse_configuration("", 2)));
  static const SourceFrame thrice = frame_of(simulated_source(pulse_configuration("", 3)));
  return repeats == 1 ? once : repeats == 2 ? twice : thrice;
}

double greatest(const std::vector<float>& image) {
  return *std::ranges::max_element(image);
}

double farthest(const std::vector<float>& a, const std::vector<float>& b, double factor) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::abs(static_cast<double>(a[n]) - factor * b[n]));
  return most;
}

const std::vector<std::string> pulse_paths{"", "lines = 2\nblend = true", "path = \"iq\"",
                                           "delay_filter = \"windowed_sinc\"\nlines = 3"};

TEST(Pulses, OfOppositePolarityLeaveEvenHarmonicsTwice) {
  for (const std::string& path : pulse_paths) {
    SCOPED_TRACE(path);
    const Configuration inversion = pulse_configuration("pulse_weights = [1, 1]\n" + path, 2);
    const Configuration plain = pulse_configuration(path, 1);
    const std::vector<float> fundamental = lines_of(plain, source_of(1));
    // Samples of both are the same but for their sign, and so is each step of their sums.
    const std::vector<float> cancelled = lines_of(inversion, heard(source_of(2), {1.0, -1.0}, 0.0));
    EXPECT_LT(greatest(cancelled), 1e-6 * greatest(fundamental));
    const double even = 0.1 / greatest(fundamental);
    const std::vector<float> harmonic = lines_of(plain, heard(source_of(1), {0.0}, even));
    ASSERT_GT(greatest(harmonic), 0.0);
    const std::vector<float> found = lines_of(inversion, heard(source_of(2), {1.0, -1.0}, even));
    // The harmonic is what rounding of samples, 6e-8 of the fundamental, leaves of it.
    EXPECT_LT(farthest(found, harmonic, 2.0), 2e-6 * greatest(fundamental));
    // The difference is the other way round.
    const Configuration difference = pulse_configuration("pulse_weights = [1, -1]\n" + path, 2);
    const std::vector<float> odd = lines_of(difference, heard(source_of(2), {1.0, -1.0}, even));
    EXPECT_LT(farthest(odd, fundamental, 2.0), 2e-6 * greatest(fundamental));
  }
}

/// Pulses of half the amplitude beside a whole one: what is linear cancels by the amplitude.
TEST(Pulses, OfOtherAmplitudesCancelByTheirWeights) {
  const Configuration modulation = pulse_configuration("pulse_weights = [1, -1, 1]", 3);
  const std::vector<float> fundamental = lines_of(pulse_configuration("", 1), source_of(1));
  EXPECT_LT(greatest(lines_of(modulation, heard(source_of(3), {0.5, 1.0, 0.5}, 0.0))), 1e-6 * greatest(fundamental));
  EXPECT_LT(farthest(lines_of(modulation, source_of(3)), fundamental, 1.0), 2e-6 * greatest(fundamental));
}

TEST(Pulses, AreAddedOnAGpuToo) {
  ECHOFORM_REQUIRE_GPU();
  for (const std::string& path : pulse_paths) {
    SCOPED_TRACE(path);
    const Configuration inversion = pulse_configuration("pulse_weights = [1, 1]\n" + path, 2);
    const std::vector<float> fundamental = lines_of(pulse_configuration(path, 1), source_of(1));
    const double even = 0.1 / greatest(fundamental);
    EXPECT_LT(greatest(lines_of(inversion, heard(source_of(2), {1.0, -1.0}, 0.0), BackendKind::cuda)),
              1e-6 * greatest(fundamental));
    const SourceFrame both = heard(source_of(2), {1.0, -1.0}, even);
    const std::vector<float> expected = lines_of(inversion, both);
    // Lines of one event are alike to 1e-4 of their greatest, as ever, whatever of them cancels.
    EXPECT_LT(farthest(lines_of(inversion, both, BackendKind::cuda), expected, 1.0), 1e-4 * greatest(fundamental));
  }
}

TEST(Pulses, AreSoundingsOfOneBeam) {
  const auto refused = [](const std::string& keys, int repeats, const std::string& doppler = "") {
    return input_error([&] {
      (void)resolve_imaging(
          {.configuration = pulse_configuration(keys, repeats, doppler), .acquisition = source_of(repeats).acquisition});
    });
  };
  EXPECT_EQ(refused("pulse_weights = [1, 1]", 1),
            "pulses.toml: transmit events that are alike: found 1 of event 0; expected 2, one for each of [beams] pulse_weights");
  EXPECT_EQ(refused("pulse_weights = [1, 1]", 3),
            "pulses.toml: transmit events that are alike: found 3 of event 0; expected 2, one for each of [beams] pulse_weights");
  EXPECT_EQ(refused("pulse_weights = [1]", 1),
            "pulses.toml: [beams] pulse_weights: found one; expected 2 or more, one for each sounding of a beam, or none");
  EXPECT_EQ(
      refused("pulse_weights = [0, 0]", 2),
      "pulses.toml: [beams] pulse_weights: found 0; expected weights other than 0: what counts for nothing need not be fired");
  EXPECT_EQ(
      refused("pulse_weights = [1, 1]", 2, "pulse_repetition = 4000.0"),
      "pulses.toml: [beams] pulse_weights: found some with [doppler] pulse_repetition; expected one of both: they tell events "
      "that are alike another meaning");
  EXPECT_EQ(
      refused("pulse_weights = [1, 1]\nadaptive = \"coherence_factor\"", 2),
      "pulses.toml: [beams] adaptive: found \"coherence_factor\" with pulse_weights; expected no adaptive weights: they differ "
      "from sounding to sounding, and nothing would cancel");
  const auto setup = resolve_imaging(
      {.configuration = pulse_configuration("pulse_weights = [1, 1]", 2), .acquisition = source_of(2).acquisition});
  EXPECT_EQ(find_method("beams")->report(*setup).values["pulse_weights"].size(), 2U);
}

}  // namespace
}  // namespace echoform::test
