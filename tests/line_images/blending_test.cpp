// Seams between the lines of neighbouring transmit events, and how they go.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "tests/line_images/beam_frames.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr std::size_t events = 9;
constexpr std::size_t of_event = 4;
constexpr double pitch = 1.5 * of_degrees;  // of events
constexpr double depth = 40e-3;

std::vector<double> angles_of_events(std::size_t count, double apart) {
  std::vector<double> angles;
  for (std::size_t k = 0; k < count; ++k)
    angles.push_back((static_cast<double>(k) - 0.5 * static_cast<double>(count - 1)) * apart);
  return angles;
}

/// How strong a line shows a point, in dB.
double shown(const LineImage& image, std::size_t line) {
  double most = 0.0;
  for (std::size_t k = 0; k < image.ranges; ++k) most = std::max(most, image.at(line, k));
  return 20.0 * std::log10(most);
}

struct Seams {
  double at_borders = 0.0;  // RMS in dB
  double within = 0.0;
};

/// By how much the step from a line to the next is off the mean of the steps before and after it, at the borders of events and
/// elsewhere: of a point at several places, over the lines that show it within 10 dB of the brightest.
Seams seams_with(const std::string& keys) {
  const Acquisition acquisition = make_beams(32, angles_of_events(events, pitch), 60e-3, 2400);
  std::vector<double> squares[2];
  for (const double place : {-1.3, -0.8, -0.4, 0.15, 0.6, 0.9}) {
    const double angle = place * pitch;
    const BeamFrame frame = make_frame(acquisition, {{depth * std::sin(angle), depth * std::cos(angle)}}, 0.6);
    const LineImage image =
        line_image(frame, "lines = 4\ndepth = [38e-3, 42e-3]\nf_number = 12.0\ndelay_filter = \"windowed_sinc\"\n" + keys);
    EXPECT_EQ(image.lines, events * of_event);
    std::vector<double> profile;
    for (std::size_t line = 0; line < image.lines; ++line) profile.push_back(shown(image, line));
    const double most = *std::max_element(profile.begin(), profile.end());
    for (std::size_t k = 1; k + 2 < profile.size(); ++k) {
      if (std::min({profile[k - 1], profile[k], profile[k + 1], profile[k + 2]}) < most - 10.0) continue;
      const double off = profile[k + 1] - profile[k] - 0.5 * (profile[k] - profile[k - 1] + profile[k + 2] - profile[k + 1]);
      squares[k % of_event == of_event - 1 ? 0 : 1].push_back(off * off);
    }
  }
  const auto rms = [](const std::vector<double>& all) {
    double sum = 0.0;
    for (const double square : all) sum += square;
    EXPECT_GE(all.size(), 8U);
    return std::sqrt(sum / static_cast<double>(all.size()));
  };
  return {rms(squares[0]), rms(squares[1])};
}

/// The receiving aperture is small, so that several lines show each point, and transmitted beams are about as wide as their
/// events are apart.
TEST(Blending, TakesTheSeamsAway) {
  const Seams plain = seams_with("");
  const Seams blended = seams_with("blend = true\n");
  // 4.9 dB, and 1.1 with it, of which the point's own shape has 0.6: what is off between other lines.
  EXPECT_GT(plain.at_borders, 3.0);
  EXPECT_LT(blended.at_borders, 0.3 * plain.at_borders);
  EXPECT_LT(blended.within, plain.within);
}

/// By how much lines differ in how strong each shows a point on it, in dB: of the lines about the middle, two events' worth, of
/// points at `range`.
double gains_apart(const std::string& keys, double range) {
  const Acquisition acquisition = make_beams(32, angles_of_events(events, 2.0 * pitch), 60e-3, 2400);
  double least = 1e9;
  double most = -1e9;
  for (std::size_t line = 14; line < 22; ++line) {
    const double angle = (static_cast<double>(line) - 17.5) / static_cast<double>(of_event) * 2.0 * pitch;
    const BeamFrame frame = make_frame(acquisition, {{range * std::sin(angle), range * std::cos(angle)}}, 0.6);
    const LineImage image = line_image(frame, fmt::format("lines = 4\ndepth = [{}, {}]\ndelay_filter = \"windowed_sinc\"\n{}",
                                                          range - 2e-3, range + 2e-3, keys));
    const double found = shown(image, line);
    least = std::min(least, found);
    most = std::max(most, found);
  }
  return most - least;
}

