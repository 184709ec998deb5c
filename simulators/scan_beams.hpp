// The events of scan lines: beams that begin somewhere on the array, go some way and are focused, plane or diverging.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// One beam. Its direction is that of the array's normal where it begins, turned by `angle` towards +x and by `angle_across`
/// towards +y.
struct ScanBeam {
  /// Along the array from its middle, on a curvilinear one along its arc. Beams of an aperture begin at the nearest place that is
  /// the middle of so many neighbours.
  Metres origin;
  double angle = 0.0;         ///< degrees
  double angle_across = 0.0;  ///< degrees
  Metres focus;               ///< along the beam; infinite: a plane wave; below 0: a virtual source so far behind its origin

  constexpr auto operator<=>(const ScanBeam&) const = default;
};

/// How the beams of a frame are stated: as a list, or by ranges, over which they are spread equally, both ends counted in. Those
/// of `across` follow each other slowest.
struct ScanBeams {
  std::vector<ScanBeam> list;                    ///< or by the ranges, where it is empty
  std::optional<std::array<Metres, 2>> origins;  ///< absent: where whole apertures fit; without an aperture, or with angles, 0
  std::optional<std::array<double, 2>> angles;   ///< degrees; absent: 0
  std::optional<std::array<double, 2>> angles_across;  ///< degrees; absent: 0
  std::optional<std::size_t> across;                   ///< beams over angles_across; absent: 1
  std::optional<Metres> focus;                         ///< absent: as far as the array is long
};

/// The array on which beams begin.
struct BeamArray {
  std::size_t columns = 1;  ///< elements of a row
  std::size_t rows = 1;
  Metres pitch;
  Metres radius;                        ///< of its arc; 0: flat
  std::optional<std::size_t> aperture;  ///< neighbours that fire; absent: all
};

/// The beams one by one, `count` of them along the array where they are stated by ranges.
[[nodiscard]] std::vector<ScanBeam> listed(const ScanBeams& beams, const BeamArray& array, std::size_t count);

/// Throws InputError, naming `where` and the key, unless each beam begins where a whole aperture is, is steered by at most 89
/// degrees from z, and has its focus before the elements of `probe` or its virtual source behind them.
void validate(const ScanBeams& beams, const BeamArray& array, const Probe& probe, std::size_t count, std::string_view where);

/// Events of valid beams; delays are made with `velocity`.
[[nodiscard]] std::vector<TransmitEvent> beam_events(const ScanBeams& beams, const BeamArray& array, const Probe& probe,
                                                     std::size_t count, MetresPerSecond velocity);

}  // namespace echoform
