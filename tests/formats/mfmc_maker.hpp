// Writes MFMC files in the styles of several writers, well-formed or not.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace echoform::test {

using Triple = std::array<double, 3>;

struct MfmcMaker {
  std::size_t elements = 4;
  std::size_t frames = 1;
  std::size_t samples = 6;
  std::vector<std::pair<std::size_t, std::size_t>> pairs{};  ///< from 0; empty: full matrix

  // Styles.
  bool grouped = false;  ///< /SEQUENCES/S1, /PROBES/P1, /LAWS/L1 rather than SEQUENCE<1> with its laws inside
  bool fixed_strings = false;
  bool root_type = true;
  bool one_hot = false;         ///< laws list all elements and choose one by WEIGHTING
  bool scalar_element = false;  ///< ELEMENT has a scalar dataspace
  bool scalar_attributes = false;
  bool extras = false;  ///< items that the format does not know
  std::size_t sequences = 1;
  hid_t data_type = H5T_IEEE_F32LE;
  hid_t index_type = H5T_STD_I32LE;
  bool deflate = false;

  // Probe and placements.
  Triple major{0.0, 5e-3, 0.0};
  Triple minor{-2e-4, 0.0, 0.0};  ///< major x minor is +z
  std::vector<Triple> positions{{0, 0, 0}};
  std::vector<Triple> x_directions{{1, 0, 0}};
  std::vector<Triple> y_directions{{0, 1, 0}};
  std::vector<std::size_t> frame_placement{};  ///< from 1; empty: all 1
  std::vector<int> dead{};
  std::vector<double> wedge_point{};     ///< of WEDGE_SURFACE_POINT; empty: none
  std::vector<double> wedge_normal{};    ///< of WEDGE_SURFACE_NORMAL
  std::vector<double> wedge_velocity{};  ///< shear first

  // Defects.
  std::string without{};           ///< leaves out the item of this name
  std::size_t element_offset = 0;  ///< added to every ELEMENT
  double delay = 0.0;              ///< of every law
  bool plane_waves = false;        ///< transmit laws fire all elements
  bool sums_of_receivers = false;  ///< receive laws have all elements
  bool flat_data = false;          ///< MFMC_DATA of rank 2
  bool laws_are_probes = false;    ///< TRANSMIT_LAW points at the probe
  bool null_laws = false;          ///< references to nothing
  bool text_time_step = false;

  std::function<double(std::size_t frame, std::size_t tx, std::size_t rx, std::size_t n)> sample = mfmc_sample;

  void write(const std::filesystem::path& path) const;

  /// Whole numbers that fit every type.
  static double mfmc_sample(std::size_t frame, std::size_t tx, std::size_t rx, std::size_t n) {
    return static_cast<double>((31 * frame + 17 * tx + 5 * rx + n) % 200) - 100.0;
  }
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> all_pairs() const;
};

}  // namespace echoform::test
