// What ends the program before its commands begin.
#include "apps/program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "apps/doors.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/view_kind.hpp"

namespace echoform {
namespace {

/// As a main() does it, whose exceptions nobody catches: a thread, since the test's own function does.
void register_in_main(const std::function<void()>& registration) {
  std::thread(registration).join();
}

class ProgramDeathTest : public testing::Test {
 protected:
  // A process of its own has a standard error of its own.
  ProgramDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProgramDeathTest, ANameThatIsTakenWhenMainRegistersItIsOneLineAndWrongInput) {
  const testing::ExitedWithCode wrong_input(2);
  EXPECT_EXIT(register_in_main([] { add_sink_door({.label = "viewer", .make = {}}); }), wrong_input,
              "^echoform: .*\"viewer\".*\n$");
  EXPECT_EXIT(register_in_main([] { add_source_door({.label = "", .make = {}}); }), wrong_input, "^echoform: .*\n$");
  EXPECT_EXIT(register_in_main([] { add_delay_law("contact", {}); }), wrong_input, "^echoform: .*\"contact\".*\n$");
  EXPECT_EXIT(register_in_main([] { add_view_kind({"LL", "a view", {}}); }), wrong_input, "^echoform: .*\"LL\".*\n$");
}

TEST_F(ProgramDeathTest, AFaultThatIsNoInputEndsItAsEver) {
  EXPECT_EXIT(register_in_main([] { throw std::logic_error("a mistake of ours"); }), testing::KilledBySignal(SIGABRT), "");
}

TEST_F(ProgramDeathTest, AnUnknownCommandIsOneLine) {
  const auto run = [] {
    std::string words[] = {"echoform", "nonsense"};
    char* arguments[] = {words[0].data(), words[1].data(), nullptr};
    std::exit(run_program(2, arguments));
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(2), "^echoform: found \"nonsense\", which echoform does not know");
}

}  // namespace
}  // namespace echoform
