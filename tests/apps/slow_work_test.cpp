#include "apps/slow_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/captured_log.hpp"
#include "tests/support/eventually.hpp"

namespace echoform::test {
namespace {

using std::chrono_literals::operator""ms;
using testing::IsEmpty;

/// Waits for a line of the log with `text` in it.
bool comes(const CapturedLog& log, const std::string& text) {
  return eventually([&] { return log.text().find(text) != std::string::npos; });
}

TEST(SlowWork, SaysWhatIsDoneAndHowFarItIs) {
  const CapturedLog log;
  SlowWork work("synthesising frames", {.first = 1ms, .factor = 1.5});
  EXPECT_TRUE(comes(log, "synthesising frames after 0 s"));
  work.done(3, 41);
  EXPECT_TRUE(comes(log, "synthesising frames: 3 of 41 after "));
  work.begin("imaging");
  EXPECT_TRUE(comes(log, "imaging after "));
}

TEST(SlowWork, SaysNothingOfWorkThatIsSoonOver) {
  const CapturedLog log;
  { const SlowWork work("synthesising frames", {.first = std::chrono::hours(1), .factor = 2.0}); }
  EXPECT_THAT(log.text(), IsEmpty());
}

}  // namespace
}  // namespace echoform::test
