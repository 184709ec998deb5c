// No stage allocates while it processes a frame.
#include <gtest/gtest.h>

#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/unpack/unpack.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

using Allocations = StageTest;
ECHOFORM_ALL_IMPLEMENTATIONS(Allocations);

std::uint64_t allocations_of(Stage& stage, const BlockSpec& spec, ThreadTeam& team) {
  const TestBlock input(spec);
  std::memset(input.block().data, 0, spec.bytes());
  const TestBlock output(stage.prepare(spec));
  const std::uint64_t before = allocations();
  for (int frame = 0; frame < 3; ++frame) stage.process(input.read(), output.block(), team);
  return allocations() - before;
}

TEST_P(Allocations, NoneWhileProcessing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
  const std::uint64_t before = allocations();
  const TestBlock something(make_spec(ElementType::float32, 1, 1));
  ASSERT_GT(allocations(), before) << "the counter counts";

  for (const ElementType type : {ElementType::int16, ElementType::packed12, ElementType::float32}) {
    const auto unpack = make_unpack_cpu(1.0, level());
    EXPECT_EQ(allocations_of(*unpack, make_spec(type, 64, 1031), team), 0u);
    const auto half_matrix = make_half_matrix_cpu({8, true, 1.0, {1}}, level());
    EXPECT_EQ(allocations_of(*half_matrix, make_spec(type, 64, 1031), team), 0u);
  }
  // FFTW takes different ways for short, long and odd lengths, some of which work in buffers.
  for (const std::size_t samples : {1000, 1001, 1024, 1031, 4096, 6561, 8192, 14641, 16384, 65536}) {
    const auto analytic_signal = make_analytic_signal_cpu(threads(), level());
    EXPECT_EQ(allocations_of(*analytic_signal, make_spec(ElementType::float32, 4, samples), team), 0u) << samples << " samples";
  }
  const auto envelope = make_envelope_cpu(level());
  EXPECT_EQ(allocations_of(*envelope, make_spec(ElementType::complex64, 256, 256), team), 0u);
  const auto compression = make_compression_cpu(Compression{}, level());
  EXPECT_EQ(allocations_of(*compression, make_spec(ElementType::float32, 256, 256), team), 0u);
  const Grid acoustic{{Metres(0.0), Metres(0.01), 256}, {Metres(0.0), Metres(0.01), 256}, {}};
  const Grid display{{Metres(0.0), Metres(0.01), 500}, {Metres(0.0), Metres(0.01), 400}, {}};
  const auto scan_conversion = make_scan_conversion_cpu({acoustic, display, ScanInterpolation::cubic, -0.5}, threads(), level());
  EXPECT_EQ(allocations_of(*scan_conversion, make_spec(ElementType::uint8, 256, 256), team), 0u);
}

}  // namespace
}  // namespace echoform::test
