// Lines of a matrix array in space: against a plain beamformer in double precision, from a GPU, in planes, and shown as a volume.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/line_image.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::matrix_lines {
namespace {

constexpr double degree = std::numbers::pi / 180.0;
constexpr double velocity = 1540.0;
constexpr double pitch = 0.3e-3;
constexpr double rate = 20e6;
constexpr double f_number = 1.2;
constexpr std::size_t columns = 8;
constexpr std::size_t rows = 6;
constexpr std::size_t channels = columns * rows;
constexpr std::size_t samples = 480;
constexpr std::array azimuths{-18.0, -6.0, 6.0, 18.0};
constexpr std::array elevations{-15.0, 0.0, 15.0};

/// `beams` says what is sent.
Configuration matrix_lines_of(const std::string& keys, const std::string& beams) {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
[material]
longitudinal_velocity = 1540.0
[filter]
kind = "none"
[output]
dynamic_range_db = 40
[simulator]
elements = 8
rows = 6
pitch = 0.3e-3
row_pitch = 0.3e-3
element_width = 0.25e-3
element_length = 0.25e-3
centre_frequency = 2.5e6
sample_rate = 20e6
samples = 480
longitudinal_velocity = 1540.0
transmit = "beams"
{}
spreading = "spherical"
scatterers = 150
speckle_x = [-0.006, 0.006]
speckle_y = [-0.005, 0.005]
speckle_z = [0.004, 0.017]
points = [[0.001, -0.001, 0.010, 1.0], [-0.003, 0.002, 0.013, 1.0]]
[beams]
depth = [0.003, 0.0165]
window = "hann"
f_number = 1.2
{}
)",
                                         beams, keys),
                             "matrix.toml");
}

/// `focus` in m, below 0 behind the array.
Configuration pyramid_of_lines(const std::string& keys, double focus) {
  const std::string angles = "events = 4\nangles = [-18.0, 18.0]\nevents_across = 3\nangles_across = [-15.0, 15.0]\n";
  return matrix_lines_of(keys, angles + fmt::format("focus = {}\n", focus));
}

/// [azimuth, angle across] in degrees.
Configuration listed_lines(const std::string& keys, const std::vector<std::array<double, 2>>& angles) {
  std::string list = "beams = [";
  for (const auto& [azimuth, elevation] : angles) list += fmt::format("[0.0, {}, {}, 0.014],", azimuth, elevation);
  return matrix_lines_of(keys, list + "]\n");
}

struct Place {
  double x;
  double y;
  double z;
};
double distance(const Place& a, const Place& b) {
  return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}
Place towards(double azimuth, double elevation, double by) {
  return {by * std::sin(azimuth) * std::cos(elevation), by * std::sin(elevation), by * std::cos(azimuth) * std::cos(elevation)};
}
Place element(std::size_t channel) {
  return {pitch * (static_cast<double>(channel % columns) - 0.5 * (columns - 1.0)),
          pitch * (static_cast<double>(channel / columns) - 0.5 * (rows - 1.0)), 0.0};
}

/// Of samples [event, channel, sample]: what `event` says of a line at these angles, before its envelope.
std::vector<double> plain_line(const std::vector<double>& data, double focus, std::size_t event, double azimuth, double elevation,
                               const Axis& ranges) {
  const double event_azimuth = azimuths[event % azimuths.size()] * degree;
  const double event_elevation = elevations[event / azimuths.size()] * degree;
  const Place aim = towards(event_azimuth, event_elevation, focus);
  const Place way = towards(event_azimuth, event_elevation, 1.0);
  // Of a focus the farthest element fires first, at 0, of a virtual source the nearest.
  double first = focus > 0.0 ? 0.0 : 1.0;
  for (std::size_t e = 0; e < channels; ++e) {
    first = focus > 0.0 ? std::max(first, distance(element(e), aim)) : std::min(first, distance(element(e), aim));
  }
  const auto hann = [](double at, double half) {
    return std::abs(at) <= half ? std::pow(std::cos(0.5 * std::numbers::pi * at / half), 2) : 0.0;
  };
  std::vector<double> line;
  for (std::size_t k = 0; k < ranges.count; ++k) {
    const double r = ranges.at(k).value;
    const Place p = towards(azimuth, elevation, r);
    const double ahead = (p.x - aim.x) * way.x + (p.y - aim.y) * way.y + (p.z - aim.z) * way.z;
    const double since = focus > 0.0 ? first + std::copysign(distance(p, aim), ahead) : distance(p, aim) - first;
    const double transmit = since / velocity;
    double sum = 0.0;
    double weights = 0.0;
    for (std::size_t e = 0; e < channels; ++e) {
      const Place from = element(e);
      const double w = hann(from.x, std::min(r / (2.0 * f_number), 0.5 * columns * pitch)) *
                       hann(from.y, std::min(r / (2.0 * f_number), 0.5 * rows * pitch));
      weights += w;
      const double u = (transmit + distance(p, from) / velocity) * rate;
      if (u < 0.0 || u >= samples - 1.0) continue;
      const auto n = static_cast<std::size_t>(u);
      const double f = u - static_cast<double>(n);
      const double* const s = data.data() + (event * channels + e) * samples;
      sum += w * ((1.0 - f) * s[n] + f * s[n + 1]);
    }
    line.push_back(weights > 0.0 ? sum / weights : 0.0);
  }
  return line;
}

