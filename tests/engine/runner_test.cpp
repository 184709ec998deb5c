// Recipes of stages that exist nowhere else: what the runner makes of them on the CPU.
#include "engines/runner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "engines/after_images.hpp"
#include "pipeline/recipe_memory.hpp"
#include "pipeline/words.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

struct Weights {
  std::vector<float> of_inputs;
  bool operator==(const Weights&) const = default;
};

/// The weighted sum of any number of float32 blocks; tells the last weight as its reference, and what it is resumed from as
/// known.
class WeightedSum final : public Stage {
 public:
  explicit WeightedSum(Weights weights) : weights_(std::move(weights)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    if (inputs.size() != weights_.of_inputs.size()) throw InputError("weighted-sum stage, inputs", "others", "one a weight");
    spec_ = inputs[0];
    return spec_;
  }
  void process(const InputBlocks& inputs, Block output, ExecutionQueue& /*queue*/) noexcept override {
    for (std::size_t n = 0; n < spec_.rows * spec_.columns; ++n) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < weights_.of_inputs.size(); ++k) sum += weights_.of_inputs[k] * inputs[k].as<float>()[n];
      output.as<float>()[n] = sum;
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 1000; }
  [[nodiscard]] StageFacts facts() const noexcept override {
    return {.quality = {}, .reference = ShownReference{weights_.of_inputs.back(), known_}};
  }
  void resume(const StageFacts& facts) noexcept override { known_ = facts.reference->known; }
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<Weights>().of_inputs;
    if (!wanted.empty() && wanted.front() < 0.0F) throw InputError("weighted-sum stage, weight", "below 0", "0 or more");
    return wanted.size() == weights_.of_inputs.size();
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override { weights_ = options.as<Weights>(); }

 private:
  Weights weights_;
  float known_ = 0.0F;
  BlockSpec spec_;
};

const StageKind weighted_sum{"weighted-sum",
                             [](const StageOptions& options, Backend& /*backend*/) -> std::unique_ptr<Stage> {
                               return std::make_unique<WeightedSum>(options.as<Weights>());
                             },
                             nullptr,
                             [](const StageOptions& /*options*/, const InputSpecs& inputs, const StageSite& site) {
                               StageStatement statement{inputs[0], {}};
                               (site.backend == BackendKind::cuda ? statement.memory.device : statement.memory.host) = 1000;
                               statement.memory.of_pixels = 300;
                               return statement;
                             }};

constexpr std::size_t values = 6;

BlockSpec samples() {
  BlockSpec spec;
  spec.rows = 2;
  spec.columns = 3;
  return spec;
}

Grid grid() {
  return {{Metres(0.0), Metres(1.0), 3}, {Metres(0.0), Metres(1.0), 2}, {}};
}

/// (2 s) -> a, (3 a + 5 s) -> b; outputs b and a.
Recipe diamond() {
  Recipe recipe;
  const std::size_t a = recipe.add(weighted_sum, Weights{{2.0F}}, {0});
  const std::size_t b = recipe.add(weighted_sum, Weights{{3.0F, 5.0F}}, {a, 0});
  recipe.outputs.push_back({{"b", OutputKind::envelope, grid()}, b, b});
  recipe.outputs.push_back({{"a", OutputKind::envelope, grid()}, a, 0});
  return recipe;
}

class RunnerTest : public testing::Test {
 protected:
  /// Runs `runner` for samples 0, 1, 2 ... into memory of its own for every result; the value at 1 of `block`.
  float run(Runner& runner, std::size_t block, std::vector<std::string>* names = nullptr) {
    std::vector<float> raw(values);
    for (std::size_t n = 0; n < values; ++n) raw[n] = static_cast<float>(n);
    std::vector<std::vector<float>> results(runner.steps() + 1, std::vector<float>(values, -1.0F));
    std::vector<void*> places = runner.places();
    places[0] = raw.data();
    for (std::size_t k = 1; k < places.size(); ++k) {
      if (runner.is_result(k)) places[k] = results[k].data();
    }
    runner.run(places, *queue_, [&](std::size_t step, const auto& work) {
      if (names != nullptr) names->emplace_back(runner.name(step));
      work();
    });
    return static_cast<const float*>(places[block])[1];
  }

