// M-mode and spectral Doppler, from a configuration and samples that are made of what moves, against what moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "acquisition/frame_layout.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/setup_report.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double gate_repetition = 4000.0;
constexpr double gate_nyquist = 1540.0 * gate_repetition / (4.0 * 5e6);  // 0.308 m/s
constexpr std::size_t gate_samples = 32;

/// Three parallel beams of a linear array, each `repeats` times; what is heard the tests make.
Configuration scrolling_configuration(const std::string& keys, const std::string& beams = "",
                                      std::size_t repeats = gate_samples) {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.010, 0.022]
f_number = 1.5
delay_filter = "windowed_sinc"
{}
{}
[filter]
kind = "none"
[simulator]
elements = 48
pitch = 0.3e-3
element_width = 0.27e-3
centre_frequency = 5e6
sample_rate = 20e6
samples = 608
longitudinal_velocity = 1540.0
transmit = "beams"
events = 3
aperture = 24
origins = [-0.0024, 0.0024]
receive_aperture = 24
focus = 0.016
repeats = {}
encoding = "float32"
quantised = false
noise_rms = 0.0
points = [[0.0, 0.016, 1.0]]
)",
                                         beams, keys, repeats),
                             "scrolling.toml");
}

Acquisition scrolling_acquisition(std::size_t repeats = gate_samples) {
  return FmcSimulator(simulated_source(scrolling_configuration("", "", repeats))).acquisition();
}

std::string spectrum_keys(const std::string& more, const std::string& gate = "[0.0158, 0.0162]") {
  return fmt::format(
      "frame_rate = 10.0\n[doppler]\npulse_repetition = {}\nwall_filter = \"none\"\n[spectrum]\nline = 1\ngate = {}\n"
      "velocities = 128\nseconds = 0.4\n{}",
      gate_repetition, gate, more);
}

/// At x, z as the frame begins, on its way to the probe at `velocity`.
struct Mover {
  double x = 0.0;
  double z = 0.0;
  double velocity = 0.0;
  double amplitude = 1.0;
};

/// Short pulses off movers, which go on from event to event; those of the first beam, then the second's, then the third's. Where
/// each is, is the truth; when sound gets there from a beam is the law that images are made with.
std::vector<float> frame_of_movers(const Acquisition& acquisition, const std::vector<Mover>& movers) {
  constexpr double c = 1540.0;
  constexpr double f = 5e6;
  constexpr double width = 2.4e-7;
  std::vector<std::uint32_t> all;
  for (std::uint32_t event = 0; event < acquisition.event_count(); ++event) all.push_back(event);
  const DelayLaw law =
      make_delay_law("contact", {.acquisition = acquisition, .material = {MetresPerSecond(c), {}}, .view = "LL", .chosen = all});
  const FrameLayout layout(acquisition);
  const std::vector<EventReceiver> pairs = layout.pairs();
  const double rate = acquisition.sample_rate.value;
  const double start = (acquisition.start_time - acquisition.time_offset).value;
  std::vector<float> samples(acquisition.a_scans() * acquisition.samples);
  for (std::size_t event = 0; event < all.size(); ++event) {
    std::vector<Point> places;
    for (const Mover& mover : movers) {
      const double moved = mover.velocity * static_cast<double>(event) / gate_repetition;
      places.push_back({Metres(mover.x), Metres(0.0), Metres(mover.z - moved)});
    }
    std::vector<double> out(places.size());
    law.transmit->travel_times(event, places, out);
    const RowRange rows = layout.shot(event);
    for (std::size_t row = rows.first; row < rows.first + rows.count; ++row) {
      const Point& element = acquisition.probe.elements[pairs[row].receiver].centre;
      float* const to = samples.data() + row * acquisition.samples;
      for (std::size_t m = 0; m < movers.size(); ++m) {
        if (std::isnan(out[m])) continue;
        const double back = std::hypot((places[m].x - element.x).value, (places[m].z - element.z).value) / c;
        const double at = (out[m] + back - start) * rate;
        const auto first = static_cast<std::size_t>(std::max(0.0, at - 4.0 * width * rate));
        const auto end =
            static_cast<std::size_t>(std::clamp(at + 4.0 * width * rate, 0.0, static_cast<double>(acquisition.samples)));
        for (std::size_t n = first; n < end; ++n) {
          const double t = (static_cast<double>(n) - at) / rate;
          to[n] += static_cast<float>(movers[m].amplitude * std::exp(-0.5 * t * t / (width * width)) *
                                      std::cos(2.0 * std::numbers::pi * f * t));
        }
      }
    }
  }
  return samples;
}

