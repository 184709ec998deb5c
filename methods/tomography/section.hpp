// What of a configuration is tomography's alone.
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

/// What sums are divided by: the whole angle that an array all around would take up, or what the detectors take up.
enum class ShareDivisor : std::uint8_t { ideal, actual };

/// Of the whole angle: 4 pi or 2 pi in space, 2 pi or pi in a plane.
enum class WholeAngle : std::uint8_t { automatic, all_around, one_side };

/// Whether A-scans of stronger pulses of light count for what they would have been at the mean energy.
enum class PulseEnergyUse : std::uint8_t { ignored, divided };

/// Keys of [tomography].
struct TomographySection {
  static constexpr Interval angles{1.0, 90.0};  // degrees
  static constexpr std::size_t most_wavelengths = 64;

  TomographyAlgorithm algorithm = TomographyAlgorithm::ubp;
  ShareDivisor normalise = ShareDivisor::ideal;
  WholeAngle solid_angle = WholeAngle::automatic;
  std::string detector_sizes;  ///< name of a file; empty: by how they lie
  PulseEnergyUse pulse_energy = PulseEnergyUse::ignored;
  unsigned directivity_power = 0;
  std::optional<double> directivity_angle;  ///< degrees off the normal
  std::optional<MetresPerSecond> object_velocity;
  std::array<Metres, 3> object_centre{};
  std::vector<Metres> object_radii;  ///< one or three; empty: no object
  ShownPart shown = ShownPart::signed_values;
  std::vector<Metres> wavelengths;          ///< of light; empty: all that there are
  std::string impulse_response;             ///< name of a file; empty: none
  std::optional<std::size_t> impulse_zero;  ///< sample of the file
  std::optional<Hertz> impulse_centre;      ///< of a Gaussian
  std::optional<Hertz> impulse_bandwidth;   ///< likewise
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
