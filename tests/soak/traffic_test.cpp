// What a soak's sender does when a fault has left none behind: the run then ends, with the violation that was seen first.
#include "apps/soak/traffic.hpp"

#include <gtest/gtest.h>

#include "base/errors.hpp"

namespace echoform::soak {
namespace {

TEST(Stream, SendsNothingAndForetellsNothingWithoutASender) {
  Expectations expectations(true);
  Stream stream({}, {}, expectations);
  EXPECT_THROW(stream.send_frame(std::span<const std::byte>()), RuntimeFault);
  EXPECT_THROW(stream.send_shots({}), RuntimeFault);
  EXPECT_TRUE(expectations.expected().empty());
  EXPECT_EQ(stream.sequence(), 0U);
}

}  // namespace
}  // namespace echoform::soak
