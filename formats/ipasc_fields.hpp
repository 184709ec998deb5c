// What IPASC files hold, by name: https://github.com/IPASC/PACFISH (core/Metadata). Every item is a dataset, none an attribute;
// the text "None" stands for nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// [detector, sample, wavelength, measurement]; axes of length 1 at the end may be left out.
inline constexpr const char* ipasc_samples = "binary_time_series_data";
inline constexpr const char* ipasc_acquisition = "meta_data";
inline constexpr const char* ipasc_device = "meta_data_device";
/// Beyond the format, in meta_data: places, from 0, of detectors that do not work.
inline constexpr const char* ipasc_dead = "echoform_dead_detectors";

// Items of meta_data, with the names that they had in the consortium's first tools.
struct IpascName {
  const char* name;
  const char* older;
};
inline constexpr IpascName ipasc_wavelengths{"acquisition_wavelengths", "acquisition_optical_wavelengths"};
inline constexpr IpascName ipasc_energies{"pulse_energy", "pulse_laser_energy"};
inline constexpr IpascName ipasc_speed{"speed_of_sound", "assumed_global_speed_of_sound"};
inline constexpr IpascName ipasc_times{"measurement_timestamps", "frame_acquisition_timestamps"};

/// A group of the file and where it is, for messages: "FILE: /meta_data".
class IpascGroup {
 public:
  IpascGroup(Hdf5Handle group, std::string where) : group_(std::move(group)), where_(std::move(where)) {}
  /// Throws InputError where there is none, or one of another file. `where` is that of the parent, "FILE: " of the root.
  static IpascGroup require(const Hdf5Handle& parent, const std::string& name, const std::string& where);

  /// All values of an item, in C order; nothing where it is absent, empty or "None". Throws InputError naming it for more than
  /// `most`, and for what are no finite numbers.
  [[nodiscard]] std::optional<std::vector<double>> numbers(const char* name, std::size_t most) const;
  /// The one value of an item. Throws InputError for several.
  [[nodiscard]] std::optional<double> number(const char* name) const;
  /// The text of an item; none if the item is absent, not a text, or "None".
  [[nodiscard]] std::optional<std::string> text(const char* name) const;
  /// Whether something other than "None" stands there.
  [[nodiscard]] bool states(const char* name) const;
  /// The name under which the item stands there, the newer one where neither does.
  [[nodiscard]] const char* stated_name(const IpascName& item) const {
    return states(item.name) || !states(item.older) ? item.name : item.older;
  }

  [[nodiscard]] const Hdf5Handle& handle() const { return group_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::string where(const char* name) const { return where_ + "/" + name; }

 private:
  Hdf5Handle group_;
  std::string where_;
};

}  // namespace echoform::formats
