#include "delay_laws/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string fault_of(std::string_view text) {
  return test::input_error([&] { static_cast<void>(parse_view(text)); });
}

TEST(View, TwoLettersAreOneLegASide) {
  const View view = parse_view("LT");
  EXPECT_EQ(view.transmit, "L");
  EXPECT_EQ(view.receive, "T");
  EXPECT_FALSE(view.skips());
  EXPECT_EQ(parse_view("L-T").name(), "LT");
}

TEST(View, ReceiveSideIsNamedInTheOrderOfTravel) {
  const View view = parse_view("LT-LTT");
  EXPECT_EQ(view.transmit, "LT");
  EXPECT_EQ(view.receive, "TTL") << "from the element inwards";
  EXPECT_TRUE(view.skips());
  EXPECT_EQ(view.name(), "LT-LTT");
}

TEST(View, AViewIsItsOwnReciprocalWhereBothWaysAreOne) {
  for (const char* name : {"LL", "TT", "LT-TL", "LL-LL", "LTT-TTL"})
    EXPECT_EQ(parse_view(name).transmit, parse_view(name).receive);
  for (const char* name : {"LT", "LT-LT", "LL-L", "TT-T"}) EXPECT_NE(parse_view(name).transmit, parse_view(name).receive);
}

TEST(View, AllSpellingsHaveOneName) {
  EXPECT_EQ(canonical_view_name("T-T"), "TT");
  EXPECT_EQ(canonical_view_name("TT-T"), "TT-T");
  EXPECT_EQ(canonical_view_name("elliptic"), "elliptic") << "other programs' laws have names of their own";
  EXPECT_TRUE(names_skip("L-LT"));
  EXPECT_FALSE(names_skip("L-T"));
  EXPECT_FALSE(names_skip("out-of-tree"));
}

TEST(View, BadNamesAreRefusedWithWhatIsExpected) {
  constexpr const char* expected =
      "; expected LL, LT, TL or TT, or the legs of both sides with a hyphen between them, such as TT-T, up to 3 a side";
  for (const char* bad : {"", "L", "LLL", "LX", "ll", "TTT", "L-X", "L-L-L", "L -T", "SS"}) {
    // Names of registered views follow.
    EXPECT_THAT(fault_of(bad), StartsWith(std::string("[imaging] views: found \"") + bad + "\"" + expected));
  }
  for (const char* bad : {"-", "-L", "LL-"}) EXPECT_THAT(fault_of(bad), HasSubstr("\", a side without legs; expected LL, LT"));
  EXPECT_THAT(fault_of("TTTT-T"), HasSubstr("found \"TTTT-T\", 4 legs on a side; expected"));
  EXPECT_THAT(fault_of("L-LLLLL"), HasSubstr("found \"L-LLLLL\", 5 legs on a side; expected"));
}

}  // namespace
}  // namespace echoform
