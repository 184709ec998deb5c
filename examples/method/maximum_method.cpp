#include "maximum_method.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "config/key_types.hpp"
#include "maximum_stage.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/section.hpp"

using namespace echoform;

namespace {

struct MaximumSection {
  std::vector<std::string> views{"LL", "TT"};
  double weight = 1.0;
};

const MaximumSection& maximum(const Configuration& configuration) {
  return section<MaximumSection>(configuration);
}

constexpr std::string_view image_name = "maximum";

const Method& total_focusing() {
  return *find_method("tfm");
}

/// What the total focusing method is asked for.
Configuration with_views(Configuration configuration) {
  section<TfmSection>(configuration).views = maximum(configuration).views;
  return configuration;
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
  [[nodiscard]] std::vector<const StageKind*> own_stages() const override { return {&maximum_stage}; }

  void check(const Configuration& configuration, const Material& stated) const override {
    of_views([&] { total_focusing().check(with_views(configuration), stated); });
  }
  [[nodiscard]] std::vector<std::string> images(const Configuration& configuration) const override {
    const std::vector<std::string>& views = maximum(configuration).views;
    return {std::string(image_name), views[0], views[1]};
  }

  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingRequest& request) const override {
    const Configuration configuration = with_views(request.configuration);
    const auto views = of_views([&] {
      return total_focusing().resolve({.configuration = configuration,
                                       .acquisition = request.acquisition,
                                       .stated = request.stated,
                                       .frames_in_flight = request.frames_in_flight,
                                       .use = request.use,
                                       .settings_revision = request.settings_revision,
                                       .wish = request.wish,
                                       .crop = request.crop});
    });
    auto setup = extended(views, request.configuration);
    // That of the views had room; this one has a few images more.
    require_host_memory(request.configuration, *setup, request.frames_in_flight);
    return setup;
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& before, const Configuration& wanted,
                                                            std::uint64_t settings_revision) const override {
    const auto views = total_focusing().retuned(setup_of_views(before), with_views(wanted), settings_revision);
    return views ? extended(views, wanted) : nullptr;
  }

  void show_in_use(const ImagingSetup& setup, Configuration& asked) const override {
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

  /// The setup of the views with one image more, which comes first.
  static std::shared_ptr<const ImagingSetup> extended(const Views& views, const Configuration& configuration) {
    const MaximumSection& wanted = maximum(configuration);
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
    setup->of_method = views;
    return setup;
  }
  static const ImagingSetup& setup_of_views(const ImagingSetup& setup) { return *std::any_cast<const Views&>(setup.of_method); }
};

}  // namespace

std::unique_ptr<const Method> make_maximum_method() {
  return std::make_unique<MaximumMethod>();
}
