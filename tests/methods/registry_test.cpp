// Methods by name, and what the program asks of whichever a configuration names.
#include "methods/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/errors.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/setup_memory.hpp"
#include "settings/key_table.hpp"
#include "settings/live_keys.hpp"
#include "settings/reader.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const StageKind plain_stage{.name = "plain"};

struct OtherSection {
  double weight = 1.0;
};

/// A method of another program, so far as names and keys go.
class OtherMethod final : public Method {
 public:
  explicit OtherMethod(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view meaning() const override { return "for this test"; }
  [[nodiscard]] std::vector<const StageKind*> own_stages() const override { return {&plain_stage}; }
  [[nodiscard]] std::vector<std::string> images(const ImagingSettings& /*settings*/) const override { return {"one"}; }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& /*task*/) const override { return nullptr; }
  [[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& /*configuration*/) const override { return {}; }

 private:
  std::string name_;
};

TEST(Methods, AreFoundByName) {
  const Configuration configuration;
  EXPECT_EQ(method_of(configuration).name(), configuration.imaging.method) << "the default is there";
  std::set<std::string_view> names;
  for (const auto& method : methods()) {
    EXPECT_TRUE(names.insert(method->name()).second);
    EXPECT_EQ(find_method(method->name()), method.get());
    EXPECT_FALSE(method->meaning().empty());
    EXPECT_FALSE(method->images(configuration).empty());
  }
  EXPECT_EQ(find_method("tomography2"), nullptr);
}

TEST(Methods, ThatAreNotThereAreRefusedWithThoseThatAre) {
  EXPECT_EQ(test::input_error([] { static_cast<void>(parse_configuration("[imaging]\nmethod = \"tfm2\"\n", "scan.toml")); }),
            "scan.toml:2: [imaging] method: found \"tfm2\"; expected one of tfm, beams, tomography");
  Configuration configuration;
  configuration.file = "scan.toml";
  configuration.imaging.method = "tfm2";
  EXPECT_EQ(test::input_error([&] { static_cast<void>(method_of(configuration)); }),
            "scan.toml: [imaging] method: found \"tfm2\"; expected one of tfm, beams, tomography");
}

TEST(Methods, HaveANameOfTheirOwn) {
  EXPECT_THAT(test::input_error([] { add_method(std::make_unique<OtherMethod>("tfm")); }), HasSubstr("found the name \"tfm\""));
  EXPECT_THAT(test::input_error([] { add_method(std::make_unique<OtherMethod>("")); }), HasSubstr("found the name \"\""));
}

TEST(Methods, WithAStageForTheCpuAloneAreNotChosenForAGpu) {
  const OtherMethod method("other");
  EXPECT_EQ(why_not_on_gpu(method), "the stage plain of the method other is for the CPU alone");
  Configuration configuration;
  configuration.imaging.backend = BackendWish::cuda;
  EXPECT_NO_THROW(require_backend(configuration)) << "those of the tree have every stage";
}

TEST(Methods, HaveTheirAdaptiveWeightsOnAGpu) {
#ifndef ECHOFORM_WITH_CUDA
  GTEST_SKIP() << "a build without CUDA code";
#endif
  for (const char* const kind : {"none", "coherence_factor", "generalised_coherence_factor", "phase_coherence_factor",
                                 "sign_coherence_factor", "short_lag_spatial_coherence", "capon"}) {
    const std::string adaptive = "adaptive = \"" + std::string(kind) + "\"\n";
    EXPECT_EQ(why_not_on_gpu(parse_configuration("[imaging]\n" + adaptive, "scan.toml")), "") << kind;
    EXPECT_EQ(why_not_on_gpu(parse_configuration("[imaging]\nmethod = \"beams\"\n[beams]\n" + adaptive, "scan.toml")), "")
        << kind;
  }
}

TEST(Methods, HaveKeysThatAreRowsOfTheTable) {
  for (const auto& method : methods()) {
    std::vector<Key> own;
    method->add_keys(own);
    for (const Key& key : own) EXPECT_NE(find_key(key.section, key.name), nullptr) << key.path();
    for (const Section& section : method->sections()) {
      EXPECT_EQ(nearest_section(section.name).name, section.name);
    }
  }
  const Key* const key = find_key("imaging", "method");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->live, LiveEffect::imaging);
  EXPECT_EQ(live_key("imaging.method").words.size(), methods().size());
}

TEST(Keys, AreBroughtAlongBeforeTheTableIsUsed) {
  static_cast<void>(configuration_keys());
  EXPECT_THROW(add_keys({}), std::logic_error);
}

TEST(Methods, SectionsOfTheirsAreKeptByValue) {
  Configuration configuration;
  const Configuration& read = configuration;
  EXPECT_EQ(section<OtherSection>(read).weight, 1.0) << "untouched";
  section<OtherSection>(configuration).weight = 0.5;
  const Configuration copy = configuration;
  section<OtherSection>(configuration).weight = 0.25;
  EXPECT_EQ(section<OtherSection>(copy).weight, 0.5);
  EXPECT_EQ(section<OtherSection>(read).weight, 0.25);
}

TEST(Methods, SetupsOfOthersAreNotMistakenForTheirs) {
  ImagingSetup strange;
  EXPECT_THROW(static_cast<void>(plan_of(strange)), std::logic_error);
  strange.origin = std::make_shared<const MethodPlan>();
  EXPECT_THROW(static_cast<void>(plan_of(strange)), std::logic_error);
}

}  // namespace
}  // namespace echoform
