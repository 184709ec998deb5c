// Images of scan lines from a GPU are those of the CPU.
#include <cmath>
#include <string>
#include <vector>

#include "tests/line_images/beam_frames.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test::line_images_on_gpu {
namespace {

TEST(LineImagesOnTheGpu, AreThoseOfTheCpu) {
  ECHOFORM_REQUIRE_GPU();
  if (const std::string reason = why_not_on_gpu(*find_method("beams")); !reason.empty()) GTEST_SKIP() << reason;
  std::vector<double> angles;
  for (int k = 0; k < 7; ++k) angles.push_back((4.0 * k - 12.0) * of_degrees);
  const BeamFrame frame =
      make_frame(make_beams(24, angles, 60e-3, 1700), {{-3e-3, 12e-3}, {0.0, 16e-3}, {2e-3, 21e-3, 0.7}}, 0.6);
  const std::string depth = "depth = [4e-3, 30e-3]\n";
  for (const char* const keys : {"", "f_number = 1.5\nwindow = \"hann\"\n", "lines = 4\ndelay_filter = \"upsampled\"\n",
                                 "lines = 4\nblend = true\ntime_gain = [0, 12]\n", "path = \"iq\"\nlines = 2\n",
                                 "persistence = 0.5\n", "lateral_gain = [0, 6, 3]\n", "adaptive = \"coherence_factor\"\n",
                                 "adaptive = \"generalised_coherence_factor\"\nf_number = 1.5\n", "adaptive = \"f_dmas\"\n",
                                 "adaptive = \"short_lag_spatial_coherence\"\n", "adaptive = \"capon\"\nranges = 200\n"}) {
    const LineImage expected = line_image(frame, depth + keys);
    const LineImage image = line_image(frame, depth + keys, BackendKind::cuda);
    ASSERT_EQ(image.envelope.size(), expected.envelope.size());
    double error = 0.0;
    double norm = 0.0;
    for (std::size_t n = 0; n < image.envelope.size(); ++n) {
      error += std::pow(static_cast<double>(image.envelope[n]) - expected.envelope[n], 2);
      norm += std::pow(static_cast<double>(expected.envelope[n]), 2);
    }
    EXPECT_LT(std::sqrt(error / norm), 1e-4) << keys;
  }
}

}  // namespace
}  // namespace echoform::test::line_images_on_gpu
