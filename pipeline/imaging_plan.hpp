// Everything that fixes how frames of one acquisition become images. Resolved and checked once; constant afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"
#include "pipeline/outline.hpp"
#include "pipeline/sample_gate.hpp"

namespace echoform {

enum class Interpolation : std::uint8_t { nearest, linear };
enum class ScanInterpolation : std::uint8_t { nearest, bilinear, cubic };
enum class ApodizationWindow : std::uint8_t { none, hann, tukey };
enum class ApodizationSides : std::uint8_t { both, transmit, receive };
enum class ReferenceMode : std::uint8_t { fixed, running };

/// Weights b_ij = w_tx(i, p) * w_rx(j, p).
struct Apodization {
  ApodizationWindow window = ApodizationWindow::none;  ///< over the whole aperture, by element index
  double tukey_fraction = 0.5;                         ///< tapered part, 0 (rectangular) .. 1 (Hann)
  ApodizationSides sides = ApodizationSides::both;     ///< any but `both` makes b_ij != b_ji
  bool directivity = false;                            ///< weight by the element's directivity at the centre frequency
  double angle_limit = 90.0;                           ///< degrees from the element's normal; beyond it the weight is 0

  /// Whether weights follow the angles at which waves leave the elements.
  [[nodiscard]] bool angular() const { return directivity || angle_limit < 90.0; }
  [[nodiscard]] bool trivial() const { return window == ApodizationWindow::none && !angular(); }
  [[nodiscard]] bool symmetric() const { return sides == ApodizationSides::both; }

  auto operator<=>(const Apodization&) const = default;
};

struct Compression {
  double dynamic_range_db = 40.0;  ///< > 0, <= 200
  double gain_db = 0.0;
  ReferenceMode reference = ReferenceMode::running;
  double reference_value = 1.0;  ///< envelope shown as 0 dB with a fixed reference; > 0
  /// Of the running reference: the part of the way that it moves towards each frame's peak when that is lower. A higher
  /// peak is taken at once, so nothing saturates. 1 follows every frame.
  double running_fraction = 0.1;

  auto operator<=>(const Compression&) const = default;
};

/// Amplitude of one unit of a sample as the data state it: of integers their sample_scale, of float32 1.
[[nodiscard]] inline double stated_scale(const Acquisition& acquisition) {
  return acquisition.encoding == SampleEncoding::float32 ? 1.0 : acquisition.sample_scale;
}

struct ImagingPlan {
  /// Tells images before a change of settings from those after it; images carry it. 0 where settings do not change.
  std::uint64_t settings_revision = 0;
  Acquisition acquisition;
  /// Amplitude of one unit of a sample of any encoding, in place of what the data state; finite, and not 0 as a float.
  std::optional<double> sample_scale;
  Material material;
  Grid grid;                       ///< acoustic grid
  std::optional<SampleGate> gate;  ///< within the A-scan; none: the whole A-scan
  Interpolation interpolation = Interpolation::linear;
  /// Relative L2 error of complex images that is good enough, 1e-6 .. 0.1. From 1e-3 on a backend may keep samples in half
  /// precision; below, single precision. The CPU is always in single precision.
  double accuracy = 1e-3;
  Apodization apodization;
  Compression compression;
  std::optional<Grid> display_grid;  ///< where it differs from the acoustic grid
  ScanInterpolation scan_interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;
  std::vector<DelayLaw> laws;     ///< one a view, at least one
  std::vector<Outline> outlines;  ///< probe and surfaces near the image, for whoever draws it; at most most_outlines

  /// The gate, or the whole A-scan where there is none.
  [[nodiscard]] SampleGate imaged_samples() const { return gate.value_or(SampleGate{0, acquisition.samples}); }
  /// What imaging multiplies every sample by: sample_scale, or else what the data state.
  [[nodiscard]] double amplitude_scale() const { return sample_scale.value_or(stated_scale(acquisition)); }
  /// Whether no law and no weight tells (i, j) from (j, i): then the matrix may be halved, and a pair costs one lookup.
  [[nodiscard]] bool reciprocal() const;
};

/// Throws InputError unless every option is in its range.
void validate(const Compression& compression, std::string_view where);
/// Throws InputError unless grids, ranges and laws (leg sources == elements) are right. `where` names the config.
void validate(const ImagingPlan& plan, std::string_view where);

}  // namespace echoform
