// Options of the beamformer's sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/pair_rows.hpp"
#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"
#include "pipeline/sample_gate.hpp"
#include "stages/beamform/apodization_options.hpp"
#include "stages/beamform/interpolation.hpp"

namespace echoform {

enum class BeamformSide : std::uint8_t { transmit, receive };

/// The elements that belong to the sources of a law, as weights need them.
struct Aperture {
  Probe probe;                        ///< source k of the receive leg is element k
  std::vector<std::uint32_t> firing;  ///< element of each source of the transmit leg; empty: source k is element k
  /// Weight of each source of the transmit leg where sources are waves of several elements; finite, replaces weights by
  /// element. Empty where sources are elements.
  std::vector<float> event_weights;
  /// Velocity for directivity where a leg does not state the speed at which its waves leave; 0 where unknown.
  MetresPerSecond longitudinal_velocity;
  Apodization apodization;

  [[nodiscard]] std::size_t element_of(BeamformSide side, std::size_t source) const {
    return side == BeamformSide::receive || firing.empty() ? source : firing[source];
  }

  [[nodiscard]] friend bool operator==(const Aperture&, const Aperture&) = default;
};

/// image(p) = scale * sum over pairs of w_tx(event, p) * w_rx(receiver, p) * s(tau_tx(event, p) + tau_rx(receiver, p)).
struct BeamformOptions {
  DelayLaw law;  ///< transmit->sources() == pairs.events, receive->sources() == pairs.receivers
  Grid grid;
  PairRows pairs;               ///< rows of the input; summed ones only where alike_both_ways()
  std::size_t rows_behind = 0;  ///< rows of the input after those of `pairs`, which are not read
  Aperture aperture;
  Interpolation interpolation = Interpolation::linear;
  Hertz sample_rate;    ///< > 0
  Seconds start_time;   ///< of sample 0 of an A-scan after the pulse's emission
  Seconds time_offset;  ///< sample n is at start_time + n / sample_rate - time_offset
  SampleGate gate;      ///< the samples of the rows: their first is sample gate.first of an A-scan
  float scale = 1.0F;

  /// Whether law and weights are the same for (i, j) and (j, i). Then one side's tables serve both.
  [[nodiscard]] bool alike_both_ways() const { return law.reciprocal() && aperture.apodization.symmetric(); }

  [[nodiscard]] friend bool operator==(const BeamformOptions&, const BeamformOptions&) = default;
};

/// Throws InputError unless legs and pairs have the same counts, every lookup is within them, and the apodization is in its
/// ranges.
void validate(const BeamformOptions& options);

/// The offset, in samples, that is added to the delays of each side. It is half of the part that does not
/// depend on the pixel of u = (tau_tx + tau_rx - start_time + time_offset) * sample_rate - gate.first, so that one table
/// serves both sides where the law is reciprocal.
[[nodiscard]] double half_delay_offset(const BeamformOptions& options);

}  // namespace echoform
