// Where the A-scans of a .m2k folder lie: acq_desc.xml states which properties of each shot are described, and acq_desc.bin
// describes them, position after position. Of a shot's descriptions those in DataSave count: what ADSave describes lies in a
// file of its own (acq_ad.bin).
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace echoform::formats {

/// What is stored of a shot, at each position alike. Bytes.
struct M2kStored {
  std::vector<std::uint32_t> channels;  ///< A-scans of single receivers, by their numbers
  std::uint32_t sum = 0;                ///< that of their sum, which comes first
};

struct M2kIndex {
  std::vector<M2kStored> shots;
  std::size_t positions = 0;
  std::vector<std::uint64_t> places;  ///< in acq_data.bin, [position, shot]
};

struct M2kIndexLimits {
  std::size_t shots = 65536;
  std::size_t channels = 4096;
  std::size_t descriptions = std::size_t{1} << 22;  ///< in acq_desc.xml
  std::size_t positions = std::size_t{1} << 24;
  std::size_t places = std::size_t{1} << 26;
};

/// Throws InputError, naming the file, for descriptions of kinds that are not known, numbers beyond the limits, and a binary file
/// that ends within a position, or whose positions differ in what they store.
[[nodiscard]] M2kIndex read_m2k_index(std::istream& xml, const std::string& xml_file, std::istream& binary,
                                      const std::string& binary_file, const M2kIndexLimits& limits = {});

}  // namespace echoform::formats
