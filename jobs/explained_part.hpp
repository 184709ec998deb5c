// The part of recorded data that a model can explain at all: the frequencies of its band, and the times at which sound of
// its grid arrives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/units.hpp"
#include "cpu/thread_team.hpp"
#include "methods/row_filter.hpp"
#include "operators/model_geometry.hpp"

namespace echoform {

/// The frequencies from 0 up to a highest one, of rows of samples.
class ModelBand {
 public:
  /// `highest` is above 0; from half the sample rate on, the band holds all frequencies. `samples` is 2 or more. The work
  /// runs on the threads of the team, which outlives this object. Throws RuntimeFault if there is no memory.
  ModelBand(Hertz highest, Hertz sample_rate, std::size_t samples, ThreadTeam& team);

  /// Whether there are frequencies above the band.
  [[nodiscard]] bool ends() const { return filter_.has_value(); }
  /// |B a - B b|^2 over rows of the stated number of samples. B keeps only the band: the bins of the periodic DFT of each
  /// row up to the highest frequency. `b` may be empty, which stands for zeros. The result has the same bits for any number
  /// of threads.
  [[nodiscard]] double squares(std::span<const float> a, std::span<const float> b = {});

  /// An upper estimate of the bytes that it holds.
  [[nodiscard]] static std::size_t bytes(std::size_t samples, std::size_t threads);

 private:
  std::size_t samples_;
  ThreadTeam* team_;
  std::optional<RowFilter> filter_;
  std::vector<std::vector<float>> rows_;  // a row for each member
};

/// The sound that is recorded at times at which no sound of the grid arrives. The numbers are its shares of the squares of
/// the data in the model's band, noise subtracted: before sound of the grid arrives, and after.
struct SoundFromOutside {
  double before = 0.0;
  double after = 0.0;

  [[nodiscard]] double all() const { return before + after; }
};

/// How long the response of the detectors lengthens sound, in addition to the model's band.
struct ResponseReach {
  Seconds before;  ///< before the time of the pressure
  Seconds after;   ///< after the time of the pressure
};

/// The shares in the rows [detector, sample] of all processes; `geometry` passes validate(). The noise is estimated from
/// the quietest quarter of the samples at such times, as of a normal distribution. The edge of the band is soft: what it
/// spreads by 1.5 periods of its highest frequency counts as sound of the grid. Throws RuntimeFault if there is no memory.
[[nodiscard]] SoundFromOutside sound_from_outside(const ModelGeometry& geometry, std::span<const float> rows, Hertz highest,
                                                  Metres largest_half_diagonal, const ResponseReach& response);

}  // namespace echoform