/// The events of line `k` along an axis, and their shares; its own place in units of their distance.
struct AxisLine {
  double place;
  std::vector<std::pair<std::size_t, double>> shares;
};
AxisLine along_axis(std::size_t k, std::size_t events, std::size_t of_event, bool blend) {
  const double place = (static_cast<double>(k) + 0.5) / static_cast<double>(of_event) - 0.5;
  if (!blend) return {place, {{k / of_event, 1.0}}};
  const double within = std::clamp(place, 0.0, static_cast<double>(events - 1));
  const auto before = std::min(static_cast<std::size_t>(within), events - 2);
  const double share = within - static_cast<double>(before);
  return {place, {{before, 1.0 - share}, {before + 1, share}}};
}

std::vector<double> plain_volume(const std::vector<double>& data, double focus, std::size_t of_event, std::size_t across,
                                 bool blend, const Axis& ranges) {
  std::vector<double> volume;
  for (std::size_t row = 0; row < elevations.size() * across; ++row) {
    const AxisLine up = along_axis(row, elevations.size(), across, blend);
    for (std::size_t column = 0; column < azimuths.size() * of_event; ++column) {
      const AxisLine aside = along_axis(column, azimuths.size(), of_event, blend);
      const double azimuth = (azimuths[0] + 12.0 * aside.place) * degree;
      const double elevation = (elevations[0] + 15.0 * up.place) * degree;
      std::vector<double> line(ranges.count);
      for (const auto& [event_row, row_share] : up.shares) {
        for (const auto& [event_column, column_share] : aside.shares) {
          if (row_share * column_share == 0.0) continue;
          const std::vector<double> one =
              plain_line(data, focus, event_row * azimuths.size() + event_column, azimuth, elevation, ranges);
          for (std::size_t k = 0; k < line.size(); ++k) line[k] += row_share * column_share * one[k];
        }
      }
      const std::vector<double> envelope = test::plain_envelope(line);
      volume.insert(volume.end(), envelope.begin(), envelope.end());
    }
  }
  return volume;
}

std::vector<double> samples_of(const test::SourceFrame& frame) {
  std::vector<double> data;
  for (std::size_t n = 0; n < frame.acquisition.a_scans() * samples; ++n) {
    std::int16_t value = 0;
    std::memcpy(&value, frame.bytes.data() + 2 * n, 2);
    data.push_back(value * frame.acquisition.sample_scale);
  }
  return data;
}

template <class A, class B>
double relative_error(const A& found, const B& expected) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const double want = expected[n];
    error += std::pow(found[n] - want, 2);
    norm += want * want;
  }
  return std::sqrt(error / norm);
}

