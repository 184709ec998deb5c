// The method of scan lines, with the interface that the program uses.
#include "methods/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "methods/beams/keys.hpp"
#include "methods/beams/plan.hpp"
#include "methods/beams/report.hpp"
#include "methods/beams/section.hpp"
#include "methods/echoes.hpp"
#include "methods/filter_settings.hpp"
#include "methods/registry.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/scroll/scroll.hpp"
#include "stages/single_sideband/single_sideband.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {
namespace {

void check_section(const ImagingSettings& settings) {
  const BeamsSection& section = beams(settings);
  validate(section.filter, settings.place("[beams]"));
  if (section.path == LinePath::iq && section.adaptive.kind != "none") {
    throw InputError(settings.place("[beams] adaptive"), fmt::format("\"{}\" with path = \"iq\"", section.adaptive.kind),
                     "path = \"rf\", or no adaptive weights");
  }
  if (section.equalise && !section.blend) {
    throw InputError(settings.place("[beams] equalise"), "true without blend", "blend = true, or equalise = false");
  }
  const std::vector<Metres>& depths = section.time_gain_depths;
  if (!depths.empty() && depths.size() != section.time_gain.size()) {
    throw InputError(settings.place("[beams] time_gain_depths"), fmt::format("{} of them", depths.size()),
                     fmt::format("{}, one for each gain, or none", section.time_gain.size()));
  }
  if (std::ranges::adjacent_find(depths, [](Metres a, Metres b) { return !(a < b); }) != depths.end()) {
    throw InputError(settings.place("[beams] time_gain_depths"), "depths that do not ascend", "ascending ones");
  }
  if (section.depth && !((*section.depth)[0] < (*section.depth)[1])) {
    throw InputError(settings.place("[beams] depth"),
                     fmt::format("[{}, {}]", (*section.depth)[0].value, (*section.depth)[1].value), "first < last");
  }
}

class BeamsMethod final : public Method {
 public:
  [[nodiscard]] std::string_view name() const override { return beams_name; }
  [[nodiscard]] std::string_view meaning() const override {
    return "scan lines, each along the beam of a transmit event and in focus at every range: sector and linear images";
  }

  [[nodiscard]] std::vector<Section> sections() const override { return beams_sections(); }
  void add_keys(std::vector<Key>& keys) const override { add_beams_keys(keys); }
  [[nodiscard]] std::optional<std::vector<std::string_view>> reads() const override {
    return {{"material.longitudinal_velocity", "filter", "output", "display", "probe", "!probe.reverse_normals", "acquisition"}};
  }
  [[nodiscard]] std::vector<const StageKind*> own_stages() const override {
    return {&demodulation_stage, &scan_lines_stage,    &line_blend_stage, &single_sideband_stage, &time_gain_stage,
            &persistence_stage,  &line_compound_stage, &line_gain_stage,  &autocorrelation_stage, &wall_filter_stage,
            &flow_stage,         &line_spectrum_stage, &scroll_stage};
  }

  [[nodiscard]] std::string for_the_cpu_alone(const ImagingSettings& settings) const override {
    const AdaptiveKind& kind = adaptive_kind(beams(settings).adaptive.kind, "[beams] adaptive");
    return is_on_cuda(kind) ? std::string() : fmt::format("[beams] adaptive = \"{}\"", kind.name);
  }

  void check(const ImagingSettings& settings, const Material& stated) const override {
    check_section(settings);
    if (!settings.material.longitudinal_velocity && !(stated.longitudinal_velocity.value > 0.0)) {
      throw InputError(settings.place("[material] longitudinal_velocity"), "none", "the velocity of sound in m/s");
    }
  }
  [[nodiscard]] std::vector<std::string> images(const ImagingSettings& settings) const override {
    std::vector<std::string> images{std::string(beams_image)};
    if (m_mode(settings).line) images.emplace_back(m_mode_image);
    if (!wants_flow(settings)) return images;
    if (spectrum(settings).line) images.emplace_back(spectrum_image);
    for (const std::string_view image : {velocity_image, power_image, variance_image}) images.emplace_back(image);
    return images;
  }

  [[nodiscard]] TaskRules rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use) const override {
    check_section(settings);
    require_echoes(stated);
    return usual_rules(use);
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const override {
    return make_beams_setup(build_beams_plan(task));
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& before, const ImagingSettings& wanted,
                                                            std::uint64_t settings_revision) const override {
    check_section(wanted);
    return retuned_setup<BeamsPlan>(before, wanted, settings_revision, make_beams_setup);
  }

  void show_in_use(const ImagingSetup& setup, ImagingSettings& asked) const override {
    const BeamsPlan& plan = beams_plan_of(setup);
    asked.material.longitudinal_velocity = plan.velocity;
    const LineRanges& ranges = plan.lines->ranges;
    beams(asked).depth = {ranges.first, ranges.at(ranges.count - 1)};
    beams(asked).ranges = ranges.count;
    if (plan.doppler) doppler(asked).frequency = plan.doppler->frequency;
    const Grid& shown = plan.display_grid;
    section<DisplaySection>(asked).x = {shown.x.first, shown.x.last};
    section<DisplaySection>(asked).z = {shown.z.first, shown.z.last};
    section<DisplaySection>(asked).pixels = {shown.x.count, shown.z.count};
    asked.acquisition.time_offset = plan.acquisition.time_offset;
    section<FilterSection>(asked) = filter_in_use(section<FilterSection>(asked), plan.filter);
  }

  [[nodiscard]] SetupReport report(const ImagingSetup& setup) const override { return report_beams(beams_plan_of(setup)); }

  [[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration) const override {
    // The scene does not depend on the method that images it.
    return find_method("tfm")->simulated_source(configuration);
  }
};

}  // namespace

std::unique_ptr<const Method> beams_method();
std::unique_ptr<const Method> beams_method() {
  return std::make_unique<BeamsMethod>();
}

}  // namespace echoform
