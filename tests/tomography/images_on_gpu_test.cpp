// What tomography makes on a GPU, whole chains of it, is what it makes on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "tests/support/require_gpu.hpp"
#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

std::vector<Ball> two_balls() {
  return {{{Metres(1e-3), Metres(0.0), Metres(2e-3)}, 1e-3, 1.0, 0.3e-3},
          {{Metres(-2e-3), Metres(0.0), Metres(-1e-3)}, 0.7e-3, 0.8, 0.3e-3}};
}

/// Filters by cuFFT and by FFTW are to single rounding, and times to 2e-4 of a sample, over which terms of these balls change by
/// some tenths of their greatest; of many detectors such errors are of either sign.
constexpr double relative_difference = 1e-4;

void expect_alike(const PassiveFrame& frame, const std::string& text, const std::string& view = {}) {
  SCOPED_TRACE(text + view);
  const Tomogram want = tomogram_of(frame, text, view);
  const Tomogram found = tomogram_of(frame, text, view, BackendKind::cuda);
  const Tomogram again = tomogram_of(frame, text, view, BackendKind::cuda);
  ASSERT_EQ(found.values.size(), want.values.size());
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < want.values.size(); ++k) {
    ASSERT_EQ(std::isnan(found.values[k]), std::isnan(want.values[k])) << k;
    ASSERT_TRUE(std::isnan(want.values[k]) || found.values[k] == again.values[k]) << k << ": not the same bits of every run";
    if (std::isnan(want.values[k])) continue;
    difference += std::pow(static_cast<double>(found.values[k]) - want.values[k], 2.0);
    norm += std::pow(static_cast<double>(want.values[k]), 2.0);
  }
  EXPECT_GT(norm, 0.0);
  EXPECT_LE(std::sqrt(difference / norm), relative_difference);
}

TEST(TomographyImagesOnAGpu, AreThoseOfTheCpuForARing) {
  ECHOFORM_REQUIRE_GPU();
  const PassiveFrame frame = heard(ring(128, 40e-3), two_balls());
  const std::string grid = cube({}, 4e-3, 61, true);
  for (const char* const algorithm : {"fbp", "ubp", "delay_and_sum"}) {
    const std::string keys = std::string("algorithm = \"") + algorithm + "\"\n";
    expect_alike(frame, tomography_text(keys, grid));
    expect_alike(frame, tomography_text(keys + "normalise = \"actual\"\nshown = \"envelope\"\n", grid));
    // Pressures of such a pulse add up to 5e-6 of themselves where their terms make an image: between the CPU's own instruction
    // sets the rounding that is left differs by 4.6e-4 of it.
    if (std::string_view(algorithm) == "delay_and_sum") continue;
    expect_alike(frame, tomography_text(keys + "shown = \"non_negative\"\nimpulse_bandwidth = 6e6\n",
                                        grid + "[filter]\nkind = \"band\"\nband = [0.1e6, 6e6]\n"));
  }
  expect_alike(frame, tomography_text("object_velocity = 1620.0\nobject_radii = [0.006]\n", grid));
  expect_alike(frame, tomography_text("directivity_power = 2\nnormalise = \"actual\"\n", grid));
}

TEST(TomographyImagesOnAGpu, AreThoseOfTheCpuForAVolume) {
  ECHOFORM_REQUIRE_GPU();
  const PassiveFrame frame = heard(ring(96, 40e-3), two_balls());
  for (const char* const algorithm : {"fbp", "ubp"}) {
    expect_alike(frame, tomography_text(std::string("algorithm = \"") + algorithm + "\"\n", cube({}, 3e-3, 37)));
  }
}

TEST(TomographyImagesOnAGpu, AreThoseOfTheCpuForWavelengths) {
  ECHOFORM_REQUIRE_GPU();
  Acquisition acquisition = ring(48, 30e-3);
  acquisition.events = {{PassiveEvent{Metres(850e-9), 0.0}, {}, 0}, {PassiveEvent{Metres(750e-9), 0.0}, {}, 0}};
  PassiveFrame frame = heard(acquisition, two_balls());
  for (std::size_t n = 0; n < frame.samples.size() / 2; ++n) frame.samples[n] *= 2.0F;
  const std::string grid = cube({}, 4e-3, 33, true);
  for (const char* const view : {"image", "750nm", "850nm"}) expect_alike(frame, tomography_text("", grid), view);
  const std::string unmixed = grid + "[unmixing]\ncomponents = [\"HbO2\", \"Hb\"]\nnon_negative = true\n";
  for (const char* const view : {"HbO2", "Hb"}) expect_alike(frame, tomography_text("", unmixed), view);
}

}  // namespace
}  // namespace echoform::test
