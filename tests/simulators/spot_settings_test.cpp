// What `echoform plan` says of a point's size against images of simulated points, for every filter, weight and kind of event that
// changes it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <tuple>

#include "methods/registry.hpp"
#include "methods/tfm/report.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"

namespace echoform::spot_settings {
namespace {

/// Pixels along a line through a point in the middle of a grid.
struct Profile {
  std::vector<double> values;
  double spacing = 0.0;

  /// Width at half of the greatest value, linear between pixels; nothing where the line ends before.
  [[nodiscard]] std::optional<double> width() const {
    const auto peak = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    const double half = 0.5 * values[peak];
    double whole = 0.0;
    for (const int side : {1, -1}) {
      std::size_t k = peak;
      while (values[k] > half) {
        if (k == 0 || k + 1 == values.size()) return std::nullopt;
        k = side > 0 ? k + 1 : k - 1;
      }
      const std::size_t inside = side > 0 ? k - 1 : k + 1;
      const double from_peak = std::abs(static_cast<double>(inside) - static_cast<double>(peak));
      whole += from_peak + (values[inside] - half) / (values[inside] - values[k]);
    }
    return whole * spacing;
  }
};

/// Through the pixel of the greatest value of [z, y, x], along x (0), y (1) or z (2).
Profile profile_of(const Grid& grid, const std::vector<float>& image, int axis) {
  const auto peak = static_cast<std::size_t>(std::ranges::max_element(image) - image.begin());
  const std::size_t nx = grid.x.count;
  const std::size_t ny = grid.y.count;
  const std::size_t x = peak % nx;
  const std::size_t y = peak / nx % ny;
  const std::size_t z = peak / nx / ny;
  Profile profile;
  const Axis& along = axis == 0 ? grid.x : axis == 1 ? grid.y : grid.z;
  profile.spacing = along.spacing().value;
  for (std::size_t k = 0; k < along.count; ++k) {
    const std::size_t at = ((axis == 2 ? k : z) * ny + (axis == 1 ? k : y)) * nx + (axis == 0 ? k : x);
    profile.values.push_back(static_cast<double>(image[at]));
  }
  return profile;
}

struct Case {
  const char* name;
  const char* settings;  ///< sections beside those of every case
  const char* source;    ///< more keys of [simulator]
  const char* axes;      ///< that are compared: "x" lateral, "y" across, "z" axial
  double tolerance = 0.04;
};

constexpr const char* wide_grid = "x = [-0.003, 0.003]\nz = [0.0162, 0.0238]\npixels = [121, 191]\n";
constexpr const char* volume_grid = "x = [-0.0024, 0.0024]\ny = [-0.0024, 0.0024]\nz = [0.0088, 0.0112]\npixels = [33, 33, 49]\n";

class SpotSettings : public testing::TestWithParam<Case> {
 protected:
  SpotSettings() : folder_(std::filesystem::temp_directory_path() / fmt::format("echoform-spots-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    // The pulse of the simulated source, as somebody measured it: 2 us, of twice the rate.
    std::ofstream file(folder_ / "pulse.csv");
    const double deviation = std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * 3e6);
    for (int n = -100; n <= 100; ++n) {
      const double t = n / 100e6;
      file << fmt::format("{:.6e},{:.9e}\n", t + 1e-6,
                          std::exp(-t * t / (2.0 * deviation * deviation)) * std::cos(2.0 * std::numbers::pi * 5e6 * t));
    }
  }
  ~SpotSettings() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_P(SpotSettings, AreInWhatIsSaidOfAPoint) {
  const Case& of = GetParam();
  const bool volume = std::string_view(of.axes).find('y') != std::string_view::npos;
  std::string text = fmt::format(
      "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[grid]\n{}"
      "[simulator]\nelement_width = 0.5e-3\ncentre_frequency = 5e6\nfractional_bandwidth = 0.6\nsample_rate = 50e6\n"
      "noise_rms = 0.0\nquantised = false\nencoding = \"float32\"\npoints = [{}]\n{}{}",
      volume ? volume_grid : wide_grid, volume ? "[0.0, 0.0, 0.010, 1.0]" : "[0.0, 0.020, 1.0]", of.source, of.settings);
  for (std::size_t at = text.find("PULSE"); at != std::string::npos; at = text.find("PULSE")) {
    text.replace(at, 5, (folder_ / "pulse.csv").string());
  }
  Configuration configuration = parse_configuration(text, "spots.toml");
  configuration.imaging.backend = BackendWish::cpu;
  const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(simulator_configuration(configuration)));
  const nlohmann::json said = report_plan(*imaged.plan).values;
  const auto compare = [&](const char* what, const char* key, int axis) {
    const auto measured = profile_of(imaged.plan->grid, imaged.envelopes[0], axis).width();
    ASSERT_TRUE(measured) << what << ": the spot goes on beyond the image";
    ASSERT_TRUE(said.contains(key) && said[key]["LL"].is_number()) << what;
    const double stated = said[key]["LL"].get<double>();
    std::printf("%-12s %-8s %.3f mm, said %.3f (%+.1f %%)\n", of.name, what, 1e3 * *measured, 1e3 * stated,
                100.0 * (stated / *measured - 1.0));
    // Waves that spread as 1 / sqrt(r) weigh the outer elements less in the image, at most by sqrt(cos 44 degrees) = 0.85 on
    // either way, which makes spots 2 to 3 % wider, and twice that where a pair's both ways are one, as in pulse-echo. Sums of
    // elements' waves lose high frequencies as 1 / sqrt(f): those of plane waves are wider by 3 % more. Pixels of a fifteenth of
    // the least width, with lines between them, err by less than 1 %.
    EXPECT_NEAR(stated / *measured, 1.0, of.tolerance) << what;
  };
  for (const char axis : std::string_view(of.axes)) {
    if (axis == 'x') compare("lateral", "lateral_resolution", 0);
    if (axis == 'y') compare("across", "across_resolution", 1);
    if (axis == 'z') compare("axial", "axial_resolution", 2);
  }
}

#define ARRAY "elements = 64\npitch = 0.6e-3\nsamples = 1024\n"

INSTANTIATE_TEST_SUITE_P(
    Every, SpotSettings,
    testing::Values(Case{"none", "[filter]\nkind = \"none\"\n", ARRAY, "xz"},  //
                    Case{"automatic", "", ARRAY, "xz"},                        //
                    Case{"mean", "[filter]\nkind = \"mean\"\n", ARRAY, "xz"},  //
                    Case{"band", "[filter]\nkind = \"band\"\nband = [4e6, 6e6]\n", ARRAY, "xz"},
                    Case{"narrow_band", "[filter]\nkind = \"band\"\nband = [4.5e6, 5.5e6]\n", ARRAY, "xz"},
                    Case{"low_band", "[filter]\nkind = \"band\"\nband = [2e6, 4e6]\n", ARRAY, "xz"},
                    Case{"notch", "[filter]\nkind = \"mean\"\nnotch = [3.5e6, 1e6]\n", ARRAY, "xz"},
                    Case{"wiener", "[filter]\nkind = \"wiener\"\npulse_file = \"PULSE\"\nnoise = 0.05\n", ARRAY, "xz"},
                    Case{"hann", "[apodization]\nwindow = \"hann\"\n", ARRAY, "xz"},
                    Case{"tukey", "[apodization]\nwindow = \"tukey\"\ntukey_fraction = 0.4\n", ARRAY, "xz"},
                    Case{"one_side", "[apodization]\nwindow = \"hann\"\nsides = \"transmit\"\n", ARRAY, "xz"},
                    Case{"angle_limit", "[apodization]\nangle_limit = 20.0\n", ARRAY, "xz"},
                    Case{"directivity", "[apodization]\ndirectivity = true\n", ARRAY, "xz"},
                    Case{"sparse", "", ARRAY "fire = [26, 28, 30, 32, 34, 36]\n", "xz"},
                    Case{"pulse_echo", "", ARRAY "receive_aperture = 1\n", "xz", 0.06},
                    Case{"walking", "", ARRAY "receive_aperture = 5\n", "xz", 0.06},
                    Case{"waves", "", ARRAY "transmit = \"plane\"\nevents = 31\nangles = [-20.0, 20.0]\n", "xz", 0.06},
                    Case{"event_window", "[apodization]\nevent_window = \"hann\"\n",
                         ARRAY "transmit = \"plane\"\nevents = 31\nangles = [-20.0, 20.0]\n", "xz", 0.06},
                    Case{"volume", "[filter]\nkind = \"band\"\nband = [4e6, 6e6]\n[apodization]\nwindow = \"hann\"\n",
                         "elements = 12\nrows = 8\npitch = 0.9e-3\nrow_pitch = 1.2e-3\nelement_length = 0.6e-3\nsamples = 512\n",
                         "xyz"}),
    [](const auto& of) { return std::string(of.param.name); });

/// A sector of beams about a point straight ahead, and what the report says of it.
struct LinesOfAPoint {
  LinesOfAPoint(const std::string& beams, const std::string& more) {
    const Configuration configuration = parse_configuration(
        fmt::format("[imaging]\nmethod = \"beams\"\nbackend = \"cpu\"\n[material]\nlongitudinal_velocity = 1540.0\n"
                    "[beams]\ndepth = [0.035, 0.045]\nranges = 801\n{}[simulator]\nelements = 64\npitch = 0.22e-3\n"
                    "element_width = 0.2e-3\ncentre_frequency = 3.5e6\nfractional_bandwidth = 0.6\nsample_rate = 40e6\n"
                    "samples = 2700\nlongitudinal_velocity = 1540.0\ntransmit = \"beams\"\nevents = 5\nangles = [-2.0, 2.0]\n"
                    "focus = 0.04\nnoise_rms = 0.0\nquantised = false\nencoding = \"float32\"\ncycle_frames = 1\n"
                    "points = [[0.0, 0.04, 1.0]]\n{}",
                    beams, more),
        "lines.toml");
    const test::SourceFrame frame = test::frame_of(simulated_source(configuration));
    const auto setup = resolve_imaging({.configuration = configuration,
                                        .acquisition = frame.acquisition,
                                        .stated = {frame.material, {}},
                                        .wish = {.display = false}});
    const auto engine = make_engine(setup, {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
    FrameSlot slot;
    engine->equip(slot);
    std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
    EXPECT_TRUE(image_now(*engine, slot));
    said = find_method("beams")->report(*setup).values;
    const Grid& grid = setup->recipe.outputs.front().description.grid;
    const std::size_t ranges = said["ranges"]["count"].get<std::size_t>();
    EXPECT_EQ(grid.pixels(), 5 * ranges);
    const auto* const envelope = static_cast<const float*>(slot.outputs.front().data.data());
    middle.values.assign(envelope + 2 * ranges, envelope + 3 * ranges);
    middle.spacing = said["ranges"]["spacing"].get<double>();
  }

  nlohmann::json said;
  Profile middle;  ///< of the five lines
};

TEST(SpotsOfScanLines, AreAsLongAsFiltersLeaveThem) {
  for (const auto& [name, beams, more] :
       {std::tuple{"none", "", "[filter]\nkind = \"none\"\n"}, std::tuple{"automatic", "", ""},
        std::tuple{"narrow", "", "[filter]\nkind = \"band\"\nband = [3.1e6, 3.9e6]\n"},
        std::tuple{"baseband", "path = \"iq\"\niq_bandwidth = 1e6\n", "[filter]\nkind = \"none\"\n"}}) {
    const LinesOfAPoint lines(beams, more);
    const auto measured = lines.middle.width();
    ASSERT_TRUE(measured) << name;
    const double stated = lines.said["axial"].get<double>();
    std::printf("%-10s axial %.3f mm, said %.3f (%+.1f %%)\n", name, 1e3 * *measured, 1e3 * stated,
                100.0 * (stated / *measured - 1.0));
    // The beam is focused where the point is; outer elements are weighed less in the image, which leaves an axial width as it is
    // to some per cent.
    EXPECT_NEAR(stated / *measured, 1.0, 0.04) << name;
  }
}

TEST(SpotsOfScanLines, AreAsWideAsWeightsOfReceiversMakeThem) {
  // Of one frequency half of the amplitude is where sinc(u), and with a Hann window sinc(u) / (1 - u^2), is one half; u = width /
  // 2 times aperture / (lambda range). A Gaussian pulse of 60 % and elements in place of a continuum make 3 % of it.
  const double aperture = 64 * 0.22e-3;
  const double scale = 1540.0 / 3.5e6 * 0.04 / aperture;
  const double plain = LinesOfAPoint("", "").said["lateral"].get<double>();
  EXPECT_NEAR(plain / (1.2067 * scale), 1.0, 0.03);
  const double hann = LinesOfAPoint("window = \"hann\"\n", "").said["lateral"].get<double>();
  EXPECT_NEAR(hann / (2.0 * scale), 1.0, 0.03) << "sinc(1) / (1 - 1) is one half in the limit";
  const double f_number = LinesOfAPoint("f_number = 4.0\n", "").said["lateral"].get<double>();
  EXPECT_NEAR(f_number / (1.2067 * 1540.0 / 3.5e6 * 4.0), 1.0, 0.06) << "an aperture of whole elements";
}

}  // namespace
}  // namespace echoform::spot_settings