/// Events are 3 degrees apart and beams about 2 wide: between two events they are weak.
TEST(Blending, EqualisedShowsPointsAlikeOnEveryLine) {
  for (const double range : {25e-3, 40e-3}) {
    const double plain = gains_apart("", range);
    const double blended = gains_apart("blend = true\n", range);
    const double equalised = gains_apart("blend = true\nequalise = true\n", range);
    std::printf("range %.0f mm: lines differ by %.2f dB, blended %.2f dB, equalised %.2f dB\n", 1e3 * range, plain, blended,
                equalised);
    EXPECT_GT(blended, 0.9) << range;
    // Gains are those at the point; the image's maximum lies a little beside it where wavefronts of several elements do not meet.
    EXPECT_LT(equalised, 0.2) << range;
  }
}

TEST(Blending, EqualisedSeamsAreThePointsOwnShape) {
  const Seams blended = seams_with("blend = true\n");
  const Seams equalised = seams_with("blend = true\nequalise = true\n");
  std::printf("borders %.2f dB, others %.2f dB; equalised %.2f and %.2f dB\n", blended.at_borders, blended.within,
              equalised.at_borders, equalised.within);
  EXPECT_LT(equalised.at_borders, blended.at_borders);
}

/// About the focus beams are taken to be as wide as the wavelength times its distance over the aperture: 0.95 degrees to either
/// side. Of four lines the outermost lie 3/8 of the events' distance beside their event.
TEST(Blending, LinesThatNoBeamReachesAreToldOf) {
  for (const auto& [apart, dark] : {std::pair{1.5, false}, std::pair{4.0, true}}) {
    const Acquisition acquisition = make_beams(32, angles_of_events(5, apart * of_degrees), 60e-3, 3400);
    const Configuration configuration = parse_configuration(
        "[imaging]\nmethod = \"beams\"\n[material]\nlongitudinal_velocity = 1540.0\n[beams]\nlines = 4\n", "lines.toml");
    const auto setup = resolve_imaging({.configuration = configuration, .acquisition = acquisition});
    EXPECT_EQ(
        std::ranges::any_of(setup->warnings, [](const std::string& warning) { return warning.starts_with("no beam reaches "); }),
        dark)
        << apart;
  }
}

/// Beams of an aperture that moves by whole elements leave the array up to half an element beside even places.
TEST(Lines, ThatAreUnevenAreImagedWhereTheyAre) {
  constexpr double apart = 2.0 * of_degrees;
  constexpr std::size_t count = 13;
  const std::array<double, 4> beside{0.0, 0.34, -0.4, 0.2};  // of the distance of lines
  std::vector<double> angles;
  std::vector<Scatterer> scatterers;
  const auto even = [&](std::size_t line) { return (static_cast<double>(line) - 0.5 * static_cast<double>(count - 1)) * apart; };
  for (std::size_t k = 0; k < count; ++k) {
    const bool outermost = k == 0 || k + 1 == count;
    angles.push_back(even(k) + (outermost ? 0.0 : beside[k % beside.size()] * apart));
  }
  const std::vector<std::size_t> lines{2, 5, 9};
  const auto range_of = [](std::size_t line) { return 20e-3 + 2e-3 * static_cast<double>(line); };
  for (const std::size_t line : lines) {
    scatterers.push_back({range_of(line) * std::sin(even(line)), range_of(line) * std::cos(even(line))});
  }
  const Acquisition acquisition = make_beams(32, angles, 30e-3, 2600);
  const BeamFrame frame = make_frame(acquisition, scatterers, 0.6);
  const LineImage image = line_image(frame, "depth = [0.01, 0.045]\n");
  ASSERT_EQ(image.lines, count);
  const Axis ranges{Metres(0.01), Metres(0.045), image.ranges};
  for (const std::size_t line : lines) {
    // The brightest place of those within 1 mm of the range, on any line.
    std::size_t brightest_line = 0;
    std::size_t brightest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t r = 0; r < image.ranges; ++r) {
        if (std::abs(ranges.at(r).value - range_of(line)) > 1e-3) continue;
        if (image.at(k, r) > image.at(brightest_line, brightest)) {
          brightest_line = k;
          brightest = r;
        }
      }
    }
    EXPECT_EQ(brightest_line, line);
    // A step of the ranges and what the wave's form takes off its focus: an eighth of a wavelength.
    EXPECT_NEAR(ranges.at(brightest).value, range_of(line), ranges.spacing().value + 0.125 * sound / 5e6);
  }
}

TEST(Blending, IsWhatEqualisingNeeds) {
  const Acquisition acquisition = make_beams(8, angles_of_events(3, pitch), 60e-3, 1200);
  const BeamFrame frame = make_frame(acquisition, {}, 0.6);
  EXPECT_EQ(input_error([&] { (void)line_image(frame, "lines = 4\nequalise = true\n"); }),
            "lines.toml: [beams] equalise: found true without blend; expected blend = true, or equalise = false");
}

}  // namespace
}  // namespace echoform::test