TEST(MatrixLines, EqualAPlainBeamformerInSpace) {
  struct Case {
    double focus;
    std::size_t lines;
    std::size_t across;
    bool blend;
  };
  // Lines beside the axis of a focused beam may lie outside of it, where nothing is: those of virtual sources do not.
  for (const auto& [focus, lines, across, blend] :
       {Case{0.012, 1, 1, false}, Case{-0.02, 1, 1, false}, Case{-0.02, 2, 3, false}, Case{-0.02, 2, 2, true}}) {
    const Configuration configuration =
        pyramid_of_lines(fmt::format("lines = {}\nlines_across = {}\nblend = {}\n", lines, across, blend), focus);
    const test::SourceFrame frame = test::frame_of(simulated_source(configuration));
    ASSERT_EQ(frame.acquisition.a_scans(), azimuths.size() * elevations.size() * channels);
    const test::LinesImage image = test::image_lines(configuration, frame);
    const auto& description = image.setup->recipe.outputs.front().description;
    EXPECT_EQ(description.x, (Meaning{"range", "m"}));
    EXPECT_EQ(description.y, (Meaning{"azimuth", "rad"}));
    EXPECT_EQ(description.z, (Meaning{"elevation", "rad"}));
    ASSERT_EQ(image.grid.y.count, azimuths.size() * lines);
    ASSERT_EQ(image.grid.z.count, elevations.size() * across);
    const double outermost = 18.0 + 6.0 * (1.0 - 1.0 / static_cast<double>(lines));
    EXPECT_NEAR(image.grid.y.first.value, -outermost * degree, 1e-9);
    EXPECT_NEAR(image.grid.y.last.value, outermost * degree, 1e-9);
    const std::vector<double> expected = plain_volume(samples_of(frame), focus, lines, across, blend, image.grid.x);
    ASSERT_EQ(image.envelope.size(), expected.size());
    EXPECT_LT(relative_error(image.envelope, expected), 1e-4) << lines << " x " << across << ", focus " << focus;
  }
}

/// Where a line lies at its event's own place its beam is as strong as it should be.
TEST(MatrixLines, AtTheirEventsPlacesAreLeftAloneByEqualising) {
  constexpr std::size_t each = 3;
  const auto image = [](const std::string& keys) {
    const Configuration configuration = pyramid_of_lines("lines = 3\nlines_across = 3\nblend = true\n" + keys, -0.02);
    return test::image_lines(configuration, test::frame_of(simulated_source(configuration)));
  };
  const test::LinesImage plain = image("");
  const test::LinesImage equalised = image("equalise = true\n");
  const std::size_t ranges = plain.grid.x.count;
  const auto relative = [&](std::size_t row, std::size_t column) {
    const std::size_t first = (row * azimuths.size() * each + column) * ranges;
    const auto line = [&](const test::LinesImage& of) { return std::span(of.envelope).subspan(first, ranges); };
    return relative_error(line(equalised), line(plain));
  };
  for (std::size_t row = 1; row < elevations.size() * each; row += each) {
    for (std::size_t column = 1; column < azimuths.size() * each; column += each) {
      EXPECT_LT(relative(row, column), 1e-5) << row << ", " << column;
    }
  }
  EXPECT_GT(relative(each - 1, 1), 1e-3) << "beside it in elevation";
}

