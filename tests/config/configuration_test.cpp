#include "config/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.hpp"
#include "methods/display_settings.hpp"
#include "methods/tfm/section.hpp"
#include "settings/key_table.hpp"
#include "settings/reader.hpp"
#include "simulators/simulator_section.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;

/// What parsing `text` as scan.toml throws; empty if it throws nothing.
std::string fault_of(std::string_view text) {
  return test::input_error([&] { static_cast<void>(parse_configuration(text, "scan.toml")); });
}

TEST(Configuration, EmptyFileGivesTheDefaults) {
  const Configuration c = parse_configuration("", "scan.toml");
  EXPECT_FALSE(c.material.longitudinal_velocity);
  EXPECT_FALSE(c.grid.x);
  EXPECT_EQ(c.grid.pixels, (GridPixels{256, 256}));
  EXPECT_THAT(tfm(c).views, ElementsAre("LL"));
  EXPECT_EQ(tfm(c).interpolation, Interpolation::linear);
  EXPECT_EQ(tfm(c).travel_times, TravelTimes::exact);
  EXPECT_TRUE(tfm(c).apodization.trivial());
  EXPECT_EQ(section<OutputSection>(c).dynamic_range_db, 40.0);
  EXPECT_EQ(c.input.drop_policy, DropPolicy::block_sender);
  EXPECT_EQ(c.input.listen, "127.0.0.1:17171");
  EXPECT_EQ(section<SimulatorSection>(c).source.elements, 32u);
  EXPECT_TRUE(c.server.images.starts_with("127.0.0.1:")) << "loopback by default";
  EXPECT_TRUE(c.server.telemetry.starts_with("127.0.0.1:"));
  EXPECT_TRUE(c.server.web.starts_with("127.0.0.1:"));
}

TEST(Configuration, ReadsEverySection) {
  const Configuration c = parse_configuration(R"(
[material]
longitudinal_velocity = 6320
shear_velocity = 3130.0
[grid]
x = [-0.020, 0.020]
z = [0.001, 0.045]
pixels = [81, 177]
[imaging]
views = ["LL", "TT"]
travel_times = "interpolated"
interpolation = "nearest"
backend = "cpu"
accuracy = 1e-4
device = 1
gpu_timeout = 2.5
threads = 2
[apodization]
window = "tukey"
sides = "transmit"
directivity = true
[output]
dynamic_range_db = 30
reference = "fixed"
[display]
pixels = [512, 400]
interpolation = "cubic"
[probe]
pitch = 0.6e-3
dead_elements = [3, 17]
[acquisition]
time_offset = -1e-6
matrix = "half_summed"
[input]
drop_policy = "drop_oldest"
token = "secret"
[server]
web_host_names = ["bench.example"]
[simulator]
encoding = "packed12"
points = [[0.001, 0.02, 1.0], [-0.004, 0.03, 0.5]]
holes = [[0.0, 0.025, 1e-3, 2.0]]
)",
                                              "scan.toml");
  EXPECT_EQ(c.material.longitudinal_velocity->value, 6320.0) << "integers serve as numbers";
  EXPECT_EQ((*c.grid.x)[0].value, -0.020);
  EXPECT_EQ(c.grid.pixels.z, 177u);
  EXPECT_THAT(tfm(c).views, ElementsAre("LL", "TT"));
  EXPECT_EQ(tfm(c).interpolation, Interpolation::nearest);
  EXPECT_EQ(tfm(c).travel_times, TravelTimes::interpolated);
  EXPECT_EQ(c.imaging.backend, BackendWish::cpu);
  EXPECT_EQ(c.imaging.threads, 2u);
  EXPECT_EQ(tfm(c).accuracy, 1e-4);
  const BackendChoice choice = backend_choice(c.imaging);
  EXPECT_FALSE(choice.automatic);
  EXPECT_EQ(choice.threads, 2u);
  EXPECT_EQ(choice.device, 1);
  EXPECT_EQ(choice.gpu_timeout, std::chrono::milliseconds(2500));
  EXPECT_EQ(tfm(c).apodization.window, ApodizationWindow::tukey);
  EXPECT_EQ(tfm(c).apodization.sides, ApodizationSides::transmit);
  EXPECT_TRUE(tfm(c).apodization.directivity);
  EXPECT_EQ(section<OutputSection>(c).reference, ReferenceMode::fixed);
  EXPECT_EQ((*section<DisplaySection>(c).pixels)[0], 512u);
  EXPECT_EQ(section<DisplaySection>(c).interpolation, ScanInterpolation::cubic);
  EXPECT_EQ(c.probe.pitch->value, 0.6e-3);
  EXPECT_THAT(*c.probe.dead_elements, ElementsAre(3, 17));
  EXPECT_EQ(c.acquisition.time_offset->value, -1e-6);
  EXPECT_EQ(*c.acquisition.matrix, MatrixKind::half_summed);
  EXPECT_EQ(c.input.drop_policy, DropPolicy::drop_oldest);
  EXPECT_EQ(c.input.token, "secret");
  EXPECT_THAT(c.server.web_host_names, ElementsAre("bench.example"));
  EXPECT_EQ(section<SimulatorSection>(c).source.encoding, SampleEncoding::packed12);
  ASSERT_EQ(section<SimulatorSection>(c).points->size(), 2u);
  EXPECT_EQ((*section<SimulatorSection>(c).points)[1].centre.z.value, 0.03);
  EXPECT_EQ((*section<SimulatorSection>(c).holes)[0].radius.value, 1e-3);
}

