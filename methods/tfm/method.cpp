// The total focusing method, with the interface that the program uses.
#include "methods/method.hpp"
#include "methods/display_settings.hpp"

#include <fmt/format.h>

#include <optional>

#include "methods/filter_settings.hpp"
#include "methods/flow.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/keys.hpp"
#include "methods/tfm/reached.hpp"
#include "methods/tfm/report.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "methods/tfm/standing_check.hpp"

namespace echoform {
namespace {

class TfmMethod final : public Method {
 public:
  [[nodiscard]] std::string_view name() const override { return tfm_name; }
  [[nodiscard]] std::string_view meaning() const override {
    return "the total focusing method, every pixel in focus on both ways: of single elements, plane and diverging waves, beams";
  }

  [[nodiscard]] std::vector<Section> sections() const override { return tfm_sections(); }
  void add_keys(std::vector<Key>& keys) const override { add_tfm_keys(keys); }

  [[nodiscard]] std::optional<std::vector<std::string_view>> reads() const override {
    return {{"material", "couplant", "surface", "backwall", "grid", "filter", "output", "display", "scan", "probe", "acquisition",
             "doppler"}};
  }

  [[nodiscard]] std::string for_the_cpu_alone(const ImagingSettings& settings) const override {
    const AdaptiveKind& kind = adaptive_kind(tfm(settings).adaptive.kind, "[imaging] adaptive");
    return is_on_cuda(kind) ? std::string() : fmt::format("[imaging] adaptive = \"{}\"", kind.name);
  }

  [[nodiscard]] std::string whole_grids_alone(const ImagingSettings& settings) const override {
    const AdaptiveOptions& adaptive = tfm(settings).adaptive;
    // Both use neighbouring pixels along z.
    if (wants_flow(settings)) return "[doppler] pulse_repetition";
    if (adaptive.kind != AdaptiveOptions().kind) return fmt::format("[imaging] adaptive = \"{}\"", adaptive.kind);
    // With this setting only the samples that the pixels reach are kept.
    return tfm(settings).crop == CropWish::always ? "[imaging] crop = \"always\"" : "";
  }

  void check(const ImagingSettings& settings, const Material& stated) const override { check_without_data(settings, stated); }
  [[nodiscard]] std::vector<std::string> images(const ImagingSettings& settings) const override {
    std::vector<std::string> images = tfm(settings).views;
    if (!wants_flow(settings)) return images;
    for (const std::string_view image : {velocity_image, power_image, variance_image}) images.emplace_back(image);
    return images;
  }

  [[nodiscard]] TaskRules rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use) const override {
    return tfm_rules(settings, stated, use);
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const override {
    return make_imaging_setup(build_plan(task));
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& before, const ImagingSettings& wanted,
                                                            std::uint64_t settings_revision) const override {
    return retuned_setup<ImagingPlan>(before, wanted, settings_revision, make_imaging_setup);
  }

  void show_in_use(const ImagingSetup& setup, ImagingSettings& asked) const override {
    const ImagingPlan& plan = plan_of(setup);
    const auto velocity = [](MetresPerSecond value) {
      return value.value > 0.0 ? std::optional<MetresPerSecond>(value) : std::nullopt;
    };
    asked.material.longitudinal_velocity = velocity(plan.material.longitudinal_velocity);
    asked.material.shear_velocity = velocity(plan.material.shear_velocity);
    asked.grid.x = {plan.grid.x.first, plan.grid.x.last};
    asked.grid.z = {plan.grid.z.first, plan.grid.z.last};
    asked.grid.y = {plan.grid.y.first, plan.grid.y.last};
    if (plan.grid.y.count == 1) {
      const Grid& shown = plan.display_grid.value_or(plan.grid);
      section<DisplaySection>(asked).x = {shown.x.first, shown.x.last};
      section<DisplaySection>(asked).z = {shown.z.first, shown.z.last};
      section<DisplaySection>(asked).pixels = {shown.x.count, shown.z.count};
    }
    if (plan.doppler) doppler(asked).frequency = plan.doppler->frequency;
    asked.acquisition.time_offset = plan.acquisition.time_offset;
    section<FilterSection>(asked) = filter_in_use(section<FilterSection>(asked), plan.filter);
  }

  [[nodiscard]] SetupReport report(const ImagingSetup& setup) const override { return report_plan(plan_of(setup)); }

  [[nodiscard]] std::vector<std::string> image_warnings(const ImagingSetup& setup) const override {
    const ImagingPlan& plan = plan_of(setup);
    std::vector<double> shares;
    for (std::size_t view = 0; view < plan.laws.size(); ++view) shares.push_back(unreached_share(reached_pixels(plan, view)));
    if (auto warning = unreached_warning(plan, shares)) return {std::move(*warning)};
    return {};
  }

  [[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration) const override {
    return simulator_configuration(configuration);
  }
};

}  // namespace

std::unique_ptr<const Method> tfm_method();
std::unique_ptr<const Method> tfm_method() {
  return std::make_unique<TfmMethod>();
}

}  // namespace echoform