/// All outputs of an engine on `backend`, the envelope and the display.
struct Shown {
  std::shared_ptr<const ImagingSetup> setup;
  std::vector<float> envelope;
  std::vector<std::uint8_t> display;
  Grid grid;  // of the display
};
Shown show(const Configuration& configuration, const test::SourceFrame& frame, BackendKind backend = BackendKind::cpu) {
  Shown shown;
  shown.setup = resolve_imaging(
      {.configuration = configuration, .acquisition = frame.acquisition, .stated = {frame.material, {}}, .wish = {}});
  const auto engine = make_engine(shown.setup, {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  const auto& outputs = shown.setup->recipe.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Grid& grid = outputs[k].description.grid;
    if (outputs[k].description.kind == OutputKind::display) {
      const auto* const from = static_cast<const std::uint8_t*>(static_cast<const void*>(slot.outputs[k].data.data()));
      shown.display.assign(from, from + grid.pixels());
      shown.grid = grid;
    } else {
      const auto* const from = static_cast<const float*>(static_cast<const void*>(slot.outputs[k].data.data()));
      shown.envelope.assign(from, from + grid.pixels());
    }
  }
  return shown;
}

TEST(MatrixLines, AreThoseOfTheCpuFromAGpu) {
  ECHOFORM_REQUIRE_GPU();
  if (const std::string reason = why_not_on_gpu(*find_method("beams")); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* const keys : {"", "lines = 2\nlines_across = 3\n", "lines = 2\nlines_across = 2\nblend = true\n",
                                 "path = \"iq\"\nlines = 2\n", "delay_filter = \"upsampled\"\nlines = 4\n"}) {
    const Configuration configuration = pyramid_of_lines(keys, keys[0] == '\0' ? 0.014 : -0.02);
    const test::SourceFrame frame = test::frame_of(simulated_source(configuration));
    const Shown expected = show(configuration, frame);
    const Shown found = show(configuration, frame, BackendKind::cuda);
    ASSERT_EQ(found.envelope.size(), expected.envelope.size());
    EXPECT_LT(relative_error(found.envelope, expected.envelope), 1e-4) << keys;
    ASSERT_EQ(found.display.size(), expected.display.size());
    // Envelopes that differ by rounding may fall on two sides of a level.
    std::size_t more_than_a_level = 0;
    for (std::size_t n = 0; n < expected.display.size(); ++n) {
      more_than_a_level += std::abs(found.display[n] - expected.display[n]) > 1 ? 1 : 0;
    }
    EXPECT_LE(more_than_a_level, expected.display.size() / 1000) << keys;
  }
}

TEST(MatrixLines, OfOnePlaneAreThoseOfTheVolume) {
  const Configuration whole = pyramid_of_lines("", 0.014);
  const test::LinesImage volume = test::image_lines(whole, test::frame_of(simulated_source(whole)));
  const std::size_t ranges = volume.grid.x.count;
  // Of one azimuth, of one elevation aside, and of the middle one, which is the plane of linear arrays.
  const auto image = [&](const std::vector<std::array<double, 2>>& angles) {
    const Configuration configuration = listed_lines("", angles);
    return show(configuration, test::frame_of(simulated_source(configuration)));
  };
  // What is simulated is scaled to the frame's greatest sample: compared up to a factor.
  const auto expect_rows = [&](const Shown& plane, const std::vector<std::size_t>& rows_of_volume) {
    ASSERT_EQ(plane.envelope.size(), rows_of_volume.size() * ranges);
    std::vector<double> want;
    for (const std::size_t row : rows_of_volume) {
      for (std::size_t k = 0; k < ranges; ++k) want.push_back(volume.envelope[row * ranges + k]);
    }
    double product = 0.0;
    double norm = 0.0;
    for (std::size_t n = 0; n < want.size(); ++n) {
      product += want[n] * plane.envelope[n];
      norm += want[n] * want[n];
    }
    for (double& value : want) value *= product / norm;
    // Rounding of samples to 16 bits, differently scaled.
    EXPECT_LT(relative_error(plane.envelope, want), 1e-3);
  };
  const Shown across = image({{6.0, -15.0}, {6.0, 0.0}, {6.0, 15.0}});
  expect_rows(across, {2, 6, 10});
  const auto& of_across = across.setup->recipe.outputs;
  EXPECT_EQ(of_across.front().description.grid.y.count, 1U);
  EXPECT_NEAR(of_across.front().description.grid.z.first.value, -15.0 * degree, 1e-9);
  EXPECT_EQ(of_across.back().description.x, (Meaning{"y", "m"}));
  EXPECT_NEAR(across.grid.x.last.value, 0.0165 * std::sin(15.0 * degree), 0.03e-3);

  const Shown aside = image({{-18.0, 15.0}, {-6.0, 15.0}, {6.0, 15.0}, {18.0, 15.0}});
  expect_rows(aside, {8, 9, 10, 11});
  EXPECT_EQ(aside.setup->recipe.outputs.back().description.x, (Meaning{"x", "m"}));
  // Seen along y.
  EXPECT_NEAR(aside.grid.x.last.value, 0.0165 * std::sin(18.0 * degree) * std::cos(15.0 * degree), 0.03e-3);
  EXPECT_NEAR(aside.grid.z.last.value, 0.0165 * std::cos(6.0 * degree) * std::cos(15.0 * degree), 0.03e-3);
  expect_rows(image({{-18.0, 0.0}, {-6.0, 0.0}, {6.0, 0.0}, {18.0, 0.0}}), {4, 5, 6, 7});
}

TEST(MatrixLines, AreShownWhereThePartIs) {
  Configuration configuration = parse_configuration(R"(
[imaging]
method = "beams"
[material]
longitudinal_velocity = 1540.0
[filter]
kind = "none"
[beams]
depth = [0.004, 0.02]
lines = 2
lines_across = 2
[display]
interpolation = "cubic"
[simulator]
elements = 8
rows = 8
pitch = 0.3e-3
row_pitch = 0.3e-3
element_width = 0.25e-3
element_length = 0.25e-3
centre_frequency = 2.5e6
sample_rate = 20e6
samples = 560
longitudinal_velocity = 1540.0
transmit = "beams"
events = 9
angles = [-32.0, 32.0]
events_across = 7
angles_across = [-24.0, 24.0]
focus = 0.014
points = [[0.004, -0.003, 0.013, 1.0]]
)",
                                                    "point.toml");
  const Shown shown = show(configuration, test::frame_of(simulated_source(configuration)));
  ASSERT_GT(shown.grid.y.count, 1U);
  const auto brightest = std::max_element(shown.display.begin(), shown.display.end());
  const Point at = shown.grid.at(static_cast<std::size_t>(brightest - shown.display.begin()));
  const double wavelength = velocity / 2.5e6;
  // A quarter of a wavelength along the line, half the distance of lines and a voxel across it.
  const double range = std::hypot(at.x.value, at.y.value, at.z.value);
  EXPECT_NEAR(range, std::hypot(0.004, 0.003, 0.013), 0.25 * wavelength);
  const double across = 0.5 * 4.0 * degree * range + shown.grid.x.spacing().value;
  EXPECT_NEAR(at.x.value, 0.004, across);
  EXPECT_NEAR(at.y.value, -0.003, across);
  EXPECT_NEAR(at.z.value, 0.013, across);
  // Beside the pyramid of lines there is nothing.
  EXPECT_EQ(shown.display.front(), 0);
  EXPECT_EQ(shown.display.back(), 0);
}