struct BadText {
  const char* name;
  const char* text;
  const char* message;
};

class ConfigurationFault : public ::testing::TestWithParam<BadText> {};

TEST_P(ConfigurationFault, IsOneLineWithPlaceFoundAndExpected) {
  EXPECT_EQ(fault_of(GetParam().text), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Bad, ConfigurationFault,
    ::testing::Values(
        BadText{"UnknownKey", "[grid]\n\npixel = [1, 1]\n",
                "scan.toml:3: found the unknown key pixel in [grid]; expected a known key; the nearest is pixels in [grid]"},
        BadText{"KeyOfAnotherSection", "[output]\nviews = [\"LL\"]\n",
                "scan.toml:2: found the unknown key views in [output]; expected a known key; the nearest is views in [imaging]"},
        BadText{"UnknownSection", "[gird]\nx = [0, 1]\n",
                "scan.toml:1: found the unknown section [gird]; expected a known section; the nearest is [grid]"},
        BadText{"KeyOutsideAnySection", "dynamic_range = 40\n",
                "scan.toml:1: found the key dynamic_range outside any section; expected a known key; the nearest is "
                "dynamic_range_db in [output]"},
        BadText{"SectionAsKey", "grid = 5\n", "scan.toml:1: found \"grid\" used as a key; expected the section [grid]"},
        BadText{"MistypedNumber", "[material]\nlongitudinal_velocity = \"6320\"\n",
                "scan.toml:2: [material] longitudinal_velocity: found \"6320\"; expected a number in m/s, 1 to 20000"},
        BadText{"NotANumber", "[material]\nlongitudinal_velocity = nan\n",
                "scan.toml:2: [material] longitudinal_velocity: found nan; expected a number in m/s, 1 to 20000"},
        BadText{"Infinite", "[output]\ngain_db = -inf\n",
                "scan.toml:2: [output] gain_db: found -inf; expected a number in dB, -200 to 200"},
        BadText{"OutOfRange", "[output]\ndynamic_range_db = 0\n",
                "scan.toml:2: [output] dynamic_range_db: found 0; expected a number in dB, 1 to 200"},
        BadText{"OpenLowerEnd", "[material]\nshear_velocity = 0.0\n",
                "scan.toml:2: [material] shear_velocity: found 0.0; expected a number in m/s, 1 to 20000"},
        BadText{"FractionForAnInteger", "[grid]\npixels = [256, 256.0]\n",
                "scan.toml:2: [grid] pixels: found 256.0; expected two or three integers, 1 to 65536"},
        BadText{"AccuracyBeyondReach", "[imaging]\naccuracy = 0\n",
                "scan.toml:2: [imaging] accuracy: found 0; expected a number, 1e-06 to 0.1"},
        BadText{"NegativeCount", "[imaging]\nthreads = -1\n",
                "scan.toml:2: [imaging] threads: found -1; expected an integer, 0 to 1024"},
        BadText{"ArrayTooShort", "[grid]\nx = [0.01]\n",
                "scan.toml:2: [grid] x: found [0.01]; expected two numbers in m, -10 to 10"},
        BadText{"ArrayTooLong", "[grid]\nx = [0.01, 0.02, 0.03]\n",
                "scan.toml:2: [grid] x: found [0.01, 0.02, 0.03]; expected two numbers in m, -10 to 10"},
        BadText{"NumberForAnArray", "[grid]\nz = 0.01\n",
                "scan.toml:2: [grid] z: found 0.01; expected two numbers in m, -10 to 10"},
        BadText{"NoViews", "[imaging]\nviews = []\n",
                "scan.toml:2: [imaging] views: found []; expected a list of texts, 1 to 16 of them"},
        BadText{"NumberAmongTexts", "[imaging]\nviews = [\"LL\", 5]\n",
                "scan.toml:2: [imaging] views: found 5; expected a list of texts, 1 to 16 of them"},
        BadText{"UnknownWord", "[imaging]\ninterpolation = \"cubic\"\n",
                "scan.toml:2: [imaging] interpolation: found \"cubic\"; expected one of nearest, linear"},
        BadText{"TextForABoolean", "[apodization]\ndirectivity = \"yes\"\n",
                "scan.toml:2: [apodization] directivity: found \"yes\"; expected true or false"},
        BadText{"EmptyName", "[server]\nname = \"\"\n", "scan.toml:2: [server] name: found an empty text; expected a text"},
        BadText{"PortTooLarge", "[input]\nlisten = \"127.0.0.1:70000\"\n",
                "scan.toml:2: [input] listen: found \"127.0.0.1:70000\"; expected HOST:PORT with a port from 0 to 65535"},
        BadText{"NoPort", "[server]\nweb = \"localhost\"\n",
                "scan.toml:2: [server] web: found \"localhost\"; expected HOST:PORT with a port from 0 to 65535"},
        BadText{"RowTooShort", "[simulator]\npoints = [[0.0, 0.02]]\n",
                "scan.toml:2: [simulator] points: found [0.0, 0.02]; expected a list of [x, z, reflectivity] or [x, y, z, "
                "reflectivity] in m, up to 1000 of "
                "them"},
        BadText{"Table", "[grid.x]\nfirst = 0\n", "scan.toml:1: [grid] x: found a table; expected two numbers in m, -10 to 10"}),
    [](const auto& bad) { return bad.param.name; });

TEST(Configuration, DuplicateKeyNamesItsLine) {
  const std::string fault = fault_of("[grid]\npixels = [2, 2]\npixels = [3, 3]\n");
  EXPECT_THAT(fault, ::testing::StartsWith("scan.toml:3: found a fault in the TOML ("));
  EXPECT_THAT(fault, ::testing::HasSubstr("pixels"));
  EXPECT_THAT(fault, ::testing::EndsWith("expected valid TOML, each section and key once"));
  EXPECT_THAT(fault, ::testing::Not(::testing::HasSubstr("\n")));
}

TEST(Configuration, DuplicateSectionNamesItsLine) {
  EXPECT_THAT(fault_of("[grid]\n[output]\n[grid]\n"), ::testing::StartsWith("scan.toml:3: found a fault in the TOML ("));
}

TEST(Configuration, BrokenTomlNamesItsLine) {
  EXPECT_THAT(fault_of("[grid]\nx = [0.1,\n"), ::testing::StartsWith("scan.toml:"));
  EXPECT_THAT(fault_of("[grid\nx = 1\n"), ::testing::StartsWith("scan.toml:1: found a fault in the TOML ("));
}

/// No bytes may do worse than throw InputError: every prefix of a valid file, and that file with each byte damaged.
TEST(Configuration, DamagedFilesThrowNothingElse) {
  const std::string text = "[grid]\nx = [-0.02, 0.02]\npixels = [81, 177]\n[imaging]\nviews = [\"LL\"] # comment\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_NO_THROW(static_cast<void>(fault_of(text.substr(0, i))));
    for (const char damage : {'\0', '\x7f', '\xff', '[', '"', '\n'}) {
      std::string damaged = text;
      damaged[i] = damage;
      EXPECT_NO_THROW(static_cast<void>(fault_of(damaged)));
    }
  }
}

