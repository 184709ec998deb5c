#include "methods/tfm/frame_groups.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "acquisition/pair_groups.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/recipe.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/envelope/envelope.hpp"

namespace echoform {
namespace {

/// What a slot of as many A-scans as a group has is equipped for. Which elements fire in its events says nothing: what the rows
/// are stands in the recipes.
Acquisition rows_of(const Acquisition& frame, std::size_t a_scans) {
  Acquisition rows = frame;
  rows.matrix = MatrixKind::full;
  rows.events.clear();
  for (std::size_t left = a_scans; left > 0;) {
    TransmitEvent& event = rows.events.emplace_back();
    event.form = ElementEvent{0};
    for (std::uint32_t receiver = 0; receiver < std::min(left, frame.elements()); ++receiver) event.receivers.push_back(receiver);
    left -= event.receivers.size();
  }
  return rows;
}

class TfmGroups final : public FrameGroups {
 public:
  TfmGroups(std::shared_ptr<const ImagingPlan> plan, std::size_t tables_bytes)
      : plan_(std::move(plan)),
        pairs_(plan_pairs(*plan_)),
        groups_(plan_->acquisition, pairs_.reciprocal, plan_->events),
        rows_(rows_of(plan_->acquisition, groups_.most_a_scans())),
        tables_bytes_(tables_bytes) {
    pairs_.firing.clear();
    if (pairs_.waves || groups_.by_elements()) return;
    // Rows of a whole frame may be sums, which have no event; those of a group of events have one.
    pairs_.firing = firing_elements(plan_->acquisition, plan_->events);
    pairs_.reciprocal = false;
  }

  [[nodiscard]] std::size_t count() const noexcept override { return groups_.count(); }
  [[nodiscard]] std::vector<RowRange> rows(std::size_t group) const override { return groups_.at(group).rows; }

  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup(std::size_t group) const override {
    PairGroup of_group = groups_.at(group);
    PlanPairs pairs = pairs_;
    pairs.rows = std::move(of_group.pairs);
    auto setup = std::make_shared<ImagingSetup>();
    setup->acquisition = rows_;
    setup->gate = plan_->imaged_samples();
    setup->tables_bytes = tables_bytes_;
    setup->method = tfm_name;
    Recipe& recipe = setup->recipe;
    const PairingOptions pairing{rows_.a_scans(), std::make_shared<const std::vector<PairSource>>(std::move(of_group.sources)),
                                 plan_->amplitude_scale()};
    const std::size_t rows = recipe.add(pairing_stage, pairing, {0});
    AnalyticSignalOptions in_single = analytic_signal_options(*plan_);
    in_single.half = false;
    const std::size_t analytic = recipe.add(analytic_signal_stage, in_single, {rows});
    for (std::size_t view = 0; view < plan_->laws.size(); ++view) {
      const BeamformOptions beamform = beamform_options(*plan_, pairs, first_alike(*plan_, pairs, view));
      const std::size_t image = recipe.add(beamform_stage, beamform, {analytic});
      recipe.outputs.push_back({{plan_->laws[view].view, OutputKind::complex_image, plan_->grid}, image, 0});
    }
    return setup;
  }

  [[nodiscard]] Recipe finish(std::string_view view) const override {
    Recipe recipe;
    const std::size_t envelope = recipe.add(envelope_stage, EnvelopeOptions{}, {0});
    recipe.outputs.push_back({{std::string(view), OutputKind::envelope, plan_->grid}, envelope, 0});
    return recipe;
  }

 private:
  std::shared_ptr<const ImagingPlan> plan_;
  PlanPairs pairs_;  // but for the rows
  PairGroups groups_;
  Acquisition rows_;
  std::size_t tables_bytes_;
};

}  // namespace

std::shared_ptr<const FrameGroups> make_frame_groups(std::shared_ptr<const ImagingPlan> plan, std::size_t tables_bytes) {
  return std::make_shared<TfmGroups>(std::move(plan), tables_bytes);
}

}  // namespace echoform
