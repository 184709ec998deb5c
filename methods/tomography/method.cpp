// Optoacoustic tomography, with the interface that the program uses.
#include "methods/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "methods/filter_settings.hpp"
#include "methods/tomography/keys.hpp"
#include "methods/tomography/plan.hpp"
#include "methods/tomography/report.hpp"
#include "methods/tomography/simulated_scene.hpp"
#include "methods/wavelength_name.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/deconvolution/deconvolution.hpp"
#include "stages/mean_image/mean_image.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixing/unmixing.hpp"

namespace echoform {
namespace {

class TomographyMethod final : public Method {
 public:
  [[nodiscard]] std::string_view name() const override { return tomography_name; }
  [[nodiscard]] std::string_view meaning() const override {
    return "optoacoustic tomography: the initial pressure that light made, by back-projection of what detectors around it "
           "received";
  }

  [[nodiscard]] std::vector<Section> sections() const override { return tomography_sections(); }
  void add_keys(std::vector<Key>& keys) const override { add_tomography_keys(keys); }
  [[nodiscard]] std::optional<std::vector<std::string_view>> reads() const override {
    return {{"material.longitudinal_velocity", "grid", "filter", "output", "display", "probe", "acquisition"}};
  }
  [[nodiscard]] std::vector<const StageKind*> own_stages() const override {
    return {&back_projection_stage, &back_projection_term_stage, &deconvolution_stage, &mean_image_stage,
            &unmixing_stage,        &unmixed_image_stage};
  }

  [[nodiscard]] std::string whole_grids_alone(const ImagingSettings& settings) const override {
    // Saturation is shown where the image exceeds some part of its maximum.
    const std::vector<std::string> names = images(settings);
    const bool saturation = std::ranges::find(names, saturation_image) != names.end();
    return saturation ? fmt::format("the image \"{}\"", saturation_image) : std::string();
  }

  [[nodiscard]] bool tells_sharpness() const override { return true; }

  void check(const ImagingSettings& settings, const Material& stated) const override {
    check_tomography(settings);
    if (!settings.material.longitudinal_velocity && !(stated.longitudinal_velocity.value > 0.0)) {
      throw InputError(settings.place("[material] longitudinal_velocity"), "none", "the speed of sound in m/s");
    }
  }
  [[nodiscard]] std::vector<std::string> images(const ImagingSettings& settings) const override {
    std::vector<std::string> names;
    for (const Metres wavelength : tomography(settings).wavelengths) names.push_back(name_of_wavelength(wavelength));
    if (names.empty()) names.emplace_back(tomogram);
    for (std::string& name : unmixed_images(unmixing(settings))) names.push_back(std::move(name));
    return names;
  }

  [[nodiscard]] TaskRules rules(const ImagingSettings& settings, const Acquisition& /*stated*/, ImagingUse use) const override {
    return tomography_rules(settings, use);
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const override {
    return make_tomography_setup(build_tomography_plan(task));
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& before, const ImagingSettings& wanted,
                                                            std::uint64_t settings_revision) const override {
    return retuned_setup<TomographyPlan>(before, wanted, settings_revision, make_tomography_setup);
  }

  void show_in_use(const ImagingSetup& setup, ImagingSettings& asked) const override {
    const TomographyPlan& plan = tomography_plan_of(setup);
    asked.material.longitudinal_velocity = plan.velocity;
    const Grid& grid = plan.grid;
    asked.grid.x = {grid.x.first, grid.x.last};
    asked.grid.y = {grid.y.first, grid.y.last};
    asked.grid.z = {grid.z.first, grid.z.last};
    asked.acquisition.time_offset = plan.acquisition.time_offset;
    section<FilterSection>(asked) = filter_in_use(section<FilterSection>(asked), plan.filter);
  }

  [[nodiscard]] SetupReport report(const ImagingSetup& setup) const override {
    return report_tomography(tomography_plan_of(setup));
  }

  [[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration) const override {
    return simulated_sound(configuration);
  }
};

}  // namespace

std::unique_ptr<const Method> tomography_method();
std::unique_ptr<const Method> tomography_method() {
  return std::make_unique<TomographyMethod>();
}

}  // namespace echoform