struct Scrolled {
  std::shared_ptr<const ImagingSetup> setup;
  std::vector<std::vector<float>> frames;  ///< the image after each frame
  OutputDescription description;
};

/// Images of frames one after the other.
Scrolled scrolled(const Configuration& configuration, std::string_view view, const std::vector<std::vector<float>>& heard,
                  BackendKind backend = BackendKind::cpu) {
  Scrolled all;
  all.setup = resolve_imaging({.configuration = configuration,
                               .acquisition = scrolling_acquisition(),
                               .stated = {{MetresPerSecond(1540.0), {}}, {}},
                               .wish = {.display = true}});
  const std::size_t output = all.setup->recipe.find(view, OutputKind::envelope).value();
  all.description = all.setup->recipe.outputs[output].description;
  const auto engine = make_engine(all.setup, {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  for (const std::vector<float>& frame : heard) {
    std::memcpy(slot.samples.data(), frame.data(), frame.size() * sizeof(float));
    EXPECT_TRUE(image_now(*engine, slot));
    const auto* const from = static_cast<const float*>(slot.outputs[output].data.data());
    all.frames.emplace_back(from, from + all.description.grid.pixels());
  }
  return all;
}

/// Frames of one mover on the middle line, each a little stronger than the one before.
const std::vector<std::vector<float>>& frames_of_one() {
  static const std::vector<std::vector<float>> frames = [] {
    std::vector<std::vector<float>> made;
    for (int frame = 0; frame < 5; ++frame) {
      made.push_back(
          frame_of_movers(scrolling_acquisition(), {{0.0, 0.0164, 0.15, 1.0 + 0.25 * frame}, {0.002, 0.013, 0.0, 0.5}}));
    }
    return made;
  }();
  return frames;
}

/// While the middle beam is fired: events 32 to 63. The mover is at the gate then.
TEST(SpectralDoppler, HasThePeakOfWhatMovesAtItsVelocity) {
  for (const double velocity : {0.15, -0.2, 0.0, 0.4}) {
    SCOPED_TRACE(velocity);
    const double at_gate = 0.016 + velocity * 1.5 * gate_samples / gate_repetition;
    const auto frame = frame_of_movers(scrolling_acquisition(), {{0.0, at_gate, velocity}});
    for (const std::string path : {"", "path = \"iq\""}) {
      const Scrolled images = scrolled(scrolling_configuration(spectrum_keys("", "[0.0145, 0.0175]"), path), "spectrum", {frame});
      EXPECT_EQ(images.description.x, (Meaning{"velocity", "m/s"}));
      EXPECT_EQ(images.description.z, (Meaning{"time", "s"}));
      const Grid& grid = images.description.grid;
      const auto newest = images.frames.back().end() - static_cast<std::ptrdiff_t>(grid.x.count);
      const auto peak = std::max_element(newest, images.frames.back().end()) - newest;
      // Above Nyquist, 0.308 m/s, it wraps round.
      const double off = std::remainder(grid.x.at(static_cast<std::size_t>(peak)).value - velocity, 2.0 * gate_nyquist);
      EXPECT_NEAR(off, 0.0, 0.03 * gate_nyquist);
    }
  }
}

TEST(SpectralDoppler, OfAVesselLiesBetweenNothingAndItsPeak) {
  // Blood goes down, away from the probe, fastest on the line and not at all at 2 mm beside it.
  constexpr double peak = -0.15;
  constexpr double radius = 0.002;
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> place(-1.0, 1.0);
  std::vector<Mover> blood;
  for (int n = 0; n < 60; ++n) {
    const double across = place(engine);
    blood.push_back({radius * across, 0.014 + 0.004 * place(engine), peak * (1.0 - across * across), 1.0});
  }
  const Configuration configuration = scrolling_configuration(spectrum_keys("", "[0.014, 0.018]"));
  const Scrolled images = scrolled(configuration, "spectrum", {frame_of_movers(scrolling_acquisition(), blood)});
  const Grid& grid = images.description.grid;
  // A Hann window over 32 samples reaches 2 / 32 of the whole axis to either side, and each frequency f of a pulse whose spectrum
  // has the standard deviation 1 / (2 pi 2.4e-7) = 0.66 MHz turns by its own v f / 5 MHz: two of those are 27 % beyond the peak.
  const double spread = 2.0 * 2.0 * gate_nyquist / 32.0;
  double inside = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < grid.pixels(); ++k) {
    const double power = std::pow(images.frames.back()[k], 2.0);
    const double v = grid.x.at(k % grid.x.count).value;
    all += power;
    if (v > 1.27 * peak - spread && v < spread) inside += power;
  }
  ASSERT_GT(all, 0.0);
  EXPECT_GT(inside, 0.95 * all);
}

TEST(SpectralDoppler, HasSeveralSpectraOfAnEnsemble) {
  const Configuration configuration = scrolling_configuration(spectrum_keys("samples = 16\noverlap = 0.5"));
  const Scrolled images = scrolled(configuration, "spectrum", frames_of_one());
  const Grid& grid = images.description.grid;
  ASSERT_EQ(grid.z.count, 12U);  // 3 of each of 4 frames
  EXPECT_NEAR(grid.z.spacing().value, 0.1 / 3.0, 1e-12);
  EXPECT_EQ(grid.z.last.value, 0.0);
  EXPECT_NEAR(grid.x.first.value, -gate_nyquist, 1e-12);
  // Rows of the first frame are the last three of the first image, and three further up in each that follows.
  for (std::size_t frame = 1; frame < 4; ++frame) {
    const std::size_t row = 3 * (3 - frame) * grid.x.count;
    EXPECT_EQ(std::memcmp(&images.frames[frame][row], &images.frames[0][9 * grid.x.count], 3 * grid.x.count * sizeof(float)), 0);
  }
}

TEST(SpectralDoppler, FromAGpuIsThatOfTheCpu) {
  ECHOFORM_REQUIRE_GPU();
  for (const std::string path : {"", "path = \"iq\""}) {
    const Configuration configuration =
        scrolling_configuration(spectrum_keys("samples = 16\noverlap = 0.5\n[m_mode]\nline = 2\nseconds = 0.5"), path);
    for (const std::string_view view : {"spectrum", "m_mode"}) {
      const Scrolled expected = scrolled(configuration, view, frames_of_one());
      const Scrolled images = scrolled(configuration, view, frames_of_one(), BackendKind::cuda);
      for (std::size_t frame = 0; frame < 5; ++frame) {
        const double greatest = *std::ranges::max_element(expected.frames[frame]);
        ASSERT_GT(greatest, 0.0);
        for (std::size_t k = 0; k < expected.frames[frame].size(); ++k) {
          // Lines are alike to 1e-4 of their greatest; of a spectrum the wall filter has taken most of that greatest away.
          const double alike = view == "spectrum" ? 1e-3 : 1e-4;
          ASSERT_NEAR(images.frames[frame][k], expected.frames[frame][k], alike * greatest) << view << " " << k;
        }
      }
    }
  }
}

TEST(MMode, IsALineOverTheFrames) {
  const std::string keys = "frame_rate = 10.0\n[m_mode]\nline = 2\nseconds = 0.3\n[doppler]\npulse_repetition = 4000.0";
  const Scrolled images = scrolled(scrolling_configuration(keys, "persistence = 0.5"), "m_mode", frames_of_one());
  const Configuration plain = scrolling_configuration("[doppler]\npulse_repetition = 4000.0");
  const Scrolled lines = scrolled(plain, "lines", frames_of_one());
  const Grid& grid = images.description.grid;
  ASSERT_EQ(grid.z.count, 3U);
  EXPECT_EQ(grid.x, lines.description.grid.x);
  EXPECT_NEAR(grid.z.first.value, -0.2, 1e-12);
  EXPECT_EQ(images.description.z, (Meaning{"time", "s"}));
  const std::size_t ranges = grid.x.count;
  for (std::size_t frame = 0; frame < 4; ++frame) {
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t k = 0; k < ranges; ++k) {
        // What came before the first frame is nothing; persistence is of the image alone.
        const float expected = frame + row < 2 ? 0.0F : lines.frames[frame + row - 2][2 * ranges + k];
        ASSERT_EQ(images.frames[frame][row * ranges + k], expected);
      }
    }
  }
  const auto display = images.setup->recipe.find("m_mode", OutputKind::display);
  ASSERT_TRUE(display.has_value());
  EXPECT_EQ(images.setup->recipe.outputs[*display].description.grid, grid);
}

