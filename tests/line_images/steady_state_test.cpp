// Frames of scan lines take nothing from the heap once the engine stands, whatever the chain.
#include <gtest/gtest.h>

#include "tests/line_images/beam_frames.hpp"
#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

TEST(ScanLinesSteadyState, TakeNothingFromTheHeap) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const std::vector<double> angles{-0.2, -0.1, 0.0, 0.1, 0.2};
  const BeamFrame frame = make_frame(make_beams(16, angles, 20e-3, 800), {{1e-3, 9e-3}}, 0.6);
  for (const std::string keys :
       {"", "time_gain = [0, 10]\npersistence = 0.5\n", "lines = 4\nblend = true\n", "path = \"iq\"\n",
        "delay_filter = \"upsampled\"\nf_number = 1.5\nwindow = \"hann\"\n", "adaptive = \"coherence_factor\"\n",
        "adaptive = \"f_dmas\"\n", "adaptive = \"phase_coherence_factor\"\n", "adaptive = \"capon\"\nranges = 100\n"}) {
    for (const char* const filter : {"none", "band"}) {
      const auto engine = engine_of_lines(frame, keys, filter);
      FrameSlot slot;
      engine->equip(slot);
      std::memcpy(slot.samples.data(), frame.samples.data(), frame.samples.size() * sizeof(float));
      for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE(image_now(*engine, slot));
      const std::uint64_t before = allocations();
      for (int counted = 0; counted < 5; ++counted) static_cast<void>(image_now(*engine, slot));
      EXPECT_EQ(allocations() - before, 0U) << keys << filter;
    }
  }
}

}  // namespace
}  // namespace echoform::test
