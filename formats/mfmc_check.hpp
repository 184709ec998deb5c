// Checks an MFMC 2.0 file by the rules of its format, all of them, rather than stopping at the first that Echoform minds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/recording.hpp"

namespace echoform {

/// Extension of the files that are checked.
inline constexpr std::string_view mfmc_extension = ".mfmc";

struct MfmcFindings {
  std::vector<std::string> violations;  ///< "WHERE: found FOUND; expected EXPECTED", one line each
  std::size_t not_shown = 0;            ///< violations beyond the first 50
  std::size_t sequences = 0;
  // Properties of the first sequence; empty where not stated.
  std::string version;
  std::string date_and_time;
  std::string sample_type;               ///< "int16", "big-endian float32"
  bool unfinished = false;               ///< not closed by its writer: still growing, or interrupted
  std::unique_ptr<Recording> recording;  ///< the first sequence, where it can be imaged
  std::string not_imaged;                ///< why not; a file that keeps its rules may hold what is not imaged
};

/// Mandatory names, classes, ranks, fixed sizes, sizes that belong together, what references point at, indices and ranges of
/// every sequence and of every probe and law that it refers to. Samples are not read: that there is a way to read them, as none
/// is through an unknown filter, is checked. Names that the format does not know are ignored. The file is opened as a recording
/// too, so that one trial in a process of its own serves both. Throws InputError if it is no HDF5 file or too damaged to be gone
/// through.
[[nodiscard]] MfmcFindings check_mfmc(const std::filesystem::path& path, const RecordingOptions& options = {});

}  // namespace echoform