class ConfigurationFile : public ::testing::Test {
 protected:
  ConfigurationFile() { std::filesystem::create_directories(folder_); }
  ~ConfigurationFile() override { std::filesystem::remove_all(folder_); }
  std::string fault(const std::filesystem::path& path) {
    return test::input_error([&] { static_cast<void>(load_configuration(path)); });
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("echoform_configuration_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ConfigurationFile, MissingIsNamed) {
  const auto path = folder_ / "none.toml";
  EXPECT_EQ(fault(path), path.string() + ": found no such file; expected a TOML file");
}

TEST_F(ConfigurationFile, FolderIsRefused) {
  EXPECT_EQ(fault(folder_), folder_.string() + ": found something that is not a file; expected a TOML file");
}

TEST_F(ConfigurationFile, TooLargeIsRefusedBeforeItIsRead) {
  const auto path = folder_ / "large.toml";
  std::ofstream(path) << std::string((1 << 20) + 1, '\n');
  EXPECT_EQ(fault(path), path.string() + ": found 1048577 bytes; expected a TOML file of at most 1048576 bytes");
}

TEST(Configuration, ExamplesAreValid) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "examples")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(static_cast<void>(load_configuration(entry.path()))) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 3u);
}

TEST(Configuration, DocumentationIsCurrent) {
  std::ifstream stream(test::source_directory() / "docs" / "configuration.md");
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(text.str(), configuration_markdown()) << "run: echoform info --config-keys > docs/configuration.md";
}

TEST(Configuration, EveryKeyIsDocumentedOnceAndHasADefaultOrSaysWhereItComesFrom) {
  std::vector<std::string> names;
  for (const Key& key : configuration_keys()) {
    const std::string name = std::string(key.section) + "." + std::string(key.name);
    EXPECT_THAT(names, ::testing::Not(::testing::Contains(name)));
    names.push_back(name);
    EXPECT_FALSE(key.help.empty()) << name;
    EXPECT_FALSE(key.default_text.empty()) << name;
    EXPECT_TRUE(key.read) << name;
  }
}

TEST(Configuration, HostAndPort) {
  EXPECT_EQ(parse_host_port("127.0.0.1:80", "x").host, "127.0.0.1");
  EXPECT_EQ(parse_host_port("127.0.0.1:80", "x").port, 80);
  EXPECT_EQ(parse_host_port("[::1]:65535", "x").host, "::1");
  for (const char* bad :
       {"", ":", ":80", "host", "host:", "host:-1", "host:65536", "host:8o", "::1:80", "a b:80", "[]:80", "http://host:80"}) {
    EXPECT_THROW(static_cast<void>(parse_host_port(bad, "x")), InputError) << bad;
  }
}

}  // namespace
}  // namespace echoform
