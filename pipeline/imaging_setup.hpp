// Everything that fixes how frames of one acquisition become images, as the pipeline knows it: what a method resolved from
// settings and acquisition. Constant afterwards.
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
  std::optional<double> fixed_reference;  ///< envelope shown as 0 dB; none: it runs, and each frame's output says it
};

/// What a method made a setup of; nobody else looks at it.
struct SetupOrigin {
  SetupOrigin() = default;
  SetupOrigin(const SetupOrigin&) = default;
  SetupOrigin(SetupOrigin&&) = default;
  SetupOrigin& operator=(const SetupOrigin&) = default;
  SetupOrigin& operator=(SetupOrigin&&) = default;
  virtual ~SetupOrigin() = default;
};

struct ImagingSetup {
  /// Tells images before a change of settings from those after it; images carry it. 0 where settings do not change.
  std::uint64_t settings_revision = 0;
  Acquisition acquisition;
  Material material;  ///< of the part, for recordings
  SampleGate gate;    ///< count >= 2, within the A-scan
  Recipe recipe;
  DisplayScale scale;
  std::vector<Outline> outlines;      ///< probe and surfaces near the image, for whoever draws it; at most most_outlines
  std::size_t tables_bytes = 0;       ///< of the host's memory that tables hold which the recipe's stages share
  std::vector<std::string> notes;     ///< what was chosen for the user, or replaces what data state, a line each
  std::vector<std::string> warnings;  ///< what is likely to disappoint, a line each
  std::vector<std::string> unread;    ///< those of them that say which settings have no effect
  std::shared_ptr<const Scan> scan;   ///< frames are positions of it; null: each is an image of its own
  /// Where frames are imaged by groups instead, for want of memory: then only the outputs of `recipe` count, and the steps that
  /// make images of other views' envelopes. Null otherwise.
  std::shared_ptr<const FrameGroups> groups;
  std::string method;  ///< whose it is
  std::shared_ptr<const SetupOrigin> origin;
};

/// Throws InputError, naming `where`, unless the gate lies within the A-scans and the recipe is in order.
void validate(const ImagingSetup& setup, std::string_view where);
/// Whether the same samples of the same frames are imaged.
[[nodiscard]] bool same_frames(const ImagingSetup& a, const ImagingSetup& b);

}  // namespace echoform
