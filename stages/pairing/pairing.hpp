// The first stage of a chain that ends in a beamformer: converts raw A-scans to float32, in the rows that cost the
// beamformer least.
//
// Input   int16, packed12 or float32 [a_scans, samples], any row stride.
// Output  float32 [rows, samples], rows padded to a multiple of 16 samples (the padding is not written). A row is an A-scan as it
//         was received, or the sum of those of both directions of a pair, times a weight, or zeros: acquisition/pair_rows.hpp
//         says which. Samples of every encoding are multiplied by the scale, sums of integers formed in 32-bit integers first;
//         float32 ones with is_invalid_sample() become 0. Of rows of zeros no samples are read or counted.
// The facts of the stage are the quality of the samples.
// On CUDA the output has a trailer (stages/raw_rows/frame_facts.hpp) whose first float is the greatest |value| of the frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "acquisition/pair_rows.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct PairingOptions {
  std::size_t a_scans = 0;                                 ///< of a frame
  std::shared_ptr<const std::vector<PairSource>> sources;  ///< by row of the output, at least one, each below `a_scans`
  double sample_scale = 1.0;                               ///< amplitude of one unit of a sample: finite, not 0

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const PairingOptions& a, const PairingOptions& b) {
    return a.a_scans == b.a_scans && a.sample_scale == b.sample_scale &&
           (a.sources == b.sources || (a.sources && b.sources && *a.sources == *b.sources));
  }
};

/// The options that convert frames of `acquisition` to the rows of combined_rows(acquisition, reciprocal, chosen).
[[nodiscard]] PairingOptions pairing_of(const Acquisition& acquisition, bool reciprocal, double sample_scale,
                                        std::span<const std::uint32_t> chosen = {});

/// The kind of the stage "pairing", whose options are PairingOptions. On the CPU the stage reads the sources of the options
/// and copies none.
extern const StageKind pairing_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_pairing_cpu(PairingOptions options, SimdLevel level = simd_level());

/// Only builds with CUDA have this function. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_pairing_cuda(PairingOptions options, Backend& backend);

/// The checks of options and input that the stages on every backend make, and the resulting output without trailer. Both
/// functions throw InputError.
void validate(const PairingOptions& options);
[[nodiscard]] BlockSpec pairing_output(const PairingOptions& options, const BlockSpec& input);

}  // namespace echoform
