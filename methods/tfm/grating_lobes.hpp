// Grating lobes of an array in couplant or on a wedge: where they leave it, and what of them goes into the part.
#pragma once

#include <optional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// Sine of the angle at which a leg's rays to `pixel` leave `elements` (by element of the probe, which is source of the leg), in
/// the plane of x and z and on average over them; from the array's normal, positive towards its last element. By Fermat's
/// principle an element that lies du farther along the array has a time that differs by -sin / velocity du, whatever comes later.
/// Nothing where fewer than two of them have rays.
[[nodiscard]] std::optional<double> departure_sine(const Leg& leg, const Probe& probe, const std::vector<bool>& elements,
                                                   const Point& pixel, MetresPerSecond velocity);

/// Way from the aperture's centre along the array's normal to the front surface; nothing where it misses it.
[[nodiscard]] std::optional<Metres> couplant_path(const Probe& probe, const Surface& front);
/// The same in three dimensions, from the mean of the elements' centres along the first one's normal.
[[nodiscard]] std::optional<Metres> couplant_path(const Probe& probe, const SpatialSurface& front);

struct EnteringLobe {
  double couplant_degrees = 0.0;  ///< from the array's normal towards its last element
  char mode = 'L';                ///< in the part
  double part_degrees = 0.0;      ///< from z towards x
};

/// The grating lobes of a beam that leaves at `steered` (as departure_sine), sin(lobe) = steered + n lambda / pitch for n = +-1,
/// +-2 ... and the pitch at which `elements` stand (array_shape()), that the front surface lets in, by Snell's law where the ray
/// from their centre meets it. None where they do not stand evenly. `scene` has a couplant and a surface; modes without velocity
/// are left out, and orders beyond 32.
[[nodiscard]] std::vector<EnteringLobe> entering_lobes(const Probe& probe, const std::vector<bool>& elements, const Scene& scene,
                                                       const Material& material, double steered, Hertz frequency);

}  // namespace echoform
