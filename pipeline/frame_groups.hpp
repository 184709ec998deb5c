// Frames that no memory holds whole: imaged in groups of their A-scans, whose complex images add up to the frame's.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

struct ImagingSetup;

/// How a method images a frame by groups. Which A-scans are a group depends on the layout alone, never on memory: images that are
/// summed in the order of the groups are the same bits however much is read ahead.
class FrameGroups {
 public:
  virtual ~FrameGroups() = default;

  /// At least one.
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  /// Rows of the frame, ascending and apart, whose A-scans come one after the other into a slot of the group's setup; `group` <
  /// count(), here and below.
  [[nodiscard]] virtual std::vector<RowRange> rows(std::size_t group) const = 0;
  /// What makes the complex images of the group, an output a view. All have the same outputs and the same frames, as many A-scans
  /// as the largest group has: steps of one setup's engine that take the options of the next need not be made anew.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> setup(std::size_t group) const = 0;
  /// From the sum of a view's complex images, which is block 0, to its envelope, the only output. What the frame's own recipe
  /// makes of these envelopes alone needs nothing here (views_of_their_own() of pipeline/recipe.hpp).
  [[nodiscard]] virtual Recipe finish(std::string_view view) const = 0;
};

}  // namespace echoform
