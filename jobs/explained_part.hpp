// What of recorded data a model can hold at all: the frequencies of its band, and the times at which sound of its grid arrives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/units.hpp"
#include "cpu/thread_team.hpp"
#include "methods/row_filter.hpp"
#include "operators/model_geometry.hpp"

namespace echoform {

/// Frequencies from 0 up to a highest one, of rows of samples.
class ModelBand {
 public:
  /// `highest` above 0; half the sample rate and more is all. `samples` 2 or more. On the team's threads; it outlives this.
  /// Throws RuntimeFault if there is no memory.
  ModelBand(Hertz highest, Hertz sample_rate, std::size_t samples, ThreadTeam& team);

  /// Whether there is anything above it.
  [[nodiscard]] bool ends() const { return filter_.has_value(); }
  /// |B a - B b|^2 over rows of the samples that were stated, B what leaves the band alone: bins of the periodic DFT of each row
  /// up to the highest frequency. `b` may be empty: zeros. The same bits for any number of threads.
  [[nodiscard]] double squares(std::span<const float> a, std::span<const float> b = {});

  /// An upper estimate of the bytes that it holds.
  [[nodiscard]] static std::size_t bytes(std::size_t samples, std::size_t threads);

 private:
  std::size_t samples_;
  ThreadTeam* team_;
  std::optional<RowFilter> filter_;
  std::vector<std::vector<float>> rows_;  // a row for each member
};

/// Shares of the squares of the data in a model's band, of what is no noise, at times at which no sound of the grid arrives.
struct SoundFromOutside {
  double before = 0.0;
  double after = 0.0;

  [[nodiscard]] double all() const { return before + after; }
};

/// How long detectors' own doing makes sound, beside what the model's band does.
struct ResponseReach {
  Seconds before;  ///< the time of the pressure
  Seconds after;
};

/// Of rows [detector, sample] of a geometry that passes validate(), of all processes. Noise is taken for what the quietest
/// quarter of those samples has, as of a normal distribution. The band's edge is soft, and what it spreads by 1.5 periods of its
/// highest frequency counts as sound of the grid. Throws RuntimeFault if there is no memory.
[[nodiscard]] SoundFromOutside sound_from_outside(const ModelGeometry& geometry, std::span<const float> rows, Hertz highest,
                                                  Metres largest_half_diagonal, const ResponseReach& response);

}  // namespace echoform
