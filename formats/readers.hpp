// The readers behind open_recording(), one function a format. Private to formats/.
#pragma once

#include <filesystem>
#include <memory>

#include "formats/recording.hpp"

namespace echoform::formats {

/// BRAIN `exp_data` in MATLAB version 5 and 7 files.
[[nodiscard]] std::unique_ptr<Recording> open_brain_mat(const std::filesystem::path& path, const RecordingOptions& options);
/// The frames of a capture of acquisition connections.
[[nodiscard]] std::unique_ptr<Recording> open_capture(const std::filesystem::path& path, const RecordingOptions& options);
/// MFMC 2.0 in HDF5.
[[nodiscard]] std::unique_ptr<Recording> open_mfmc(const std::filesystem::path& path, const RecordingOptions& options);
/// The same without the trial run in a process of its own, for files that HDF5 is known to survive.
[[nodiscard]] std::unique_ptr<Recording> open_mfmc_untried(const std::filesystem::path& path, const RecordingOptions& options);

}  // namespace echoform::formats