TEST(MMode, TakesAnotherLineAtOnce) {
  const auto with = [](int line) {
    return scrolling_configuration(fmt::format("frame_rate = 10.0\n[m_mode]\nline = {}\nseconds = 0.3", line));
  };
  const auto setup = resolve_imaging({.configuration = with(0), .acquisition = scrolling_acquisition(1)});
  const auto next = find_method("beams")->retuned(*setup, with(2), 7);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(find_method("beams")->report(*next).values["m_mode"]["line"], 2);
  EXPECT_EQ(find_method("beams")->report(*setup).values["m_mode"]["line"], 0);
  EXPECT_EQ(input_error([&] { (void)find_method("beams")->retuned(*setup, with(3), 8); }),
            "scrolling.toml: [m_mode] line: found 3; expected 0 to 2, a line of the image");
}

TEST(ScrollingImages, AreRefusedInOneLine) {
  const Acquisition acquisition = scrolling_acquisition();
  const auto refused_of = [](const std::string& keys, const Acquisition& of) {
    return input_error([&] { (void)resolve_imaging({.configuration = scrolling_configuration(keys), .acquisition = of}); });
  };
  const auto refused = [&](const std::string& keys) { return refused_of(keys, acquisition); };
  const std::string doppler = "[doppler]\npulse_repetition = 4000.0\nwall_filter = \"fir\"\n";
  const std::string rate = "frame_rate = 10.0\n";
  EXPECT_EQ(refused(doppler + "[m_mode]\nline = 0"),
            "scrolling.toml: [beams] frame_rate: found none with [m_mode] line; expected frames a second, by which frames become "
            "seconds");
  EXPECT_EQ(refused(rate + doppler + "[m_mode]\nline = 0\nseconds = 0.1"),
            "scrolling.toml: [m_mode] seconds: found 0.1, 1 frames of 1 rows each; expected 0.2 to 819 at 10 frames a second");
  EXPECT_EQ(refused(rate + doppler + "[m_mode]\nline = 3"),
            "scrolling.toml: [m_mode] line: found 3; expected 0 to 2, a line of the image");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 3\ngate = [0.012, 0.013]"),
            "scrolling.toml: [spectrum] line: found 3; expected 0 to 2, a line of the image");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 1"),
            "scrolling.toml: [spectrum] gate: found none; expected first and last range of the gate, within 10 to 21.97 mm");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 1\ngate = [0.021, 0.023]"),
            "scrolling.toml: [spectrum] gate: found 21 to 23 mm; expected a gate within the lines, 10 to 21.97 mm");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 1\ngate = [0.014, 0.013]"),
            "scrolling.toml: [spectrum] gate: found 14 to 13 mm; expected first <= last");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 1\ngate = [0.012, 0.013]\nsamples = 32"),
            "scrolling.toml: [spectrum] samples: found 32; expected 2 to 31, the samples of an ensemble that the wall filter "
            "leaves");
  EXPECT_EQ(refused(rate + doppler + "[spectrum]\nline = 1\ngate = [0.012, 0.013]\nvelocities = 16"),
            "scrolling.toml: [spectrum] velocities: found 16; expected as many as [spectrum] samples, 31, or more");
  EXPECT_EQ(refused_of(rate + "[spectrum]\nline = 1\ngate = [0.012, 0.013]", scrolling_acquisition(1)),
            "scrolling.toml: [spectrum] line: found 1 without [doppler] pulse_repetition; expected ensembles, of whose samples a "
            "spectrum is");
}

}  // namespace
}  // namespace echoform::test
