#include "settings/toml_depth.hpp"
#include "settings/reader.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "base/errors.hpp"
#include "config/configuration.hpp"
#include "settings/live_keys.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t k = 0; k < count; ++k) all += text;
  return all;
}

std::string line_of(const std::string& text) {
  return test::input_error([&] { static_cast<void>(parse_configuration(text, "deep.toml")); });
}

TEST(TomlDepth, KeysAndValuesThatNestTooDeepAreALineWhateverTheirSize) {
  // As many levels as the largest configuration holds: toml++ itself ends the program on them.
  constexpr std::size_t many = 500'000;
  for (const std::string& text : {
           "a" + times(many, ".a") + " = 1\n",
           "[a" + times(many, ".a") + "]\n",
           "[[a" + times(many, " . \"a\"") + "]]\n",
           "a = " + times(many, "[") + "\n",
           "a = " + times(many / 4, "{b=") + "\n",
           "a = " + times(many / 4, "[\n"),
       }) {
    const std::string lines = "# a comment\n\n" + text;
    EXPECT_THAT(line_of(lines), ::testing::StartsWith("deep.toml:")) << text.substr(0, 20);
    EXPECT_THAT(line_of(lines),
                ::testing::EndsWith(": found keys or values nested more than 16 levels deep; expected keys and values "
                                    "as docs/configuration.md lists them"));
  }
  EXPECT_THAT(line_of("\n\na" + times(16, ".a") + " = 1\n"), ::testing::StartsWith("deep.toml:3: found keys or values nested"));
}

TEST(TomlDepth, UpToTheLimitTheParserSpeaks) {
  EXPECT_FALSE(find_deep_toml("a" + times(deepest_toml - 1, ".a") + " = " + times(deepest_toml, "[") + times(deepest_toml, "]")));
  EXPECT_TRUE(find_deep_toml("a" + times(deepest_toml, ".a") + " = 1"));
  EXPECT_TRUE(find_deep_toml("a = " + times(deepest_toml + 1, "[")));
  EXPECT_THAT(line_of("a.b.c.d = 1"), ::testing::HasSubstr("the unknown section [a]"));
  EXPECT_THAT(line_of("[material]\nlongitudinal_velocity = [[[[1]]]]"), ::testing::HasSubstr("longitudinal_velocity"));
}

TEST(TomlDepth, StringsAndCommentsMayHoldWhatTheyLike) {
  const std::string marks = times(100, "[.{.");
  for (const std::string& text : {
           "# " + marks + " \" ' \"\"\"\n",
           "a = \"" + marks + "\\\"" + marks + "\\\\\" # " + marks + "\n",
           "a = '" + marks + "\\'\n",
           "a = \"\"\"\n" + marks + "\n\\\"\"\" \"\" '''" + marks + "\"\"\"\"\" # " + marks + "\n",
           "a = '''\n" + marks + "\n'' \"\"\"" + marks + "\\''''' # " + marks + "\n",
           "\"" + marks + "\".'" + marks + "' = \"\" # " + marks + "\n",
           times(100, "a = 1.5\n"),
           "a = [" + times(100, "1.5, ") + "]\n",
           "a = [\n" + times(100, "[0.1, -2.5e-3],\n") + "]\n",
           times(100, "[a.b]\n"),
       }) {
    EXPECT_EQ(find_deep_toml(text), std::nullopt) << text;
    // Each string ends where TOML says: what follows counts again.
    EXPECT_EQ(find_deep_toml(text + "\n" + times(17, "[")),
              2 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')))
        << text;
  }
}

TEST(TomlDepth, ValuesOfLiveKeysAreBoundedAsTheFileIs) {
  Configuration configuration;
  const std::vector<KeyChange> changes{{"grid.x", times(2000, "[") + times(2000, "]")}};
  EXPECT_THROW(apply_changes(changes, configuration), InputError);
}

}  // namespace
}  // namespace echoform
