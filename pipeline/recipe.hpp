// The chain of stages as data. A method composes it (methods/), a runner of any backend executes it (engines/runner.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "base/line_geometry.hpp"
#include "base/meaning.hpp"
#include "base/value_scale.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// A stage in a recipe. Blocks are numbered: 0 is the frame's received samples (the gate's columns), k + 1 the output of step k.
struct Step {
  const StageKind* stage = nullptr;
  StageOptions options;
  std::vector<std::size_t> inputs;  ///< blocks; each of an earlier step

  [[nodiscard]] friend bool operator==(const Step&, const Step&) = default;
};

enum class OutputKind : std::uint8_t {
  complex_image,  ///< complex64 on the grid
  envelope,       ///< float32 on the grid; only where it is read (FrameSlot::envelope_wanted)
  display,        ///< uint8 on the grid, levels of the scale
};

/// An image of each frame, as described to its readers.
struct OutputDescription {
  std::string view;  ///< "LL"
  OutputKind kind = OutputKind::envelope;
  Grid grid;
  Meaning pixels{"amplitude", ""};  ///< of envelopes, and what displays show
  Meaning x{"x", "m"};              ///< of the grid's axes
  Meaning y{"y", "m"};
  Meaning z{"z", "m"};
  ValueScale scale{};  ///< how pixels are shown
  /// The limit of pixels with a sign: values beyond -limit .. limit wrap round, as velocities do beyond the Nyquist velocity. 0:
  /// none.
  double limit = 0.0;
  std::optional<LineGeometry> lines{};  ///< of arrays [line, range]

  /// Bytes of one image.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] friend bool operator==(const OutputDescription&, const OutputDescription&) = default;
};

struct RecipeOutput {
  OutputDescription description;
  std::size_t block = 0;            ///< the output of a step: the grid's pixels, rows without gaps and nothing before them
  std::size_t reference_block = 0;  ///< of the step that gives the value shown as 0 dB or as the scale's end; 0: none

  [[nodiscard]] friend bool operator==(const RecipeOutput&, const RecipeOutput&) = default;
};

struct Recipe {
  std::vector<Step> steps;  ///< in the order in which they run
  std::vector<RecipeOutput> outputs;

  /// Adds a step, or finds the equal one that is there already. Returns its block.
  std::size_t add(const StageKind& stage, StageOptions options, std::vector<std::size_t> inputs);
  /// Place of the output of this view and kind in `outputs`; nothing where there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view view, OutputKind kind) const;
  /// Names of the views, in the order of their first outputs.
  [[nodiscard]] std::vector<std::string_view> views() const;
};

/// The views whose envelopes are not made only of other views' envelopes. The other views follow from these: where an image
/// is composed of several positions of a scan, or of groups of A-scans, they are made of the composed envelopes.
[[nodiscard]] std::vector<std::string_view> views_of_their_own(const Recipe& recipe);

/// Adds the outputs of a further image, made and shown as those of `model` are from its envelope on. The steps of
/// compression, conversion to the display grid and reference are added again, on the block `envelope`. Throws
/// std::logic_error where the recipe has no envelope of `model`.
void add_image_like(Recipe& recipe, std::string_view model, std::string view, std::size_t envelope);

/// Throws InputError, naming `where`, unless steps name stages and blocks of earlier steps, and outputs name blocks of steps.
void validate(const Recipe& recipe, std::string_view where);

}  // namespace echoform
