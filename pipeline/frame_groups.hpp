// Frames that are too large for the memory. They are imaged in groups of their A-scans, whose complex images add up to the
// frame's.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

struct ImagingSetup;

/// How a method images a frame by groups. Which A-scans form a group depends on the layout alone, never on memory. So
/// images that are summed in the order of the groups have the same bits however much is read ahead.
class FrameGroups {
 public:
  virtual ~FrameGroups() = default;

  /// The number of groups, at least one.
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  /// The rows of the frame, ascending and without overlap, whose A-scans come one after the other into a slot of the
  /// group's setup. `group` < count(), here and below.
  [[nodiscard]] virtual std::vector<RowRange> rows(std::size_t group) const = 0;
  /// The setup that makes the complex images of the group, an output a view. All groups have the same outputs and the same
  /// frames, with as many A-scans as the largest group. So steps of the engine of one setup that accept the options of the
  /// next need not be made anew.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> setup(std::size_t group) const = 0;
  /// The recipe from the sum of a view's complex images, which is block 0, to its envelope, the only output. Images that
  /// the frame's own recipe makes of these envelopes alone need nothing here (views_of_their_own() of pipeline/recipe.hpp).
  [[nodiscard]] virtual Recipe finish(std::string_view view) const = 0;
};

}  // namespace echoform
