// Grating lobes of an array in couplant or on a wedge: the angles at which they leave it, and the lobes that enter the part.
#pragma once

#include <optional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// The sine of the angle at which a leg's rays to `pixel` leave `elements`, averaged over these, in the plane of x and z.
/// `elements` is indexed by element of the probe, which is the source of the leg. The angle is from the array's normal,
/// positive towards its last element. By Fermat's principle an element that lies du farther along the array has a time that
/// differs by -sin / velocity du, whatever the rest of the path. Nothing where fewer than two of the elements have rays.
[[nodiscard]] std::optional<double> departure_sine(const Leg& leg, const Probe& probe, const std::vector<bool>& elements,
                                                   const Point& pixel, MetresPerSecond velocity);

/// The length of the path from the aperture's centre along the array's normal to the front surface; nothing where the normal
/// misses the surface.
[[nodiscard]] std::optional<Metres> couplant_path(const Probe& probe, const Surface& front);
/// The same in three dimensions, from the mean of the elements' centres along the first one's normal.
[[nodiscard]] std::optional<Metres> couplant_path(const Probe& probe, const SpatialSurface& front);

struct EnteringLobe {
  double couplant_degrees = 0.0;  ///< from the array's normal towards its last element
  char mode = 'L';                ///< in the part
  double part_degrees = 0.0;      ///< from z towards x
};

/// The grating lobes, of a beam that leaves at `steered` (as in departure_sine), that the front surface transmits. The
/// lobes are at sin(lobe) = steered + n lambda / pitch for n = +-1, +-2 ..., with the pitch of `elements` (array_shape()).
/// Snell's law applies where the ray from their centre meets the surface. None where the elements are unevenly spaced. `scene`
/// has a couplant and a surface. Modes without velocity are left out, and orders beyond 32.
[[nodiscard]] std::vector<EnteringLobe> entering_lobes(const Probe& probe, const std::vector<bool>& elements, const Scene& scene,
                                                       const Material& material, double steered, Hertz frequency);

}  // namespace echoform
