// .nrrd and .vti, read by what shares nothing with their writers: parsers by the formats' definitions, VTK, teem.
#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/sanitizers.hpp"
#include "formats/image_writer.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/places.hpp"

namespace echoform::test {
namespace {

using nlohmann::json;

/// An image, and what a reader of its files shall find in mm.
struct Case {
  std::string name;
  Grid grid;
  std::array<double, 3> origin;
  std::array<double, 3> spacing;
  bool complex_values = false;
  std::string title = "notch.mat, frame 0";
  std::array<std::string, 3> units{"mm", "mm", "mm"};
  Meaning y{"y", "m"};
};

Axis axis(double first, double last, std::size_t count) {
  return {Metres(first), Metres(last), count};
}

std::vector<Case> cases() {
  return {
      // Three spacings, and three counts, none of which is another's.
      {"volume", {axis(-2e-3, 3e-3, 11), axis(1e-3, 4e-3, 4), axis(-1.5e-3, 1e-3, 3)}, {-2.0, -1.5, 1.0}, {0.5, 1.25, 1.0}},
      {"complex", {axis(-2e-3, 2e-3, 3), axis(1e-3, 4e-3, 4), axis(-1e-3, 0, 2)}, {-2.0, -1.0, 1.0}, {2.0, 1.0, 1.0}, true},
      // A plane is a slice as thick as its pixels are wide.
      {"plane", {axis(-5e-3, 5e-3, 11), axis(1e-3, 2e-3, 3), axis(3e-3, 3e-3, 1)}, {-5.0, 3.0, 1.0}, {1.0, 0.5, 0.5}},
      {"complex plane", {axis(-2e-3, 2e-3, 5), axis(1e-3, 2e-3, 3), axis(0, 0, 1)}, {-2.0, 0.0, 1.0}, {1.0, 0.5, 0.5}, true},
      {"one column", {axis(7e-3, 7e-3, 1), axis(0, 1e-3, 5), axis(0, 1e-2, 6)}, {7.0, 0.0, 0.0}, {0.25, 2.0, 0.25}},
      {"one depth", {axis(0, 1e-2, 6), axis(2e-2, 2e-2, 1), axis(0, 1e-3, 5)}, {0.0, 0.0, 20.0}, {2.0, 0.25, 0.25}},
      {"one pixel", {axis(1e-3, 1e-3, 1), axis(2e-3, 2e-3, 1), axis(3e-3, 3e-3, 1)}, {1.0, 3.0, 2.0}, {1.0, 1.0, 1.0}},
      // Titles are names of files, and those hold anything.
      {"titles",
       {axis(0, 1e-3, 2), axis(0, 1e-3, 2), axis(0, 1e-3, 2)},
       {},
       {1.0, 1.0, 1.0},
       false,
       "a \"b\" <c>&\\n\nd := e: -- \u00e9"},
      // What a method counts in other units stays as it is.
      {"degrees",
       {axis(0, 1e-3, 2), axis(0, 1e-3, 2), axis(-30.0, 60.0, 3)},
       {0.0, -30.0, 0.0},
       {1.0, 45.0, 1.0},
       false,
       "t",
       {"mm", "deg", "mm"},
       {"y", "deg"}},
  };
}

class VolumeFiles : public ::testing::TestWithParam<const char*> {
 protected:
  /// Writes all cases in a format; the file that says what shall be in them.
  std::string manifest() {
    json files = json::array();
    for (const Case& one : cases()) {
      std::vector<float> envelope(one.grid.pixels());
      std::vector<std::complex<float>> analytic(one.grid.pixels());
      for (std::size_t k = 0; k < envelope.size(); ++k) {
        envelope[k] = 0.1F * static_cast<float>(k + 1);
        analytic[k] = {envelope[k], -3.0F * envelope[k]};
      }
      // What is not covered is not a number, and stays so.
      if (envelope.size() > 4) envelope[3] = std::numeric_limits<float>::quiet_NaN();
      const ImageFile image{.grid = one.grid,
                            .envelope = envelope,
                            .analytic = analytic,
                            .field = one.complex_values ? ImageField::analytic : ImageField::envelope,
                            .title = one.title,
                            .view = "TT-T",
                            .y = one.y};
      const auto file = scratch_ / (one.name + GetParam());
      const auto array = scratch_ / (one.name + ".npy");
      make_image_writer(file)->write(image);
      make_image_writer(array)->write(image);
      files.push_back({{"file", file.string()},
                       {"array", array.string()},
                       {"shape", {one.grid.z.count, one.grid.y.count, one.grid.x.count}},
                       {"origin", one.origin},
                       {"spacing", one.spacing},
                       {"places", one.y.unit == "m"},
                       {"units", one.units},
                       {"texts",
                        {{"field", one.complex_values ? "analytic" : "envelope"},
                         {"title", one.title},
                         {"view", "TT-T"},
                         {"quantity", "amplitude"},
                         {"axes", "x (mm), y (" + one.units[1] + "), z (mm)"},
                         {"software", "Echoform"}}}});
    }
    const std::string text = files.dump();
    save(scratch_ / "manifest.json", {text.begin(), text.end()});
    return scratch_ / "manifest.json";
  }
  int read_with(const char* reader) {
    return run_python({source_directory() / "tests/formats/read_volume.py", reader, manifest()});
  }
  Scratch scratch_;
};

TEST_P(VolumeFiles, SayWhatTheirFormatsDefine) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  EXPECT_EQ(read_with("plain"), 0);
}

TEST_P(VolumeFiles, AreReadByVtk) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  ECHOFORM_REQUIRE_PYTHON("vtkmodules.vtkIOXML");
  EXPECT_EQ(read_with("vtk"), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, VolumeFiles, ::testing::Values(".nrrd", ".vti"),
                         [](const auto& each) { return std::string(each.param).substr(1); });

class NrrdFiles : public VolumeFiles {};

TEST_P(NrrdFiles, AreReadByTeem) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  if (std::system("command -v teem-unu unu > /dev/null") != 0) GTEST_SKIP() << "no program unu of teem (Debian: teem-apps)";
  EXPECT_EQ(read_with("teem"), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, NrrdFiles, ::testing::Values(".nrrd"), [](const auto&) { return std::string("nrrd"); });

/// A line of /proc/self/status in bytes; nothing where there is none.
std::optional<double> status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) return 1024.0 * std::stod(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

TEST(VolumeMemory, NoWriterCopiesAVolume) {
  if (ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) GTEST_SKIP() << "sanitizers keep memory of their own";
  const Scratch scratch;
  const Grid grid{axis(0, 1e-2, 256), axis(0, 1e-2, 256), axis(0, 1e-2, 256)};
  const std::vector<float> envelope(grid.pixels(), 1.0F);
  const Grid half{grid.x, grid.z, axis(0, 1e-2, 128)};
  const std::vector<std::complex<float>> analytic(half.pixels(), {3.0F, -4.0F});
  const double bytes = 4.0 * static_cast<double>(grid.pixels());
  const auto grows_by = [&](const std::string& name, const ImageFile& image) {
    const auto writer = make_image_writer(scratch / name);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak is from now on
    const double before = status_bytes("VmRSS").value_or(0.0);
    writer->write(image);
    std::filesystem::remove(scratch / name);
    return status_bytes("VmHWM").value_or(0.0) - before;
  };
  {
    // Where the peak cannot be set back nothing can be said.
    const std::vector<char> high(static_cast<std::size_t>(bytes), 1);
    ASSERT_EQ(high.back(), 1);
  }
  std::ofstream("/proc/self/clear_refs") << 5;
  if (status_bytes("VmHWM").value_or(1e300) > status_bytes("VmRSS").value_or(0.0) + 0.25 * bytes)
    GTEST_SKIP() << "the system does not set back the peak of memory";

  // A figure of two million pixels takes some MB, the others a block.
  for (const std::string extension : {".npy", ".h5", ".nrrd", ".vti", ".png"}) {
    EXPECT_LT(grows_by("v" + extension, {.grid = grid, .envelope = envelope}), 0.5 * bytes) << extension;
  }
  for (const std::string extension : {".npy", ".nrrd", ".vti", ".png"}) {
    EXPECT_LT(grows_by("a" + extension, {.grid = half, .analytic = analytic}), 0.5 * bytes) << extension;
  }
}

}  // namespace
}  // namespace echoform::test