  std::unique_ptr<Backend> backend_ = make_cpu_backend(1, false);
  std::unique_ptr<ExecutionQueue> queue_ = backend_->make_queue();
};

TEST(RecipeOfMore, ShowsAnImageAsAnotherIsShown) {
  // s -> image -> envelope -> compressed -> shown, and another way from s.
  Recipe recipe;
  const std::size_t image = recipe.add(weighted_sum, Weights{{2.0F}}, {0});
  const std::size_t envelope = recipe.add(weighted_sum, Weights{{3.0F}}, {image});
  const std::size_t compressed = recipe.add(weighted_sum, Weights{{5.0F}}, {envelope});
  const std::size_t shown = recipe.add(weighted_sum, Weights{{7.0F, 1.0F}}, {compressed, image});
  recipe.outputs = {{{"a", OutputKind::complex_image, grid()}, image, compressed},
                    {{"a", OutputKind::envelope, grid()}, envelope, compressed},
                    {{"a", OutputKind::display, grid()}, shown, compressed}};
  const std::size_t other = recipe.add(weighted_sum, Weights{{11.0F, 1.0F}}, {envelope, image});
  add_image_like(recipe, "a", "b", other);
  ASSERT_EQ(recipe.steps.size(), 7U);
  EXPECT_EQ(recipe.steps[5], (Step{&weighted_sum, Weights{{5.0F}}, {other}}));
  EXPECT_EQ(recipe.steps[6], (Step{&weighted_sum, Weights{{7.0F, 1.0F}}, {6, image}}));
  ASSERT_EQ(recipe.outputs.size(), 5U) << "there is no complex image behind the envelope";
  EXPECT_EQ(recipe.outputs[3], (RecipeOutput{{"b", OutputKind::envelope, grid()}, other, 6}));
  EXPECT_EQ(recipe.outputs[4], (RecipeOutput{{"b", OutputKind::display, grid()}, 7, 6}));
  EXPECT_NO_THROW(validate(recipe, "here"));
  EXPECT_THROW(add_image_like(recipe, "c", "d", other), std::logic_error);
}

/// Images a and b of samples, c = 3 a + 5 b, d = 7 c; of a, c and d 11 times as much is shown.
Recipe of_two() {
  Recipe recipe;
  const std::size_t a = recipe.add(weighted_sum, Weights{{2.0F}}, {0});
  const std::size_t b = recipe.add(weighted_sum, Weights{{4.0F}}, {0});
  recipe.outputs = {{{"a", OutputKind::envelope, grid()}, a, 0}, {{"b", OutputKind::envelope, grid()}, b, 0}};
  const std::size_t c = recipe.add(weighted_sum, Weights{{3.0F, 5.0F}}, {a, b});
  const std::size_t d = recipe.add(weighted_sum, Weights{{7.0F}}, {c});
  for (const auto& [view, block] : {std::pair{"a", a}, std::pair{"c", c}, std::pair{"d", d}}) {
    const std::size_t shown = recipe.add(weighted_sum, Weights{{11.0F}}, {block});
    if (block != a) recipe.outputs.push_back({{view, OutputKind::envelope, grid()}, block, shown});
    recipe.outputs.push_back({{view, OutputKind::display, grid()}, shown, shown});
  }
  return recipe;
}

