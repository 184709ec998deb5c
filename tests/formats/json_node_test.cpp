// JSON of files: its limits, and that reading takes a time that grows with its length alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "base/errors.hpp"
#include "formats/json_node.hpp"
#include "formats/nde_setup.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::formats {
namespace {

std::string refusal_of(const std::string& text, const JsonLimits& limits = {}) {
  return test::input_error([&] { const JsonDocument document(text, "Setup", limits); });
}

/// "[{},{},...]", and what stands in each.
std::string many(std::size_t count, const std::string& one) {
  std::string text = "[";
  for (std::size_t k = 0; k < count; ++k) text.append(k == 0 ? "" : ",").append(one);
  return text + "]";
}

TEST(JsonDocument, HasLimits) {
  EXPECT_EQ(refusal_of("[[{\"a\": 1}]]", {.depth = 3}), "");
  EXPECT_EQ(refusal_of("[[{\"a\": []}]]", {.depth = 3}), "Setup: found JSON that is nested too deeply; expected at most 3 levels");
  EXPECT_EQ(refusal_of("[1, 2, 3]", {.values = 4}), "");
  EXPECT_EQ(refusal_of("[1, 2, 3, 4]", {.values = 4}), "Setup: found JSON of too many values; expected at most 4");
  EXPECT_EQ(refusal_of("{\"a\": 1, \"b\": 2}", {.values = 5}), "") << "names count";
  EXPECT_EQ(refusal_of("{\"a\": 1, \"b\": 2}", {.values = 4}), "Setup: found JSON of too many values; expected at most 4");
  EXPECT_EQ(refusal_of("[1, 2"), "Setup: found no JSON from byte 6 on; expected a JSON document");
  EXPECT_EQ(refusal_of("[1e999]"), "Setup: found JSON that cannot be read; expected a JSON document");
  EXPECT_EQ(refusal_of(""), "Setup: found no JSON from byte 1 on; expected a JSON document");
}

/// In a process of its own, which ends by SIGXCPU after a minute of the processor's time, whatever else runs beside it.
template <class Work>
[[noreturn]] void within_a_minute(const Work& work) {
  const rlimit minute{60, 60};
  ::setrlimit(RLIMIT_CPU, &minute);
  work();
  ::_exit(0);
}

// A second or two; where each object looks at all that came before it, hours.
constexpr std::size_t objects = 1'000'000;

TEST(JsonDocumentDeathTest, ManyObjectsInAListTakeTimeByTheirNumber) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto parse = [] {
    const JsonDocument document(many(objects, "{}"), "Setup");
    if (document.root().size() != objects) ::_exit(1);
  };
  EXPECT_EXIT(within_a_minute(parse), ::testing::ExitedWithCode(0), "");
}

TEST(NdeSetupDeathTest, ManyDatasetsAndProcessesTakeTimeByTheirNumber) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // Each dataset of A-scans asks which process it comes from, and none of them has a capture.
  const auto read = [] {
    const std::string setup =
        "{\"groups\": [{\"id\": 0, \"datasets\": " + many(objects / 4, "{\"dataClass\": \"AScanAmplitude\"}") +
        ", \"processes\": " + many(objects / 4, "{\"id\": 1}") + "}]}";
    try {
      static_cast<void>(read_nde_setup(setup, "Setup", 0, {}));
    } catch (const InputError&) {
      ::_exit(0);
    }
    ::_exit(1);
  };
  EXPECT_EXIT(within_a_minute(read), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace echoform::formats
