#include "maximum_method.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "config/key_types.hpp"
#include "maximum_stage.hpp"
#include "methods/host_memory.hpp"
#include "methods/method_plan.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/section.hpp"

using namespace echoform;

namespace {

struct MaximumSection {
  std::vector<std::string> views{"LL", "TT"};
  double weight = 1.0;
};

const MaximumSection& maximum(const ImagingSettings& settings) {
  return section<MaximumSection>(settings);
}

constexpr std::string_view image_name = "maximum";

const Method& total_focusing() {
  return *find_method("tfm");
}

/// What the total focusing method is asked for: of settings, or of a task.
template <class Settings>
Settings with_views(Settings settings) {
  section<TfmSection>(settings).views = maximum(settings).views;
  return settings;
}
/// What it refuses of its views is told by the key in which they were written here.
template <class Ask>
auto of_views(const Ask& ask) {
  try {
    return ask();
  } catch (const InputError& error) {
    std::string line = error.what();
    constexpr std::string_view asked = "[imaging] views";
    if (const auto at = line.find(asked); at != std::string::npos) line.replace(at, asked.size(), "[maximum] views");
    throw InputError(line);
  }
}

class MaximumMethod final : public Method {
 public:
  [[nodiscard]] std::string_view name() const override { return "maximum"; }
  [[nodiscard]] std::string_view meaning() const override { return "of the envelopes of two views, each pixel's greater one"; }

  [[nodiscard]] std::vector<Section> sections() const override {
    return {{"maximum", "The method that shows the greater of two views' envelopes."}};
  }
  void add_keys(std::vector<Key>& all) const override {
    all.push_back(keys::text_list(
        {"maximum", "views", "", "The two views, as [imaging] views names them.", {}, LiveEffect::imaging}, 2, 2,
        [](auto& c) -> auto& { return section<MaximumSection>(c).views; }));
    // A retune of the stage: nothing is made anew.
    all.push_back(keys::number(
        {"maximum", "weight", "", "By which the second view's envelope counts.", {}, LiveEffect::display},
        keys::within(MaximumOptions::weights), [](auto& c) -> auto& { return section<MaximumSection>(c).weight; }));
  }
  [[nodiscard]] std::optional<std::vector<std::string_view>> reads() const override {
    auto keys = total_focusing().reads();
    keys->insert(keys->end(), {"imaging", "apodization", "!imaging.views"});
    return keys;
  }
  [[nodiscard]] std::vector<const StageKind*> own_stages() const override { return {&maximum_stage}; }
  [[nodiscard]] std::string whole_grids_alone(const ImagingSettings& settings) const override {
    return total_focusing().whole_grids_alone(settings);
  }

  void check(const ImagingSettings& settings, const Material& stated) const override {
    of_views([&] { total_focusing().check(with_views(settings), stated); });
  }
  [[nodiscard]] std::vector<std::string> images(const ImagingSettings& settings) const override {
    const std::vector<std::string>& views = maximum(settings).views;
    return {std::string(image_name), views[0], views[1]};
  }

  [[nodiscard]] TaskRules rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use) const override {
    return total_focusing().rules(settings, stated, use);
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const override {
    ImagingTask of_two = with_views(task);
    // Of the room the greater one takes a float a pixel, and what is shown of it.
    of_two.besides += 5.0 * static_cast<double>(task.frames_in_flight * task.grid.pixels.all());
    auto setup = extended(of_views([&] { return total_focusing().resolve(of_two); }), task);
    static_cast<void>(settle_groups(task, *setup));  // as the views' own, whole or by groups: there is room
    return setup;
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& before, const ImagingSettings& wanted,
                                                            std::uint64_t settings_revision) const override {
    const auto views = total_focusing().retuned(setup_of_views(before), with_views(wanted), settings_revision);
    return views ? extended(views, wanted) : nullptr;
  }

  void show_in_use(const ImagingSetup& setup, ImagingSettings& asked) const override {
    total_focusing().show_in_use(setup_of_views(setup), asked);
  }
  [[nodiscard]] SetupReport report(const ImagingSetup& setup) const override {
    return total_focusing().report(setup_of_views(setup));
  }
  [[nodiscard]] std::vector<std::string> image_warnings(const ImagingSetup& setup) const override {
    return total_focusing().image_warnings(setup_of_views(setup));
  }
  [[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration) const override {
    return of_views([&] { return total_focusing().simulated_source(with_views(configuration)); });
  }

 private:
  using Views = std::shared_ptr<const ImagingSetup>;
  struct OfViews : SetupOrigin {
    explicit OfViews(Views of) : views(std::move(of)) {}
    Views views;
  };

  /// The setup of the views with one image more, which comes first.
  static std::shared_ptr<const ImagingSetup> extended(const Views& views, const ImagingSettings& settings) {
    const MaximumSection& wanted = maximum(settings);
    auto setup = std::make_shared<ImagingSetup>(*views);
    Recipe& recipe = setup->recipe;
    const auto envelope = [&](const std::string& view) {
      return recipe.outputs[recipe.find(view, OutputKind::envelope).value()].block;
    };
    const std::size_t greater =
        recipe.add(maximum_stage, MaximumOptions{wanted.weight}, {envelope(wanted.views[0]), envelope(wanted.views[1])});
    const auto outputs = static_cast<std::ptrdiff_t>(recipe.outputs.size());
    add_image_like(recipe, wanted.views[0], std::string(image_name), greater);
    std::rotate(recipe.outputs.begin(), recipe.outputs.begin() + outputs, recipe.outputs.end());
    setup->method = "maximum";
    setup->origin = std::make_shared<OfViews>(views);
    return setup;
  }
  static const ImagingSetup& setup_of_views(const ImagingSetup& setup) { return *plan_as<OfViews>(setup).views; }
};

}  // namespace

std::unique_ptr<const Method> make_maximum_method() {
  return std::make_unique<MaximumMethod>();
}
