// The acoustics of the simulated source: which echoes each pair of elements receives, when, and how strong.
//
//   s_tx,rx(t) = sum over reflectors of A * D(theta_tx) D(theta_rx) * G * g(t - L / c)
//
// L is the length of the path from transmitter to reflector to receiver (straight rays of longitudinal waves; no mode
// conversion, no multiple reflections, no attenuation), A the amplitude that the phantom gives the reflector.
//   Directivity  D = sinc(w sin(theta) / lambda) cos(theta), sinc(x) = sin(pi x) / (pi x), theta from the element's normal,
//                w its width, lambda = c / centre frequency: a narrow rectangle (Selfridge, Kino and Khuri-Yakub 1980).
//                Beside the plane of x and z D = sinc(w sin(a) / lambda) sinc(l sin(b) / lambda) cos(theta), sin(a) and sin(b)
//                the direction's components along the element's width and its length l.
//   Spreading    from each leg r of the path for scatterers and holes: sqrt(r0 / r) for cylindrical waves (2-D), r0 / r for
//                spherical ones; from the whole path L of a backwall's image source: sqrt(r0 / L) or r0 / L.
//                r0 = 10 mm, and no r counts as shorter than a quarter of a wavelength.
// Transmitter and receiver may be exchanged in all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/phantom.hpp"

namespace echoform {

enum class Spreading : std::uint8_t {
  cylindrical,  ///< two dimensions: amplitude as 1 / sqrt(r)
  spherical,    ///< three dimensions: amplitude as 1 / r
  none,
};

inline constexpr Metres spreading_reference{10e-3};

struct EchoModelOptions {
  MetresPerSecond velocity{6320.0};
  Spreading spreading = Spreading::cylindrical;
  bool directivity = true;
};

struct Echo {
  double time = 0.0;  ///< seconds from emission to the echo's envelope peak
  double amplitude = 0.0;
};

/// D of the formula above for the wave that leaves `element` towards `place`; 0 behind the element. A point (width 0) has cos.
[[nodiscard]] double element_directivity(const Element& element, const Point& place, Metres wavelength);

/// G of one path length; 1 for Spreading::none.
[[nodiscard]] double spreading_factor(Spreading spreading, Metres length, Metres wavelength);

/// The surface point of a hole that answers the pair: its normal halves the angle between the directions to both elements.
/// By Fermat's principle the path over it is the shortest one over the hole's near side.
[[nodiscard]] Point specular_point(const Point& hole_centre, Metres radius, const Point& transmit, const Point& receive);

/// The phantom at one phase of its cycle, as the probe sees it.
class EchoModel {
 public:
  /// Expects a valid phantom and a probe with a centre frequency above 0.
  EchoModel(const Probe& probe, const EchoModelOptions& options, const Phantom& phantom, double phase);

  /// Replaces `echoes` by those of the pair, in no order of time. Amplitudes of 0 are left out.
  void echoes(std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const;

 private:
  struct Leg {
    double time = 0.0;
    double factor = 0.0;  ///< directivity and spreading
  };
  struct Hole {
    Point centre;
    Metres radius;
    double reflectivity;
  };

  [[nodiscard]] Leg leg(const Element& element, const Point& place) const;

  std::vector<Element> elements_;
  EchoModelOptions options_;
  Metres wavelength_;
  std::vector<double> reflectivities_;  ///< of the scatterers
  std::vector<Leg> legs_;               ///< [scatterer, element]
  std::vector<Hole> holes_;
  std::vector<Backwall> backwalls_;
};

}  // namespace echoform
