// What keeps files and libraries from doing harm: trials in a process of their own, files that appear whole.
#include <gmock/gmock.h>
#include <unistd.h>

#include "formats/atomic_file.hpp"
#include "formats/guarded_trial.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

TEST(GuardedTrial, ALibraryThatSleepsIsGivenUp) {
  const auto trial = [] {
    for (;;) ::pause();
  };
  EXPECT_EQ(input_error([&] { formats::try_in_child("x.mfmc", trial, {.wall_time = std::chrono::milliseconds(20)}); }),
            "x.mfmc: found damage that makes the library stand still; expected a whole file");
}

TEST(AtomicFile, WritesWhatALinkLeadsTo) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "far");
  save(scratch / "far/target", {1});
  std::filesystem::create_symlink("far/target", scratch / "link");
  std::filesystem::create_symlink("link", scratch / "link to link");
  const std::vector<std::byte> bytes(3, std::byte{7});
  write_file(scratch / "link to link", bytes);
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(load(scratch / "far/target"), std::vector<std::uint8_t>(3, 7));
  std::filesystem::create_symlink("far/new", scratch / "hanging");
  write_file(scratch / "hanging", bytes);
  EXPECT_EQ(load(scratch / "far/new"), std::vector<std::uint8_t>(3, 7));
  std::filesystem::create_symlink("circle", scratch / "circle");
  EXPECT_THAT(input_error([&] { write_file(scratch / "circle", bytes); }), HasSubstr("lead in a circle"));
}

}  // namespace
}  // namespace echoform::test
