// [imaging] adaptive, from a configuration to images of elements that fire one by one and of plane waves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::adaptive_pixel_images {
namespace {

Configuration tfm_with(const std::string& imaging, const std::string& transmit) {
  return parse_configuration(fmt::format(R"(
[imaging]
backend = "cpu"
{}
[grid]
x = [-0.004, 0.004]
z = [0.006, 0.014]
pixels = [41, 61]
[filter]
kind = "none"
[simulator]
elements = 24
pitch = 0.4e-3
element_width = 0.3e-3
centre_frequency = 5e6
sample_rate = 40e6
samples = 512
longitudinal_velocity = 6320.0
noise_rms = 0.02
points = [[0.001, 0.010, 1.0]]
{}
[material]
longitudinal_velocity = 6320.0
)",
                                         imaging, transmit),
                             "pixels.toml");
}

constexpr const char* one_by_one = "transmit = \"elements\"";
constexpr const char* waves = "transmit = \"plane\"\nevents = 7\nangles = [-12.0, 12.0]";

std::vector<float> image_with(const std::string& imaging, const std::string& transmit) {
  const Configuration configuration = tfm_with(imaging, transmit);
  return test::image_scene(configuration, test::frame_of(simulated_source(configuration))).envelopes.front();
}

std::vector<float> image_on_gpu(const std::string& imaging, const std::string& transmit) {
  const Configuration configuration = tfm_with(imaging, transmit);
  return test::image_scene(configuration, test::frame_of(simulated_source(configuration)), BackendKind::cuda).envelopes.front();
}

TEST(AdaptivePixelImages, AreThoseOfTheCpuOnTheGpu) {
  ECHOFORM_REQUIRE_GPU();
  for (const char* const transmit : {one_by_one, waves}) {
    // Others hang on signs, and on branches of phases.
    for (const char* const kind : {"coherence_factor", "generalised_coherence_factor", "short_lag_spatial_coherence", "capon"}) {
      const std::string imaging = fmt::format("adaptive = \"{}\"", kind);
      const std::vector<float> expected = image_with(imaging, transmit);
      const std::vector<float> image = image_on_gpu(imaging, transmit);
      ASSERT_EQ(image.size(), expected.size());
      const float greatest = *std::ranges::max_element(expected);
      for (std::size_t n = 0; n < image.size(); ++n) ASSERT_NEAR(image[n], expected[n], 3e-4F * greatest) << kind << " " << n;
    }
  }
}

TEST(AdaptivePixelImages, KeepThePointAndDarkenWhatIsBesideIt) {
  for (const char* const transmit : {one_by_one, waves}) {
    const std::vector<float> plain = image_with("", transmit);
    const auto peak = std::ranges::max_element(plain) - plain.begin();
    // A factor that is 1 throughout is no weight. Sums in another order, of single precision.
    const std::vector<float> same = image_with("adaptive = \"phase_coherence_factor\"\nphase_sensitivity = 0.0", transmit);
    for (std::size_t n = 0; n < plain.size(); ++n) ASSERT_NEAR(same[n], plain[n], 1e-4F * plain[peak]);
    for (const std::string kind : {"coherence_factor", "generalised_coherence_factor", "phase_coherence_factor",
                                   "sign_coherence_factor", "short_lag_spatial_coherence", "capon"}) {
      const std::vector<float> image = image_with("adaptive = \"" + kind + "\"", transmit);
      const auto found = std::ranges::max_element(image) - image.begin();
      // Next to the plain image's brightest pixel, of 0.2 by 0.13 mm.
      EXPECT_LE(std::abs(found % 41 - peak % 41), 1) << kind;
      EXPECT_LE(std::abs(found / 41 - peak / 41), 1) << kind;
      const auto mean = [](const std::vector<float>& values) {
        double sum = 0.0;
        for (const float value : values) sum += value;
        return sum / static_cast<double>(values.size());
      };
      // Coherence is shown on a scale of its own: noise alone has a part of it by chance.
      if (kind == "short_lag_spatial_coherence") continue;
      EXPECT_LT(mean(image) / image[found], mean(plain) / plain[peak]) << kind;
    }
  }
}

TEST(AdaptivePixelImages, TakeBothDirectionsOfASumByHalves) {
  const std::string factor = "adaptive = \"coherence_factor\"";
  const std::string quiet = "transmit = \"elements\"\nencoding = \"float32\"\nquantised = false\nmatrix = ";
  const std::vector<float> full = image_with(factor, quiet + "\"half\"");
  const std::vector<float> summed = image_with(factor, quiet + "\"half_summed\"");
  const float greatest = *std::ranges::max_element(full);
  // The same up to noise, which a sum has half as much of.
  for (std::size_t n = 0; n < full.size(); ++n) ASSERT_NEAR(summed[n], full[n], 0.02F * greatest);
}

TEST(AdaptivePixelImages, RefuseWhatTheyCannotBe) {
  EXPECT_THROW(static_cast<void>(tfm_with("adaptive = \"f_dmas\"", one_by_one)), InputError);
}

}  // namespace
}  // namespace echoform::adaptive_pixel_images
