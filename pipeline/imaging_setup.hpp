// Everything that fixes how frames of one acquisition become images, as the pipeline knows it. A method resolves it from
// settings and acquisition; it is constant afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "pipeline/frame_groups.hpp"
#include "pipeline/outline.hpp"
#include "pipeline/recipe.hpp"
#include "pipeline/sample_gate.hpp"

namespace echoform {

struct Scan;

/// How display images show envelopes.
struct DisplayScale {
  double dynamic_range_db = 40.0;
  double gain_db = 0.0;
  std::optional<double> fixed_reference;  ///< envelope shown as 0 dB; none: it runs, and each frame's output states it
};

/// The origin of a setup, for its method only.
struct SetupOrigin {
  SetupOrigin() = default;
  SetupOrigin(const SetupOrigin&) = default;
  SetupOrigin(SetupOrigin&&) = default;
  SetupOrigin& operator=(const SetupOrigin&) = default;
  SetupOrigin& operator=(SetupOrigin&&) = default;
  virtual ~SetupOrigin() = default;
};

struct ImagingSetup {
  /// Distinguishes images before a change of settings from those after it; images carry it. 0 where settings do not change.
  std::uint64_t settings_revision = 0;
  Acquisition acquisition;
  Material material;  ///< of the part, for recordings
  SampleGate gate;    ///< count >= 2, within the A-scan
  Recipe recipe;
  DisplayScale scale;
  std::vector<Outline> outlines;      ///< probe and surfaces near the image, to be drawn over it; at most most_outlines
  std::size_t tables_bytes = 0;       ///< bytes of the host's memory for tables that the recipe's stages share
  std::vector<std::string> notes;     ///< what was chosen for the user, or replaces what data state, a line each
  std::vector<std::string> warnings;  ///< what is likely to disappoint, a line each
  std::vector<std::string> unread;    ///< the part of the warnings that is about settings without effect
  std::shared_ptr<const Scan> scan;   ///< frames are positions of it; null: each is an image of its own
  /// Set where frames are imaged by groups for lack of memory. Then `recipe` only provides the outputs, and the steps that
  /// make images of other views' envelopes. Null otherwise.
  std::shared_ptr<const FrameGroups> groups;
  std::string method;  ///< the method that made the setup
  std::shared_ptr<const SetupOrigin> origin;
};

/// Throws InputError, naming `where`, unless the gate lies within the A-scans and the recipe is in order.
void validate(const ImagingSetup& setup, std::string_view where);
/// Whether the same samples of the same frames are imaged.
[[nodiscard]] bool same_frames(const ImagingSetup& a, const ImagingSetup& b);

}  // namespace echoform
