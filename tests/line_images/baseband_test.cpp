// Lines by way of baseband against those of the samples as they were received.
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "pipeline/recipe.hpp"
#include "tests/line_images/beam_frames.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

const std::string lines_of_sincs =
    "depth = [8e-3, 30e-3]\nranges = 1144\ndelay_filter = \"windowed_sinc\"\ntaps = 16\nf_number = 1.5\nwindow = \"hann\"\n";

/// Part of the pixels of `rf` within 40 dB of its greatest that `iq` has within 0.1 dB.
double alike(const LineImage& rf, const LineImage& iq) {
  EXPECT_EQ(rf.lines, iq.lines);
  EXPECT_EQ(rf.ranges, iq.ranges);
  const double most = *std::max_element(rf.envelope.begin(), rf.envelope.end());
  std::size_t bright = 0;
  std::size_t right = 0;
  for (std::size_t n = 0; n < rf.envelope.size(); ++n) {
    if (rf.envelope[n] < 0.01 * most) continue;
    ++bright;
    if (std::abs(20.0 * std::log10(iq.envelope[n] / rf.envelope[n])) <= 0.1) ++right;
  }
  EXPECT_GT(bright, 300U);
  return static_cast<double>(right) / static_cast<double>(bright);
}

TEST(Baseband, HasTheSameImages) {
  std::vector<double> angles;
  for (int k = 0; k < 9; ++k) angles.push_back((4.0 * k - 16.0) * of_degrees);
  // All of them, but for those on which rounding may decide.
  for (const double bandwidth : {0.3, 0.6, 0.8}) {
    Acquisition acquisition = make_beams(32, angles, 60e-3, 1700);
    acquisition.probe.bandwidth = Hertz(bandwidth * 5e6);
    const BeamFrame frame =
        make_frame(acquisition, {{-3e-3, 12e-3}, {0.0, 16e-3}, {2e-3, 21e-3, 0.7}, {-1e-3, 26e-3}}, bandwidth);
    const LineImage rf = line_image(frame, lines_of_sincs);
    EXPECT_GT(alike(rf, line_image(frame, lines_of_sincs + "path = \"iq\"\n")), 0.999) << bandwidth;
  }
}

/// A band from 0 Hz on needs lines that hold it: with fewer ranges it is one about the centre frequency.
TEST(Baseband, HasAsManyRangesAsTheBandNeeds) {
  Acquisition acquisition = make_beams(16, {-0.1, 0.1}, 60e-3, 1700);
  acquisition.probe.bandwidth = Hertz(4e6);
  const BeamFrame frame = make_frame(acquisition, {{0.0, 16e-3}}, 0.8);
  const auto stages = [&](const std::string& keys) {
    const auto engine = engine_of_lines(frame, "path = \"iq\"\ndepth = [8e-3, 30e-3]\n" + keys, "none", {.display = false});
    std::string names;
    for (const Step& step : engine->setup().recipe.steps) names += std::string(step.stage->name) + " ";
    return names;
  };
  EXPECT_EQ(stages(""), "demodulation scan-lines single-sideband envelope ");
  EXPECT_EQ(stages("ranges = 300\n"), "demodulation scan-lines envelope ");
}

TEST(Baseband, IsRefusedWhereTheBandDoesNotFit) {
  const Acquisition acquisition = make_beams(8, {-0.1, 0.1}, 60e-3, 600);
  const BeamFrame frame = make_frame(acquisition, {}, 0.6);
  const auto message = [&](const std::string& keys) {
    return input_error([&] { static_cast<void>(line_image(frame, "path = \"iq\"\n" + keys)); });
  };
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(message("iq_bandwidth = 12e6\n"),
            "lines.toml: [beams] iq_bandwidth: found 12 MHz; expected above 0, at most 9 MHz about 5 MHz at 40 MHz");
  EXPECT_EQ(message("decimation = 9\n"), "lines.toml: [beams] decimation: found 9; expected at most 3 for a band of 10.2 MHz");
  EXPECT_EQ(message("demodulation_frequency = 21e6\n"),
            "lines.toml: [beams] demodulation_frequency: found 21 MHz; expected above 0, below half the sample rate (20 MHz)");
}

}  // namespace
}  // namespace echoform::test
