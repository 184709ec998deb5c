// Measurements of doors that are not the project's own, at tiny sizes: what they come to is for the benchmarks to say.
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "benchmarks/micropulse.hpp"
#include "benchmarks/openigtlink.hpp"

namespace echoform::benchmarks {
namespace {

TEST(DoorBenchmarks, AMicropulseIsReadBothWays) {
  const MicropulseRates rates = measure_micropulse({.elements = 3, .samples = 50, .bytes_per_round = 100'000, .rounds = 2});
  EXPECT_EQ(rates.frame_bytes, 18U + 9 * (8 + 2 * 50));
  EXPECT_GT(rates.source.least, 0.0);
  EXPECT_GT(rates.bare.least, 0.0);
  EXPECT_EQ(rates.turns.order().size(), 4U);
  EXPECT_THROW(static_cast<void>(measure_micropulse({.elements = 257})), InputError);
  EXPECT_THROW(static_cast<void>(measure_micropulse({.samples = 8001})), InputError);
}

TEST(DoorBenchmarks, EveryClientOfOpenIgtlinkGetsEveryVolume) {
  const OpenIgtlinkRates rates = measure_openigtlink({.voxels = 8, .clients = 3, .volumes = 5, .rounds = 2});
  EXPECT_GT(rates.sink.least, 0.0);
  EXPECT_GT(rates.bare.least, 0.0);
  EXPECT_EQ(rates.turns.order().size(), 4U);
  EXPECT_THROW(static_cast<void>(measure_openigtlink({.clients = 0})), InputError);
}

}  // namespace
}  // namespace echoform::benchmarks
