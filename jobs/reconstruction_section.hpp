// [reconstruction]: what `echoform reconstruct` solves, and how.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace echoform {

enum class ReconstructionModel : std::uint8_t { interpolated, spherical };
enum class ReconstructionSolver : std::uint8_t { conjugate_gradients, lsqr, fista, total_variation };
enum class ReconstructionPenalty : std::uint8_t { smoothness, damping };

struct ReconstructionSection {
  static constexpr std::size_t most_wavelengths = 64;

  ReconstructionModel model = ReconstructionModel::interpolated;
  ReconstructionSolver solver = ReconstructionSolver::conjugate_gradients;
  double penalty = 0.0;
  std::optional<ReconstructionPenalty> penalty_kind;  ///< absent: smoothness; total variation has none
  std::optional<bool> non_negative;                   ///< absent: true for FISTA only
  std::size_t iterations = 20;
  double tolerance = 0.0;                    ///< 0: none
  std::optional<double> noise;               ///< rms of a sample; absent: no rule
  std::optional<double> discrepancy_factor;  ///< times the noise; absent: 1
  std::optional<Hertz> highest_frequency;
  std::optional<bool> rectangular_elements;
  std::optional<std::array<std::size_t, 2>> element_parts;  ///< along width and length; absent: as the far field wants
  std::string impulse_response;                             ///< name of a file; empty: none
  std::optional<std::size_t> impulse_zero;                  ///< sample of the file; absent: that of the greatest magnitude
  std::optional<Metres> wavelength;                         ///< of the light, of frames with several: the one that is taken
  std::vector<Metres> wavelengths;                          ///< likewise: those that are taken; empty, and no other key: all
};

}  // namespace echoform
