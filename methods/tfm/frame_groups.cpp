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

/// The acquisition for which a slot with a group's A-scans is equipped. It does not matter which elements fire in its events: the
/// recipes state what the rows are.
Acquisition rows_of(const Acquisition& frame, std::size_t a_scans) {
  Acquisition rows = frame;
  rows.matrix = MatrixKind::full;
  rows.positions.clear();
  rows.events.clear();
  for (std::size_t left = a_scans; left > 0;) {
    TransmitEvent& event = rows.events.emplace_back();
    event.form = ElementEvent{0};
    for (std::uint32_t receiver = 0; receiver < std::min(left, frame.elements()); ++receiver) event.receivers.push_back(receiver);
    left -= event.receivers.size();
  }
  return rows;
}

/// The pairs of a plan as its groups have them, except for the rows.
PlanPairs pairs_of_groups(const ImagingPlan& plan, const PairGroups& groups, PlanPairs pairs) {
  pairs.firing.clear();
  if (pairs.waves || groups.by_elements()) return pairs;
  // Rows of a whole frame may be sums, which belong to no event; rows of a group of events belong to one.
  pairs.firing = firing_elements(plan.acquisition, plan.events);
  pairs.reciprocal = false;
  return pairs;
}

/// The part of a frame that is imaged with one probe: the whole frame, or one of its positions.
struct GroupedPart {
  GroupedPart(std::shared_ptr<const ImagingPlan> of, std::size_t first, std::vector<std::size_t> rows)
      : GroupedPart(plan_pairs(*of), of, first, std::move(rows)) {}

  [[nodiscard]] std::size_t end() const { return first_group + groups.count(); }

  std::shared_ptr<const ImagingPlan> plan;
  PairGroups groups;
  PlanPairs pairs;
  std::size_t first_group;
  std::vector<std::size_t> frame_rows;  // [A-scan of the part], row of the frame; empty if both are the same

 private:
  GroupedPart(const PlanPairs& all, std::shared_ptr<const ImagingPlan> of, std::size_t first, std::vector<std::size_t> rows)
      : plan(std::move(of)),
        groups(plan->acquisition, all.reciprocal, plan->events),
        pairs(pairs_of_groups(*plan, groups, all)),
        first_group(first),
        frame_rows(std::move(rows)) {}
};

class TfmGroups final : public FrameGroups {
 public:
  TfmGroups(std::shared_ptr<const ImagingPlan> plan, std::size_t tables_bytes)
      : plan_(std::move(plan)), tables_bytes_(tables_bytes) {
    const FrameLayout frame(plan_->acquisition);
    for (const PositionPlan& position : plan_->positions) {
      parts_.emplace_back(position.plan, count(), rows_of_events(frame, position.events));
    }
    if (parts_.empty()) parts_.emplace_back(plan_, 0, std::vector<std::size_t>());
    std::size_t most = 0;
    for (const GroupedPart& part : parts_) most = std::max(most, part.groups.most_a_scans());
    rows_ = rows_of(plan_->acquisition, most);
  }

  [[nodiscard]] std::size_t count() const noexcept override { return parts_.empty() ? 0 : parts_.back().end(); }
  [[nodiscard]] std::vector<RowRange> rows(std::size_t group) const override {
    const GroupedPart& part = part_of(group);
    std::vector<RowRange> rows = part.groups.at(group - part.first_group).rows;
    if (part.frame_rows.empty()) return rows;
    std::vector<RowRange> of_frame;
    for (const RowRange& range : rows) {
      for (std::size_t row = range.first; row < range.first + range.count; ++row) add_rows(of_frame, {part.frame_rows[row], 1});
    }
    return of_frame;
  }

  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup(std::size_t group) const override {
    const GroupedPart& part = part_of(group);
    PairGroup of_group = part.groups.at(group - part.first_group);
    PlanPairs pairs = part.pairs;
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
    in_single.rows = of_group.rows_used;
    const std::size_t analytic = recipe.add(analytic_signal_stage, in_single, {rows});
    for (std::size_t view = 0; view < plan_->laws.size(); ++view) {
      const std::size_t image = recipe.add(beamform_stage, beamform_options_of_part(*plan_, *part.plan, pairs, view), {analytic});
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
  [[nodiscard]] const GroupedPart& part_of(std::size_t group) const {
    return *std::ranges::find_if(parts_, [&](const GroupedPart& part) { return group < part.end(); });
  }

  std::shared_ptr<const ImagingPlan> plan_;
  std::vector<GroupedPart> parts_;
  Acquisition rows_;
  std::size_t tables_bytes_;
};

}  // namespace

std::shared_ptr<const FrameGroups> make_frame_groups(std::shared_ptr<const ImagingPlan> plan, std::size_t tables_bytes) {
  return std::make_shared<TfmGroups>(std::move(plan), tables_bytes);
}

}  // namespace echoform