TEST(RecipeOfMore, TellsImagesOfTheirOwnFromThoseThatAreMadeOfOthers) {
  EXPECT_EQ(views_of_their_own(of_two()), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(views_of_their_own(diamond()), (std::vector<std::string_view>{"b", "a"})) << "b is of samples too";
}

TEST(RecipeOfImages, AreCalledSoThatStreamsAndFilesCanBe) {
  Recipe recipe;
  const std::size_t image = recipe.add(weighted_sum, Weights{{2.0F}}, {0});
  for (const char* good : {"LL", "TT-T", "m_mode", "750nm", "730.5nm", "0.25"}) {
    recipe.outputs = {{{good, OutputKind::envelope, grid()}, image, image}};
    EXPECT_NO_THROW(validate(recipe, "here")) << good;
  }
  for (const char* bad : {"", "a b", "LL.display", "..", ".5nm", "730.", "a/b", "7..5nm", "1e+06nm"}) {
    recipe.outputs = {{{bad, OutputKind::envelope, grid()}, image, image}};
    EXPECT_THROW(validate(recipe, "here"), InputError) << bad;
  }
}

TEST_F(RunnerTest, HandsEveryStepTheBlocksThatItsRecipeNames) {
  Runner runner(diamond(), samples(), *backend_);
  runner.allocate_blocks();
  std::vector<std::string> names;
  EXPECT_EQ(run(runner, 2, &names), 11.0F) << "3 * 2 + 5";
  EXPECT_EQ(run(runner, 1), 2.0F);
  EXPECT_EQ(names, (std::vector<std::string>{"weighted-sum", "weighted-sum"}));
  EXPECT_EQ(runner.stage(1).facts().reference->shown, 5.0F);
}

TEST_F(RunnerTest, MakesImagesOfThoseThatAreThere) {
  const Recipe recipe = of_two();
  const std::vector<std::string> given{"a", "b"};
  std::vector<std::vector<float>> images{{1.0F, 10.0F}, {2.0F, 20.0F}};
  for (auto& image : images) image.resize(values);
  const auto made = [&](std::string_view view, bool displays) {
    const AfterImages after = after_images(recipe, given, view, displays);
    Runner runner(after.recipe, samples(), *backend_);
    runner.allocate_blocks();
    std::vector<std::vector<float>> results(after.outputs.size(), std::vector<float>(values));
    std::vector<void*> places = runner.places();
    for (std::size_t k = 0; k < after.images.size(); ++k) places[k + 1] = images[after.images[k]].data();
    std::vector<std::pair<std::size_t, float>> values_at_1;
    for (std::size_t k = 0; k < results.size(); ++k) {
      places[after.recipe.outputs[after.images.size() + k].block] = results[k].data();
    }
    runner.run(places, *queue_, [](std::size_t, const auto& work) { work(); });
    for (std::size_t k = 0; k < results.size(); ++k) values_at_1.emplace_back(after.outputs[k], results[k][1]);
    return values_at_1;
  };
  using Made = std::vector<std::pair<std::size_t, float>>;  // outputs of the recipe, in its order
  EXPECT_EQ(made("a", true), (Made{{2, 110.0F}}));
  EXPECT_EQ(made("a", false), Made());
  EXPECT_EQ(made("b", true), Made());
  EXPECT_EQ(made("c", true), (Made{{3, 130.0F}, {4, 1430.0F}})) << "3 * 10 + 5 * 20, and 11 times that";
  EXPECT_EQ(made("c", false), (Made{{3, 130.0F}}));
  EXPECT_EQ(made("d", false), (Made{{5, 910.0F}}));
  EXPECT_EQ(after_images(recipe, given, "c", true).recipe.outputs.back().reference_block, 4U) << "two images, c, what is shown";
  EXPECT_THROW(static_cast<void>(after_images(recipe, {"a"}, "c", false)), std::logic_error) << "b is not there";
}

TEST_F(RunnerTest, TakesMemoryForBlocksThatNobodyReadsAndLeavesResultsToTheFrame) {
  Recipe recipe = diamond();
  recipe.outputs.pop_back();
  Runner runner(recipe, samples(), *backend_);
  EXPECT_EQ(runner.bytes(), 2000u);
  runner.allocate_blocks();
  EXPECT_EQ(runner.bytes(), 2000u + values * sizeof(float));
  EXPECT_NE(runner.places()[1], nullptr);
  EXPECT_EQ(runner.places()[2], nullptr);
  EXPECT_EQ(run(runner, 2), 11.0F);
}

TEST_F(RunnerTest, RunsEqualStepsOnce) {
  Recipe recipe = diamond();
  EXPECT_EQ(recipe.add(weighted_sum, Weights{{2.0F}}, {0}), 1u) << "the step that is there";
  EXPECT_EQ(recipe.add(weighted_sum, Weights{{2.0F}}, {2}), 3u) << "of another block";
  EXPECT_EQ(recipe.add(weighted_sum, Weights{{2.5F}}, {0}), 4u) << "with other options";
  EXPECT_EQ(recipe.steps.size(), 4u);
}

TEST_F(RunnerTest, RetunesStepsThatDifferAndRefusesWhatTheyRefuse) {
  Runner runner(diamond(), samples(), *backend_);
  runner.allocate_blocks();
  Recipe wanted = diamond();
  wanted.steps[0].options = Weights{{4.0F}};
  ASSERT_TRUE(runner.retune(wanted, *queue_));
  EXPECT_EQ(run(runner, 2), 17.0F) << "3 * 4 + 5";

  Recipe other_inputs = wanted;
  other_inputs.steps[1].inputs = {0, 1};
  EXPECT_FALSE(runner.retune(other_inputs, *queue_));
  Recipe other_outputs = wanted;
  other_outputs.outputs.pop_back();
  EXPECT_FALSE(runner.retune(other_outputs, *queue_));
  Recipe half_accepted = wanted;
  half_accepted.steps[0].options = Weights{{9.0F}};
  half_accepted.steps[1].options = Weights{{1.0F}};  // one weight for two inputs
  EXPECT_FALSE(runner.retune(half_accepted, *queue_));
  Recipe wrong = wanted;
  wrong.steps[0].options = Weights{{9.0F}};
  wrong.steps[1].options = Weights{{-1.0F, 0.0F}};
  EXPECT_THROW(static_cast<void>(runner.retune(wrong, *queue_)), InputError);
  EXPECT_EQ(run(runner, 2), 17.0F) << "nothing changed";
}

TEST_F(RunnerTest, NotesWhatStagesFoundOutAndGoesOnFromAnothersReference) {
  Runner runner(diamond(), samples(), *backend_);
  FrameSlot slot;
  slot.outputs.resize(2);
  slot.outputs[1].reference = 9.0F;
  slot.clipped_samples = 3;
  runner.note_facts(slot);
  EXPECT_EQ(slot.outputs[0].reference, 5.0F) << "the last weight of b";
  EXPECT_EQ(slot.outputs[1].reference, 9.0F) << "no step tells that of a";
  EXPECT_EQ(slot.clipped_samples, 0u) << "no step tells the quality";
  EXPECT_EQ(runner.reference(0), 0.0F);

  runner.resume(0, 7.0F);
  runner.note_facts(slot);
  EXPECT_EQ(runner.reference(0), 7.0F);
  for (const float useless : {0.0F, -1.0F}) runner.resume(0, useless);
  for (const std::size_t output : {1u, 2u}) runner.resume(output, 8.0F);
  runner.note_facts(slot);
  EXPECT_EQ(runner.reference(0), 7.0F);

  const ShownReference copies[] = {{6.0F, 4.0F}, {3.0F, 2.0F}};
  runner.note_facts(slot, {11, 12}, copies);
  EXPECT_EQ(slot.clipped_samples, 11u);
  EXPECT_EQ(slot.invalid_samples, 12u);
  EXPECT_EQ(slot.outputs[0].reference, 6.0F);
  EXPECT_EQ(slot.outputs[1].reference, 9.0F);
  EXPECT_EQ(runner.reference(0), 4.0F);
  for (const std::size_t output : {1u, 2u}) EXPECT_EQ(runner.reference(output), 0.0F);
}

TEST_F(RunnerTest, RefusesStagesThatTheBackendDoesNotHave) {
  Recipe recipe;
  const StageKind nowhere{"nowhere", nullptr, nullptr, nullptr};
  recipe.add(nowhere, {}, {0});
  const std::string line = test::input_error([&] { const Runner runner(recipe, samples(), *backend_); });
  EXPECT_NE(line.find("nowhere stage"), std::string::npos) << line;
}

TEST(RecipeMemory, AddsUpWhatStagesStateAndTheBlocksBetweenThem) {
  const Recipe whole = diamond();
  const std::size_t block = values * sizeof(float);
  const RecipeMemory host = recipe_memory(whole, samples(), 77, {BackendKind::cpu});
  EXPECT_EQ(host.host(3), 2000 + 3 * (77 + 2 * block));
  EXPECT_EQ(host.device(3), 0u);
  Recipe last = whole;
  last.outputs.pop_back();
  EXPECT_EQ(recipe_memory(last, samples(), 77, {BackendKind::cpu}).host(2), 2000 + block + 2 * (77 + block));

  const RecipeMemory device = recipe_memory(last, samples(), 77, {BackendKind::cuda});
  EXPECT_EQ(device.host(2), 2 * (77 + block));
  EXPECT_EQ(device.device(2), 2000 + block + 2 * (samples().bytes() + block));
  EXPECT_EQ(device.pixels_shared, 2 * 300 + block) << "tables of both steps, and the block between them is an image";
  EXPECT_EQ(device.pixels_of_slot, block);
  // Slots of their own sizes: what is shared is taken once.
  EXPECT_EQ(device.device(5) - device.device(2), 3 * (samples().bytes() + block));
  EXPECT_EQ(host.host(5) - host.host(2), 3 * (77 + 2 * block));

  // Two outputs of one block: once on the device, twice on the host.
  Recipe twice = last;
  twice.outputs.push_back({{"c", OutputKind::envelope, grid()}, 2, 2});
  EXPECT_EQ(recipe_memory(twice, samples(), 77, {BackendKind::cuda}).device(1), 2000 + block + samples().bytes() + block);
  EXPECT_EQ(recipe_memory(twice, samples(), 77, {BackendKind::cuda}).host(1), 77 + 2 * block);
  EXPECT_EQ(recipe_memory(twice, samples(), 77, {BackendKind::cuda}).pixels_of_slot, block);
}

TEST(RecipeMemory, GrowsWithThePixelsByBlocksThatHaveTheShapeOfSomeImage) {
  // The blocks have 2 rows of 3. Those between the steps are no images where no output has such a grid.
  const std::size_t block = values * sizeof(float);
  const auto shared = [](const Grid& shown) {
    Recipe recipe = diamond();
    recipe.outputs.pop_back();
    recipe.outputs.front().description.grid = shown;
    return recipe_memory(recipe, samples(), 77, {BackendKind::cuda}).pixels_shared;
  };
  const auto of = [](std::size_t x, std::size_t z, std::size_t y = 1) {
    return Grid{{Metres(0.0), Metres(1.0), x}, {Metres(0.0), Metres(1.0), z}, {Metres(0.0), Metres(1.0), y}};
  };
  const std::size_t tables = 2 * 300;
  EXPECT_EQ(shared(of(3, 2)), tables + block);
  EXPECT_EQ(shared(of(3, 1, 2)), tables + block) << "a volume's rows are those of all its slices";
  for (const Grid& other : {of(2, 3), of(3, 3), of(6, 2), of(3, 2, 2), of(3, 1)}) EXPECT_EQ(shared(other), tables);
  // The second output's grid counts as well; received samples of the same shape do not.
  Recipe recipe = diamond();
  recipe.outputs.front().description.grid = of(6, 2);
  recipe.add(weighted_sum, Weights{{7.0F}}, {2});
  const RecipeMemory memory = recipe_memory(recipe, samples(), 77, {BackendKind::cuda});
  EXPECT_EQ(memory.pixels_shared, 3 * 300 + block) << "of the step that no output shows";
  EXPECT_EQ(memory.device_blocks, block);
  EXPECT_EQ(memory.device_stages, 3000U);
  EXPECT_EQ(memory.pixels_of_slot, 2 * block);
}

}  // namespace
}  // namespace echoform
