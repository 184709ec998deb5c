// What M2kConfig.xml of a .m2k folder says: probe, material, and who fires and records in each shot. Names are the file's own,
// French.
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace echoform::formats {

/// A Tir: who fires and who records. Elements count from 0.
struct M2kFiring {
  std::size_t index = 0;  ///< of its description in acq_desc.xml
  std::vector<std::size_t> emitters;
  std::vector<double> delays;          ///< after which each emitter fires, seconds
  std::vector<std::size_t> receivers;  ///< in the order of their A-scans
};

/// A Rafale: what is fired at each position.
struct M2kSalvo {
  double sample_rate = 0.0;            ///< Hz
  double start = 0.0;                  ///< of A-scans, seconds
  double longitudinal_velocity = 0.0;  ///< m/s; 0 unknown
  double shear_velocity = 0.0;         ///< likewise
  std::vector<M2kFiring> firings;
};

/// A linear array. Metres.
struct M2kArray {
  std::size_t elements = 0;  ///< 0: not stated
  double width = 0.0;
  double gap = 0.0;
  double water_path = 0.0;
};

struct M2kConfiguration {
  std::string version;  ///< of the program that wrote it, "8.2.0"; may be empty
  M2kArray array;
  std::vector<M2kSalvo> salvos;
};

struct M2kLimits {
  std::size_t elements = 4096;
  std::size_t firings = 65536;
  std::size_t entries = std::size_t{1} << 24;  ///< elements that fire or record, of all firings
  std::size_t salvos = 256;
};

/// M2kConfig.xml of the folder itself. Throws InputError, naming `file` and the line, for what is no XML, for values that are
/// missing, no numbers, or beyond their range, and for several emitters without a delay for each.
[[nodiscard]] M2kConfiguration read_m2k_configuration(std::istream& xml, const std::string& file, const M2kLimits& limits = {});
/// The probe that M2kConfig_files/M2kConfig.xml describes, which Panther instruments write; its elements are 0 where it describes
/// none. Throws as above, and for arrays that are not linear.
[[nodiscard]] M2kArray read_m2k_array(std::istream& xml, const std::string& file, const M2kLimits& limits = {});

}  // namespace echoform::formats