std::string refusal_of(const Configuration& configuration) {
  return test::input_error(
      [&] { static_cast<void>(test::image_lines(configuration, test::frame_of(simulated_source(configuration)))); });
}

TEST(MatrixLines, ThatAreNoGridAreRefused) {
  EXPECT_EQ(refusal_of(listed_lines("", {{-6.0, 0.0}, {6.0, 0.0}, {-6.0, 10.0}})),
            "matrix.toml: lines: found 1 at an elevation of 10 degrees where that of 0 degrees has 2; expected a grid: the same "
            "azimuths at every elevation");
  EXPECT_EQ(refusal_of(listed_lines("", {{-6.0, 0.0}, {6.0, 0.0}, {-6.0, 10.0}, {18.0, 10.0}})),
            "matrix.toml: azimuths of the lines: found 18 degrees where even ones have 6; expected evenly spaced lines, each "
            "once");
  EXPECT_EQ(refusal_of(listed_lines("", {{0.0, 0.0}, {0.0, 12.0}, {0.0, 15.0}})),
            "matrix.toml: elevations of the lines: found 12 degrees where even ones have 7.5; expected evenly spaced lines, each "
            "once");
  EXPECT_EQ(refusal_of(listed_lines("lines = 2\n", {{5.0, 0.0}, {5.0, 10.0}})),
            "matrix.toml: [beams] lines: found 2; expected 1 of transmit events at one azimuth");
  EXPECT_EQ(refusal_of(listed_lines("lines_across = 2\n", {{-6.0, 0.0}, {6.0, 0.0}})),
            "matrix.toml: [beams] lines_across: found 2; expected 1 of transmit events at one elevation");
  EXPECT_EQ(refusal_of(listed_lines("", {{0.0, 10.0}, {0.0, 10.0}})),
            "matrix.toml: transmit event 0: found a line at y = 0.000 mm, 10.00 degrees across; expected parallel lines in the "
            "plane y = 0, or lines that meet in a point");
}

/// Elevations are for arrays in two directions.
TEST(MatrixLines, OfASingleRowAreRefused) {
  const Configuration configuration = pyramid_of_lines("", 0.014);
  test::SourceFrame frame = test::frame_of(simulated_source(configuration));
  for (Element& one : frame.acquisition.probe.elements) one.centre.y = Metres(0.0);
  EXPECT_EQ(test::input_error([&] { static_cast<void>(test::image_lines(configuration, frame)); }),
            "matrix.toml: transmit event 0: found a line at y = 0.000 mm, -15.00 degrees across; expected lines in the plane "
            "y = 0 of a single row of elements");
}

}  // namespace
}  // namespace echoform::matrix_lines
