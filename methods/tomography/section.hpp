// The part of a configuration that belongs to tomography alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/deconvolution/deconvolution.hpp"
#include "stages/mean_image/mean_image.hpp"

namespace echoform {

/// fbp            filtered back-projection for detectors on a sphere (Finch, Patch and Rakesh 2004)
/// ubp            universal back-projection (Xu and Wang 2005)
/// delay_and_sum  the mean over detectors of what they received
enum class TomographyAlgorithm : std::uint8_t { fbp, ubp, delay_and_sum };

/// The divisor of sums: the whole angle that an array all around would take up, or the angle that the detectors take up.
enum class ShareDivisor : std::uint8_t { ideal, actual };

/// The choice of the whole angle: 4 pi or 2 pi in space, 2 pi or pi in a plane.
enum class WholeAngle : std::uint8_t { automatic, all_around, one_side };

/// Whether A-scans are scaled to the mean energy of the pulses of light.
enum class PulseEnergyUse : std::uint8_t { ignored, divided };

/// Keys of [tomography].
struct TomographySection {
  static constexpr Interval angles{1.0, 90.0};  // degrees
  static constexpr std::size_t most_wavelengths = 64;

  TomographyAlgorithm algorithm = TomographyAlgorithm::ubp;
  ShareDivisor normalise = ShareDivisor::ideal;
  WholeAngle solid_angle = WholeAngle::automatic;
  std::string detector_sizes;  ///< name of a file; empty: sizes follow from the places of the detectors
  PulseEnergyUse pulse_energy = PulseEnergyUse::ignored;
  unsigned directivity_power = 0;
  std::optional<double> directivity_angle;  ///< degrees off the normal
  std::optional<MetresPerSecond> object_velocity;
  std::array<Metres, 3> object_centre{};
  std::vector<Metres> object_radii;  ///< one or three; empty: no object
  ShownPart shown = ShownPart::signed_values;
  std::vector<Metres> wavelengths;          ///< of light; empty: all in the data
  std::string impulse_response;             ///< name of a file; empty: none
  std::optional<std::size_t> impulse_zero;  ///< sample of the file
  std::optional<Hertz> impulse_centre;      ///< centre frequency of a Gaussian
  std::optional<Hertz> impulse_bandwidth;   ///< bandwidth of a Gaussian
  std::optional<double> impulse_noise;      ///< none: DeconvolutionOptions().noise
  std::optional<Hertz> impulse_cutoff;      ///< none: half the sample rate

  [[nodiscard]] bool deconvolves() const { return !impulse_response.empty() || impulse_bandwidth.has_value(); }
};

[[nodiscard]] inline const TomographySection& tomography(const ImagingSettings& settings) {
  return section<TomographySection>(settings);
}
[[nodiscard]] inline TomographySection& tomography(ImagingSettings& settings) {
  return section<TomographySection>(settings);
}

}  // namespace echoform

namespace echoform::words {

inline constexpr auto tomography_algorithm = make_words(
    Word<TomographyAlgorithm>{TomographyAlgorithm::fbp, "fbp"}, Word<TomographyAlgorithm>{TomographyAlgorithm::ubp, "ubp"},
    Word<TomographyAlgorithm>{TomographyAlgorithm::delay_and_sum, "delay_and_sum"});
inline constexpr auto share_divisor =
    make_words(Word<ShareDivisor>{ShareDivisor::ideal, "ideal"}, Word<ShareDivisor>{ShareDivisor::actual, "actual"});
inline constexpr auto pulse_energy_use = make_words(Word<PulseEnergyUse>{PulseEnergyUse::ignored, "ignored"},
                                                    Word<PulseEnergyUse>{PulseEnergyUse::divided, "divided"});
inline constexpr auto whole_angle =
    make_words(Word<WholeAngle>{WholeAngle::automatic, "auto"}, Word<WholeAngle>{WholeAngle::all_around, "full"},
               Word<WholeAngle>{WholeAngle::one_side, "half"});

}  // namespace echoform::words
